// Package event publishes events: from a transaction into the outbox, and from there, by package forward, to the broker of their topic,
// after whose acknowledgement they are deleted.
//
//   - No event of a committed transaction is lost, none of a rolled-back one is published.
//   - The broker gets each at least once. Every copy has the same id, by which a consumer drops repeats: see [Outbox.Once].
//   - Of two events with one key and topic, whose transactions followed one another, the first is published first. Where the server's clock
//     is put back, or a server whose clock is behind takes over, or any within a second, waiting events may come later. Of several
//     nodes that take writes, it holds within a second for each alone.
package event
