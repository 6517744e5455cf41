// Package agent lets processes that work know of each other.
//
// An agent is a process that stays up: its worker, its long runs, and whatever else it does under one name. It has a row in the table
// agent, which it renews by one statement every half a minute: who it is, which slots and pools it serves, and how much it has to do.
// [List] tells them apart by the database's clock:
//
//   - live: it was heard of within [DeadAfter], the time of two heartbeats;
//   - stopping: so, but it starts nothing new, and ends or hands on what it has;
//   - dead: it was not heard of for longer. It crashed, is frozen, or is cut off from the database.
//
// One that ends takes its row away. What a dead one leaves goes from the list once one of its name is back, and is forgotten after
// [ForgottenAfter], by those that live.
//
// A timer ([Run], [Sweep]) comes and goes. Its row stays in between, and says by when it is to come again: for its next slot, or after twice
// the time that there was between its sweeps. It is dead where it did not, and [DeadAfter] has passed since. What serves the same slots under
// one name is one timer, whatever process it is and on whichever host.
//
// Nothing is decided by these rows: who may run what is a matter of leases. They are for people, for the doctor, and for metrics.
package agent
