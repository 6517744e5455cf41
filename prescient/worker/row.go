package worker

import (
	"bytes"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/literal"
	"prescient/prescient/internal/store"
)

// row is a pending row with its key.
type row struct {
	prescient.FutureJob
	key   prescient.Key
	turn  uint64 // rows with turns in a row follow one another in the table; 0 where that is not known
	tries int    // transactions that came to nothing, with others or by itself
	// triedAt is when the first of them had.
	triedAt time.Time
	unread  bool // its payload is too long to be read
}

// size is how much memory is taken by what may be large.
func (r *row) size() int { return len(r.Payload) + len(r.LastError) }

// own is the row for a call of its job_exec at a time, with a payload that it may write on.
func (r *row) own(called time.Time) prescient.FutureJob {
	job := r.FutureJob
	job.CalledAt = called
	job.Payload = bytes.Clone(job.Payload)
	return job
}

// answered is a row with its answer and what becomes of it.
type answered struct {
	row
	answer  answer
	verdict prescient.Verdict
	locked  bool // somebody else had it locked
	stuck   bool // what becomes of it could not be written
	bare    bool // it ends without its payload and last error, which the server does not take
}

func answeredKey(a *answered) prescient.Key { return a.key }

// total is the run time of all checks, with this one.
func (a *answered) total() int64 { return a.TotalMS + literal.Millis(a.answer.ran) }

// copied says whether the server copies the row into history.
func (a *answered) copied() bool { return len(a.Payload) > store.MaxSent || a.unread || a.bare }

// lateness is how long after its slot the call started.
func (a *answered) lateness() time.Duration { return a.answer.started.Sub(a.NextCheckAt) }

func newBatch(rows []*answered, called time.Time) *prescient.Batch {
	jobs := make([]prescient.FutureJob, len(rows))
	for i := range rows {
		jobs[i] = rows[i].own(called)
	}
	return prescient.NewBatch(jobs...)
}

// answerOf is what a function answered for row i.
func answerOf(b *prescient.Batch, i int) answer {
	next, err := b.Answer(i)
	return answer{next: next, err: saidBy(err)}
}
