// Package kafka publishes events to Kafka.
//
// The URL is kafka://host:9092,host2:9092, or kafka+tls:// where connections are encrypted; brokers beside these are found through
// them. A user and a password in it authenticate by SASL. These parameters may stand in the query:
//
//   - sasl: plain, scram-sha-256 or scram-sha-512; default plain, which shows the password to the network unless that is encrypted
//   - linger: how long a record waits for others to go along with; default 0s, at most 1s. Those that
//     come while a request is under way go along in the next one anyhow: BenchmarkPublish takes more of them without a linger
//   - max_batch: how many bytes go in a batch, and with them in a message; default 1000012, as a topic allows unless it says otherwise
//
// # What is sent
//
// A record in the topic of the event, with its key and its body. An empty key is none. The headers go along in their order, and
// content-type before them where it is known. Kafka's binding of CloudEvents writes ce_ where others write ce-, and the
// values as they are; so does this package. The record's own time is when it was published, as what a topic keeps depends on it. The id is in the header
// Prescient-Id, or where the format of the route has it. Records are compressed and sent by an idempotent producer. An event is
// acknowledged once all replicas in sync have it.
//
// # What an acknowledgement is worth
//
// That the replicas in sync have the event in memory; Kafka leaves it to each machine when it goes to disk. It is safe while one of these machines
// lives. Of a topic with one replica, or where only one was in sync, a crash of that machine can lose what was acknowledged. These
// settings make it two machines at least:
//
//	replication.factor=3 and min.insync.replicas=2 of the topic
//	unclean.leader.election.enable=false, as it is by default
//
// With flush.messages=1 of the topic each machine syncs first, which is slow. The tests run on one broker, which does so.
//
// # What becomes of the others
//
// Refused for good are a message that is too large, a topic that is not there after it was looked up several times (none is
// created) or that has no valid name, and a record that Kafka calls invalid or against a policy.
//
// All else is tried again, also where the user may not write to the topic: a right that is missing is no fault of the event. Publish returns when its context ends, but a record that is on its way cannot be called back:
// it may still arrive, as may the copy that is published later.
package kafka
