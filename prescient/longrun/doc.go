// Package longrun runs checks that take longer than a slot should: an export of an hour, a migration of a night.
//
// A long run holds no bucket. A slot run that meets its check makes a row of long_run, which is an agent's for the term of a lease, and moves the check to
// the first slot after that. The agent calls the function, and renews the lease when a third of it is over. Once the lease has lapsed another agent
// takes the run over, with the last checkpoint. The end of a run commits with the end or the move of its check, proved by the run's token.
// An agent whose lease is over stops the call and commits nothing.
//
// [Rules] say how the runs of a schedule keep apart, how long one may take, and its pool.
//
// # Pools and claims
//
// Only agents that serve a pool ([Options] Pools) call its runs. A slot run offers such a run, and never calls it. [Runner.Serve] claims what was offered,
// handed on or has lapsed in the pools of its agent; of no pool it claims the last two. Where nobody serves the pool, the run waits, or expires.
//
// A claim is one UPDATE on the token as it was seen; the run starts in a transaction that locks the check first and proves the token. Load delays a
// claim by up to half a second, or a twentieth of a slot where that is less. Agents with a wake-up ([Options] WakeUp) tell each other at once.
// Package machine has what an agent does as a table.
//
// An agent looks each half second while a run of its pools waits or is under way, else 1, 2, 4, 8, 16, 32 and 64 s after a slot boundary, and then each
// minute: 20 statements in a slot of 15 minutes.
//
// # The app wins
//
// A check that the app cancels, replaces or reschedules during its run stands as the app left it. At the next renewal the context of the call ends with
// [ErrDropped], and its answer is thrown away. The new check begins without the checkpoint. Where the schedule changes, a run under way ends as superseded.
//
// To an insert the check of a run under way is pending: OnPending keep leaves the matter to that run. Replace it where the run may have looked too early.
//
// # Trouble
//
// What somebody else has locked of a run, its schedule or its check is contested: a slot run tries it again, and an agent gives it back for a second.
//
// Where the server refuses to delete the check, the run counts as failed. With no errors left it is over, and the check is put off at growing
// distances, uncalled, until it can end as failed.
//
// The start counts in the lateness and the SLA of the slot in which the check was due; the end in the books of the slot in which it started.
package longrun
