package execute

import (
	"context"

	"prescient/prescient"
	"prescient/prescient/internal/caught"
	"prescient/prescient/worker/internal/check"
)

// batchFunc is a BatchFunc: one call for all rows of a task.
type batchFunc prescient.BatchFunc

// InTx implements Handler.
func (batchFunc) InTx() bool { return false }

func (batchFunc) atOnce() int { return 0 }

func (fn batchFunc) begin(e *Executor, t Task) calls {
	c := &call{Task: t, executor: e}
	c.do = func(ctx context.Context) ([]check.Answer, error) {
		e.tell(c.Rows...)
		b := check.NewBatch(c.Rows, c.Sink.Time().Now())
		if err := fn(ctx, b); err != nil {
			return nil, caught.Quoted(err)
		}
		return answersOf(b, len(b.Jobs())), nil
	}
	return c
}

// answersOf returns what a function answered for each row of a batch.
func answersOf(b *prescient.Batch, rows int) []check.Answer {
	answers := make([]check.Answer, rows)
	for i := range answers {
		answers[i] = check.AnswerOf(b, i)
	}
	return answers
}
