// Package checker decides whether a run of prescient kept its promises, from a journal that the run kept outside of the database (what
// apps asked for and got, each call, each fault, the time), and from what package evidence read at the end.
//
// It imports nothing of the code that it checks, but package timeline, for when a crontab is due. A machine that stood still explains as much as
// a fault that hit all workers. The rules, by their names in [Finding.Rule]:
//
//   - lost: a committed insert is neither pending nor ended, and nobody replaced it
//   - ended-twice: a row has two ends, or one and is pending
//   - phantom: a row of a rolled back insert is there, or ran
//   - early, late: a call came before its slot or time by the database's clock; the first came later than the scenario allows
//   - waits: a row is pending when all had time to drain
//   - twice: neither a fault nor somebody else's lock explains why a call was repeated (not of long runs)
//   - in-flight: a fault repeated more calls than a bucket has in flight
//   - fenced: a row's end is the answer of a worker that had lost the lease; a long run's is not of its last token
//   - effect, step-effect: what a TxFunc wrote is not there once
//   - cancelled: a row ran after a cancel in time, or came back; a long run went on for longer than a lease
//   - expired: a row was called after its expiry, ended so before it, or moved without it
//   - checks, outcome: check_count is not the number of committed returned times; a row did not end as its job_exec answers
//   - books, lease: the ledger does not agree with history; nothing was broken, and a stopped worker holds a bucket
//
// Of long runs, which keep apart as package apart says:
//
//   - at-once: a call began a step after another under a later token, and nothing had frozen it; two such steps; or two calls of a token
//   - checkpoint: a call went on from another than the last that was saved
//   - stuck: a run has not ended, and its check is gone without the app
//
// Of schedules, whose changes divide time into spans with one definition each:
//
//   - plan: a schedule is there, gone, enabled or of a version that nobody committed
//   - timer: an enabled one has not one timer, for the next occurrence; or a disabled one has one
//   - unfired, passed-over: an occurrence did not fire against its policy; the count of passing over is wrong
//   - unasked: no definition in force says an event or a run; or a call came after a delete, an update or a pause
//   - missed: a run ended so that was not late, not to be skipped, or called; or one to be skipped was called
//
// Of jobs and changes:
//
//   - step-lost, step-order: a run is done without the end of a step; a step began before the end of the one before
//   - step-twice: neither a failure nor a fault explains a second call
//   - change-phantom: a change was handled though it was rolled back
//
// The names of the others say all: event-twice, run-twice, guard, pool, order, payload, step-version, step-log, change-skipped, change-twice.
package checker
