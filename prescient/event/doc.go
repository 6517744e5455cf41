// Package event publishes events: from a transaction into the outbox, and from there, by a forwarder, to a broker.
//
// An [Event] that [Outbox.Publish] takes commits with the caller's transaction, or not at all. Schedules that name a topic
// publish through the same door. A forwarder, package forward, hands what was committed to the broker of its topic and deletes it
// once that has acknowledged it.
//
// # What holds
//
//   - No event of a committed transaction is lost, none of a rolled-back one is published.
//   - The broker gets each at least once. Every copy has the same id, so that a consumer can drop repeats: see [Once].
//   - Of two events with one key and topic, whose transactions followed one another, the first is published first. Of transactions that
//     ran side by side nobody can tell which came first. On a server with several nodes that take writes, whose numbers
//     are not in the order of time, that holds for transactions on one node.
package event
