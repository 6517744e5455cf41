package check

import (
	"bytes"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/literal"
	"prescient/prescient/internal/reserved"
	"prescient/prescient/internal/store"
)

// Row is a pending row with its key.
type Row struct {
	prescient.FutureJob
	JobKey prescient.Key
	Seq    uint64 // rows whose numbers follow one another do so in the table; 0 where that is not known
	Tries  int    // transactions that came to nothing, with others or by itself
	// TriedAt is when the first of them had.
	TriedAt time.Time
	Kept    error // why the server refused what the library's own function came to; nil for not
	// ByRule is what becomes of it uncalled, since its rule was changed; nil for nothing. LateByRule says that it is called later than its rule would have it
	// by now. Guards are those of its rule, which come before those of the job_exec.
	ByRule     *prescient.Answer
	LateByRule bool
	Guards     prescient.Guards
	Unread     bool // its payload is too long to be read
}

// Size is how much memory is taken by what may be large.
func (r *Row) Size() int { return len(r.Payload) + len(r.LastError) }

// Own is the row for a call of its job_exec at a time, with a payload that it may write on.
func (r *Row) Own(called time.Time) prescient.FutureJob {
	job := r.FutureJob
	job.CalledAt = called
	job.Payload = bytes.Clone(job.Payload)
	job = reserved.InCall(job)
	if job.ExpiresAt != nil {
		job.ExpiresAt = prescient.At(*job.ExpiresAt)
	}
	return job
}

// Answered is a row with its answer and what becomes of it.
type Answered struct {
	Row
	Answer  Answer
	Verdict prescient.Verdict
	Locked  bool          // somebody else had it locked, or what its call needs
	RetryIn time.Duration // how long its last try waited for that
	Stuck   bool          // what becomes of it could not be written
	Bare    bool          // it ends without its payload and last error, which the server does not take
	Refused Refused       // by the server
}

// Refused says how far one has come with a row that the server refuses to write as it was answered.
type Refused uint8

const (
	AsAnswered  Refused = iota // nothing was refused, but for its payload
	Counted                    // its answer counts as an error
	EndsInstead                // it was to move, and ends as failed
	PutOff                     // it cannot be ended, and is put off
	InPlace                    // nor moved: it stays in its slot, and is not called there
)

// AnsweredKey returns the key of a row, for lists of keys.
func AnsweredKey(a *Answered) prescient.Key { return a.JobKey }

// Total is the run time of all checks, with this one.
func (a *Answered) Total() int64 { return a.TotalMS + literal.Millis(a.Answer.Ran) }

// Copied says whether the server copies the row into history.
func (a *Answered) Copied() bool { return len(a.Payload) > store.MaxSent || a.Unread || a.Bare }

// WasCalled says whether its job_exec was called, also where the server refused what it answered.
func (a *Answered) WasCalled() bool {
	return a.Answer.Cause == prescient.CauseCalled || a.Answer.Cause == prescient.CauseRefused && a.Answer.Ran > 0
}

// Lateness is how long after its slot the call started.
func (a *Answered) Lateness() time.Duration { return a.Answer.Started.Sub(a.NextCheckAt) }

// NewBatch makes the batch of some rows for a call at a time.
func NewBatch(rows []*Answered, called time.Time) *prescient.Batch {
	jobs := make([]prescient.FutureJob, len(rows))
	for i := range rows {
		jobs[i] = rows[i].Own(called)
	}
	return prescient.NewBatch(jobs...)
}

// AnswerOf is what a function answered for row i.
func AnswerOf(b *prescient.Batch, i int) Answer { return Of(b.Given(i)) }
