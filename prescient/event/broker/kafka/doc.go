// Package kafka publishes events to Kafka, compressed, by an idempotent producer.
//
// The URL is kafka://user:password@host:9092,host2:9092, the user by SASL, or kafka+tls:// where connections are encrypted. Its query may have
//
//   - sasl: plain, scram-sha-256 or scram-sha-512; default plain, which shows the password to an unencrypted network
//   - linger: how long a record waits for others; default 0s, at most 1s
//   - max_batch: bytes of a batch, and so of a message; default 1000012, as topics do
//
// Headers of CloudEvents begin with ce_.
//
// # What an acknowledgement is worth
//
// All replicas in sync have the event in memory: it is safe while one of these machines lives, unless the topic has
// unclean.leader.election.enable. With flush.messages=1 each syncs first, slowly.
//
// # What fails
//
// Refused for good are a message that is too large, a topic that is not there after several looks or has no valid name (none is created), and a
// record that is invalid or against a policy; not so a missing right. A record under way when Publish's context ends may still arrive.
package kafka
