package worker

import (
	"time"

	"prescient/prescient"
	"prescient/prescient/worker/books"
	"prescient/prescient/worker/internal/check"
)

// Observer is told what a worker does, for metrics and tests. Fields that are nil are not called, and a worker without an
// Observer does nothing for it. The functions are called from several goroutines at a time, on the way of the rows: they
// should be quick, and must not keep the slice that they are given.
type Observer struct {
	// Working is called once Work has read the database's clock for the first time.
	Working func()
	// SlotRun is called after each slot run, of Run, Work and Sweep, with its figures and its error.
	SlotRun func(books.Figures, error)
	// Served is called at the end of a slot run after which no bucket of its slot is unfinished, and which finished some of them for the first
	// time: so mostly once for each slot, whoever serves or sweeps it, also for one that held nothing; not where the process dies, or is cut off
	// from the server, between the last bucket and the call. Several workers that share a slot may each be told. It is not called while somebody
	// has a bucket of it yet, nor where everything is paused.
	Served func(slot time.Time)
	// Calling is called before each call of a job_exec, with each of its rows. Of a long run it is that of the slot run, which claims or offers it;
	// longrun.Observer is told of its call.
	Calling func(job prescient.FutureJob)
	// Answered is called after each commit with the rows whose answers it held: a hook, which is lost where the process dies between the two. What
	// must not be lost is an event, or done in the transaction of a TxFunc.
	Answered func([]Result)
	// Committed is called after each COMMIT of what became of rows, once it is known what came of it, and before others of its bucket commit.
	Committed func(Commit)
}

// Commit is a transaction that committed what became of rows, or failed to.
type Commit struct {
	Slot   time.Time
	Bucket int
	// Began is when its fence was sent, by this process' clock, and Took how long that, what was written behind it and the COMMIT took. What
	// TxFuncs wrote, and the rows that they lock, came before the fence.
	Began time.Time
	Took  time.Duration
	// Err is nil where it was committed.
	Err error
}

// Result is what came of one row in a slot run, once it is committed.
type Result struct {
	// Job is the row as its job_exec was called with it.
	Job prescient.FutureJob
	// Called is false where the job_exec was not called: nobody registered it, its calls ignore their timeout, the row had
	// expired, or it killed the worker before.
	Called bool
	// Unregistered says that it was not called since the worker has no such job_exec.
	Unregistered bool
	// Failed says that its call answered with an error, timed out or panicked.
	Failed bool
	// Outcome is how the check ended; empty where it moved to the slot Next.
	Outcome prescient.Outcome
	Next    time.Time
	// DueAt is the time that was asked for, by the answer where it returned one.
	DueAt time.Time
	// Reason is the text of the error, or why the job ended or was put off; empty where all went well.
	Reason string
	// Started is when the call started, by the database's clock, and Ran how long it took. Of what expired it is zero.
	Started time.Time
	Ran     time.Duration
	// Lateness is Started against the slot.
	Lateness time.Duration
	// Dropped says that the end was thrown away, since the app had cancelled or changed the row meanwhile. Of moves that
	// were dropped only the figures tell.
	Dropped bool
}

func newResult(a *check.Answered, dropped bool) Result {
	r := Result{Job: a.FutureJob, Called: a.Answer.Cause == prescient.CauseCalled,
		Unregistered: a.Answer.Cause == prescient.CauseUnregistered, Failed: a.Answer.Cause == prescient.CauseCalled && a.Answer.Err != nil,
		Outcome: a.Verdict.Outcome, Next: a.Verdict.Slot, DueAt: a.Verdict.DueAt, Reason: a.Verdict.Reason, Started: a.Answer.Started, Ran: a.Answer.Ran, Dropped: dropped}
	if !r.Started.IsZero() {
		r.Lateness = a.Lateness()
	}
	return r
}
