// Package nats publishes events to NATS JetStream.
//
// The URL is nats://user:password@host:4222,host2:4222, or tls:// where connections are encrypted; a user without a password is a
// token. One parameter may stand in its query:
//
//   - subject: where events go, such as shop.{topic}; default {topic}, the topic by itself
//
// # What is sent
//
// The body, with the headers of the message, Content-Type where it is known, and Nats-Msg-Id, the id as broker.Printable has it: a
// stream keeps one of the copies that come within its duplicate window (two minutes unless the stream says otherwise). The key is
// in the header Prescient-Key, or where the format of the route has it. An event is acknowledged once a stream has stored it.
//
// # What an acknowledgement is worth
//
// A stream acknowledges what it has written to its file, and before it has synced that: by default the server syncs every two minutes. A server
// that is killed loses nothing. A machine that crashes, or loses its power, may lose what was acknowledged since then. Replicas make that
// seldom, not impossible: all that a quorum had can go with a common loss of power, and after the crash of one machine while others are
// paused or cut off, a majority may form that never had it. Jepsen saw both in NATS 2.12.1 (jepsen.io/analyses/nats-2.12.1), and NATS'
// own page of JetStream describes them. The forwarder has deleted these events by then. The server's configuration has each event on disk
// before the acknowledgement:
//
//	jetstream {
//	  sync_interval: always
//	}
//
// The stream has to be stored in files, not in memory, without persist_mode async, and with three replicas where a machine may be lost for good. This
// package sees none of that, and refuses no stream for it. It does not help where files are damaged, nor, in 2.12.1, where servers are removed
// from a cluster while others are cut off or killed. The tests and scripts/chaos run with sync_interval: always.
//
// # What becomes of the others
//
// Refused for good are a body that is larger than the server's max_payload or the stream's max_msg_size, a subject that NATS
// does not allow, and one that no stream has. Nobody answers on such a subject, nor while a stream has no leader, so JetStream
// is asked which stream has it: only where it answers that there is none is the event refused.
//
// All else is tried again: no connection, no acknowledgement in time, a stream that is full. The connection is made again for
// ever, also where the first one fails; meanwhile Publish fails at once, and keeps nothing in memory.
//
// # Agents
//
// OpenWakeUp has agents of long runs tell each other over the same servers what they offer, claim and hand on: on a subject of plain NATS,
// prescient.agents.<database>.<prefix>agents, which needs no stream. The account needs the right to publish and to subscribe there. Without
// it nothing is lost but a second.
package nats
