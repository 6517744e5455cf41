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
package longrun
