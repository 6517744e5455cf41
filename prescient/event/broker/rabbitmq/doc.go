// Package rabbitmq publishes events to RabbitMQ (AMQP 0-9-1).
//
// The URL is amqp://user:password@host:5672/vhost, or amqps:// where the connection is encrypted. Its query may have
//
//   - exchange: where events go, with the topic as their routing key; default: the default exchange, which hands them to the queue
//     that has the name of the topic
//
// and what https://www.rabbitmq.com/docs/uri-query-parameters lists, such as cacertfile or heartbeat.
//
// # What is sent
//
// The body, persistent, with message_id the id as broker.Printable has it, timestamp when the event was generated, and content_type
// where it is known. Headers become headers of the message; those that begin with ce- have cloudEvents_ instead, as AMQP's binding
// of CloudEvents writes them. The key is in the header Prescient-Key, or where the format of the route has it. An event is
// acknowledged once RabbitMQ has confirmed it: all queues that it was routed to have it, durable ones on disk.
//
// # What an acknowledgement is worth
//
// That is the queue's to say. A quorum queue confirms what most of its nodes have on disk: it survives a machine that crashes or is lost. A durable classic
// queue is on the disk of one node, and survives a crash of it. A queue that is not durable is gone with a restart, and a stream is confirmed before
// it is synced. A queue with a length limit drops events that it has confirmed, unless its overflow is reject-publish. Declare quorum queues
// (x-queue-type: quorum) on three nodes. The tests run on durable queues of the server that they are given.
//
// # What becomes of the others
//
// Refused for good are an event that no queue is bound for (the flag mandatory has it returned), one for an exchange that is not
// there, one that is larger than the server takes, and one whose topic, id, content type or name of a header has more than 255
// bytes.
//
// All else is tried again: no connection, a nack, no confirmation in time, a server that is short of memory or disk. A
// connection that is lost is made again by the next event, half a second after the last attempt at the earliest.
package rabbitmq
