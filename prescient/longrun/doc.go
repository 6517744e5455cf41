// Package longrun runs checks that take longer than a slot should.
//
// A long run holds no bucket. A slot run that meets its check makes a row of long_run, which is an agent's for the term of a lease, and moves the check to
// the first slot after that. The agent renews the lease when a third of it is over. The end of a run commits with the end or the move of its check, proved
// by the run's token. An agent whose lease is over stops the call and commits nothing.
//
// # Claims and pools
//
// Every start is one claim: one transaction locks the check, its schedule and the run, proves the token that was seen, and starts the run. A slot
// run claims, in its own transaction, what it has just met, as far as there are places. What has no place, or is of a pool, is offered: the next agent
// with a place claims it, as it claims what was handed on or has lapsed ([Runner.Serve]). A place is free once its function has returned, unless the runs of
// its schedule keep apart, or as many ends as places are yet to be committed. Where nobody serves a pool ([Options] Pools) its runs wait, or expire.
//
// Load delays a claim by up to half a second, or a twentieth of a slot where that is less. Agents with a wake-up ([Options] WakeUp) tell each other at
// once.
//
// An agent looks each half second while a run of its pools waits or is under way, else 1, 2, 4, … 64 s after a slot boundary, and then each minute.
//
// # The app wins
//
// A check that the app cancels, replaces or reschedules during its run stands as the app left it. At the next renewal the
// context of the call ends with [ErrDropped], and its answer is thrown away. The new check begins without the checkpoint.
//
// To an insert the check of a run under way is pending: replace it where the run may have looked too early.
//
// # Trouble
//
// What somebody else has locked of a run, its schedule or its check is contested: a slot run tries it again, an agent after a second.
// Where the server refuses to delete the check, the run counts as failed.
//
// The start counts in the lateness and the SLA of the slot in which the check was due; the end in the books of the slot in which it started.
package longrun
