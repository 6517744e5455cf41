// Package checker decides whether a run of prescient kept its promises, from a journal that the run kept outside of the database (what
// apps asked for and got, each call, each fault, the time), and from what package evidence read at the end.
//
// It imports nothing of the code that it checks, but package timeline. A machine that stood still for 0.75 s explains
// as much as a fault that hit all workers. The rules, by their names in [Finding.Rule]:
//
//   - lost: a committed insert is neither pending nor ended, and nobody replaced it; phantom: a row of a rolled back insert is there, or ran
//   - ended-twice, event-twice, run-twice: two ends, or one and pending; two events, two runs
//   - early, late, waits: a call came too early, or the first later than the scenario allows; a row is pending when all had time to drain
//   - twice, in-flight: neither a fault nor a lock explains a repeated call; a fault repeated more than a bucket has in flight
//   - fenced: a row's end is the answer of a worker that had lost the lease; a long run's is not of its last token
//   - effect, step-effect: what a TxFunc wrote is not there once
//   - cancelled, expired, checks, outcome: a row did not end as the app asked and its job_exec answered
//   - books, exec-books, rollup, lease: the ledger, exec_run, or sums do not agree with history; a stopped worker holds a bucket
//   - at-once, checkpoint, stuck: of long runs, two worked at once; one began at another checkpoint than the last; one has no check, and no end
//   - plan, timer, unfired, passed-over, unasked, missed: a schedule, its timer, or an occurrence is not as its definition at that time asks
//   - step-lost, step-order, step-twice, step-version, step-log, change-phantom, change-skipped, change-twice: of steps of jobs, and changes
//   - guard, pool, order, payload
//
// Package apart says how long runs keep apart.
package checker
