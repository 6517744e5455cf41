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
//     ran side by side nobody can tell which came first. Numbers go by the second of the server's clock, and within a second by a count of
//     the server: where that clock is put back, or another server takes over within a second or with a clock that is behind, events
//     that wait from before may come after later ones. Of several nodes that take writes, within a second it holds for each alone.
package event
