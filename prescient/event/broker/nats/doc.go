// Package nats publishes events to NATS JetStream.
//
// The URL is nats://user:password@host:4222,host2:4222, or tls:// where connections are encrypted; a user without a password is a token.
// Its query may have subject, such as shop.{topic}; default {topic}. Nats-Msg-Id has the id: a stream drops copies within its duplicate window,
// two minutes by default.
//
// # What an acknowledgement is worth
//
// A stream acknowledges before it has synced its file. A killed server loses nothing; a machine that crashes loses what came since the last
// sync, seldom also with replicas (jepsen.io/analyses/nats-2.12.1). Under sync_interval: always a stream of persist_mode async still may.
//
// # What fails
//
// Refused for good are a body larger than max_payload or max_msg_size, and a subject that NATS does not allow, or no stream has. The
// connection is made again for ever; meanwhile Publish fails at once.
//
// OpenWakeUp has agents of long runs tell each other what they offer, claim and hand on, on the plain subject
// prescient.agents.<database>.<prefix>agents, which the account may publish to and subscribe. Without it a second is lost.
package nats
