// Package checker decides whether a run of prescient kept its promises, from two things: a journal that the run kept
// outside of the database (what the app asked for and what came back, every call of a job_exec before and after it did
// its work, every fault, the database's clock by a clock of its own), and what the tables hold at the end, which package evidence reads.
//
// It imports nothing of the code that it checks: slots, keys and buckets are computed here again, and all that it takes
// on trust are the names of tables and columns. But when a crontab is due it asks package timeline, which is checked
// against a clock that is watched. [Judge] is pure, so that a test can hand it any history.
//
// Where the journal says that the machine stood still (other work had the cores, or somebody had stopped it), nobody got to renew a
// lease. That explains as much as a fault that hit all workers would, and what has to be in time has as much longer.
//
// The rules, each a name in [Finding.Rule]:
//
//   - lost: a committed insert is neither pending nor ended, although nobody replaced it
//   - ended-twice: a row has more than one end, or is pending and has ended
//   - phantom: a row is there, ended or ran whose insert was rolled back
//   - early: a call came before its slot, or before the time that was asked for, by the database's clock
//   - late: the first call came later than the scenario allows
//   - waits: a row whose slot is over is still pending when everything had time to be drained
//   - twice: a call was repeated, and neither a fault nor a lock of somebody else's explains it: the one held up whoever called
//     before, or whoever called again and had not learned yet that the lease was another's
//   - in-flight: a fault made more calls be repeated than a bucket has in flight
//   - fenced: a row's end is the answer of a worker that had lost the lease
//   - effect: what a TxFunc wrote is not there exactly once for each outcome that was committed
//   - cancelled: a row ran after a cancel that had succeeded in time, or came back
//   - checks: check_count is not the number of returned times that were committed
//   - guard: a guard was exceeded
//   - expired: a row was called after it had expired, or ended as expired before it had, or its expiry did not move with it
//   - outcome: a row ended in another way than its job_exec answers
//   - books: the ledger of the slots does not agree with history
//   - lease: a bucket is still held when all workers have stopped, and nothing was broken
//
// Of a long run the journal has each step and each checkpoint that Save said was kept. "twice" does not hold for it: its calls are those of
// agents that took it over, or that it was handed on to, and each has a token of its own. In place of that:
//
//   - at-once: a call began a step after another had begun under a later token, although nothing had frozen it; or two such steps,
//     whatever had been broken; or two calls had one token
//   - fenced: a check ended by another call than that with the last token
//   - checkpoint: a call went on from before the last checkpoint of which Save said that it was kept, from one that nobody saved, or from
//     one of another check; but what the app has moved begins anew
//   - cancelled: a call went on for longer than a lease after its check was cancelled
//   - pool: the run of a pool was called by a worker that does not serve it
//   - stuck: a run has not ended, and its check is gone, although the app did not end that
//
// Those of a schedule keep apart as package apart says, by every start of one, which a trigger notes; "at-once" holds for all of them together.
//
// What an app did to a schedule parts its time into spans, in each of which one definition was in force. Of a span it is known what
// its timer waited for at first and at its end: what is due between, as timeline says, has fired, or was passed over. A run has its
// own calls and ends; "twice" and "fenced" hold for those as for checks, and so do "early", "late" and "waits". Besides:
//
//   - plan: a schedule is there, gone, enabled, or of a version, other than what was committed says
//   - timer: an enabled schedule has no timer, or several; another has one; or it does not wait for the next occurrence
//   - unfired: an occurrence has neither fired, nor may its policy have passed over it: always with all; with once only behind one
//     that fired; never what is late by no more than catch_up_within
//   - passed-over: the count of passing over is not that of the gaps
//   - event-twice, run-twice: an id is there twice, or a run has two ends of its own, or one and is pending
//   - unasked: an event or a run that no definition in force says: of a create that was rolled back, of a timeline that was replaced,
//     or a call after a delete, an update or a pause
//   - order: the events of a schedule do not stand in the order of their times
//   - payload: an event or a run has the payload of another definition
//   - missed: a run ended as missed that was not late, or not to be skipped; or that had been called, where nothing says that the answer
//     was lost, or nobody had claimed its bucket since; or one was called that was to be skipped
//
// Of a job of steps the journal has each call of a step. What is said of long runs holds for its runs as "stuck". Besides:
//
//   - step-lost: a run ended as done, and one of its steps never came to its end
//   - step-order: a step was called, and the one before it had not ended
//   - step-twice: a step was called again, and it had neither failed nor does a fault explain it
//   - step-version: the calls of a run are of several versions of the job
//   - step-effect: what a step wrote as a TxFunc is not there exactly once
//   - step-log: the log of runs, or that of steps, does not agree with history, or with what was called
//
// Apps write changes in transactions that commit in another order than that of their ids, and a queue handles them. "change-skipped",
// "change-twice" and "change-phantom" are for what was never handled, or twice, or though it had been rolled back.
package checker
