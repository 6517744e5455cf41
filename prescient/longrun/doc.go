// Package longrun runs checks that take longer than a slot should: an export of an hour, a migration of a night.
//
// A long run holds no bucket. The slot run that meets its check makes it a run, long_run, that is an agent's for the term of a
// lease, moves the check to the first slot after that, and goes on. The agent calls the function, and renews the lease when a third
// of it is over; before the slot of the check comes it moves that to the first after the lease again, so that the short checks of a slot
// do not come behind a thousand long ones. A slot run that meets the check all the same moves it on while the lease lives, and has another
// agent take it over when it has lapsed, with the last checkpoint. What a function answers counts as for any check: the end or the move of the check is
// one commit with the end of the run, and is proved by the run's token. An agent that finds its lease over stops the call and
// commits nothing.
//
// What a schedule says of its long runs comes by [Rules]: how they keep apart, how long one may take, and its pool.
//
// # Pools and claims
//
// A run of a pool is only called by agents that serve it ([Options] Pools). The slot run that meets its check offers it: a row of
// long_run that has the pool and no agent, and whose term is over. It moves the check on by the term of a lease, and never calls it
// itself. Where nobody serves the pool the run waits in its place, first come, first served; it expires as any check does. [Runner.Serve]
// looks for what may be claimed of the pools of its agent, by an index: what is offered, what was handed on, and what has lapsed. The
// last two it claims of no pool, too, so that another agent goes on within a second, and not in the next slot.
//
// What somebody else has locked of a run, of its schedule or of its check, is contested: a slot run tries it again as it does with locked
// rows, and an agent gives it back for a second. Others are met, claimed and renewed meanwhile.
//
// A claim is one UPDATE on the token as it was seen. Who has claimed a run starts it by the rules by which a slot run would, in a transaction
// that locks the check first and proves the token. One that dies between the two lets the run lapse. Load delays a claim, by up to half a
// second and a twentieth of a slot, so that agents with less to do go first. The delay counts from when the run could be claimed, not from
// when the agent saw it: what has waited for longer than that is claimed at once, by whoever has a place. With a wake-up ([Options] WakeUp) agents tell each other
// at once, and elect one that claims; without it nothing is different but half a second. What an agent does about a run is a
// table in package machine.
//
// An agent looks each half second while any run of its pools waits or is under way, by one statement. While there is none it looks 1, 2, 4, 8,
// 16, 32 and 64 seconds after each slot boundary, and each minute after that: 20 statements in a slot of 15 minutes. One that has no function
// for long runs never looks.
//
// # What cannot be ended
//
// Where the server refuses to delete the check, as a foreign key of the app has it, the run counts as one that failed. With no more errors
// left, or where it was to end uncalled, its run is over, and the check is put off at growing distances: nobody calls it, and it ends as failed
// once nothing keeps it.
//
// # The app wins
//
// A check that the app cancels, replaces or reschedules while its run is under way stands as the app left it. The agent finds out
// when it renews the lease, after a third of the term at most: the context of the call ends with [ErrDropped], and its answer is thrown
// away. The check that there is now begins afresh when it is due, without the checkpoint, once the other has ended or its lease is over.
//
// Where it is the schedule that changes, the run ends as superseded, with its check. One that waits goes on under the new definition.
//
// The row of a run that is under way waits in a later slot, so that it is pending to an insert: OnPending keep, the default, changes
// nothing then, and the run that is under way settles the matter. Where that may have looked before the matter came up, replace it.
//
// The start counts in the lateness and the SLA of the slot run, from the slot in which the check was due, and its end in the books of the
// slot in which it started.
package longrun
