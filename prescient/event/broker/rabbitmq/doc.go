// Package rabbitmq publishes events to RabbitMQ (AMQP 0-9-1).
//
// The URL is amqp://user:password@host:5672/vhost, or amqps:// where the connection is encrypted. Its query may have exchange (default: the queue of
// the topic's name; the topic is the routing key), and what https://www.rabbitmq.com/docs/uri-query-parameters lists. A message is persistent; message_id is
// the id. Headers of CloudEvents begin with cloudEvents_.
//
// All queues that have the event have confirmed it before it is acknowledged. A quorum queue survives the loss of a machine, a durable classic one its
// crash; a stream, and a queue that is not durable, may lose it. A length limit drops confirmed events, unless overflow is reject-publish.
//
// Refused for good are an event that no queue is bound for, or whose exchange is not there, one that is too large, and one whose topic, id,
// content type or header name has more than 255 bytes.
package rabbitmq
