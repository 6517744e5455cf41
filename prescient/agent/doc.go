// Package agent lets processes that work know of each other. Leases alone decide who may run what.
//
// Every half minute an agent renews its row in the table agent: which slots and pools it serves, and how much it has to do. [List] tells them
// apart by the database's clock:
//
//   - live: heard of within [DeadAfter], two heartbeats;
//   - draining: so, but it takes nothing new, since [Controls.Drain] said so, until [Controls.Undrain];
//   - stopping: so, but it starts nothing new, and ends or hands on what it has;
//   - dead: not heard of for longer, until one of its name is back, or [ForgottenAfter].
//
// One that ends takes its row away. A timer ([Run], [Sweep]) says by when it comes again, and is dead [DeadAfter] later.
package agent
