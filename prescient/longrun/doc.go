// Package longrun runs checks that take longer than a slot should: an export of an hour, a migration of a night.
//
// A long run holds no bucket. The slot run that meets its check makes it a run, schedule_run, that is an agent's for the term of a
// lease, moves the check to the first slot after that, and goes on. The agent calls the function, and renews the lease when a third
// of it is over. A slot run that meets the check again moves it on while the lease lives, and has another agent take it over
// when it has lapsed, with the last checkpoint. What a function answers counts as for any check: the end or the move of the check is
// one commit with the end of the run, and is proved by the run's token. An agent that finds its lease over stops the call and
// commits nothing.
//
// What a schedule says of its long runs comes by [Rules]: how they keep apart, and how long one may take.
// # The app wins
//
// A check that the app cancels, replaces or reschedules while its run is under way stands as the app left it. The agent finds out
// when it renews the lease, after a third of the term at most: the context of the call ends with [ErrDropped], and its answer is thrown
// away. The check that there is now begins afresh when it is due, without the checkpoint, once the other has ended or its lease is over.
//
// The row of a run that is under way waits in a later slot, so that it is pending to an insert: OnPending keep, the default, changes
// nothing then, and the run that is under way settles the matter. Where that may have looked before the matter came up, replace it.
//
// The start counts in the lateness and the SLA of the slot run, from the slot in which the check was due, and its end in the books of the
// slot in which it started.
package longrun
