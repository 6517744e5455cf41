package event

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jmoiron/sqlx"

	"prescient/prescient"
)

// Func is a job_exec that answers with events, too. They commit with the answer: with the end or the move of its check, exactly
// once. What it leaves out of an event is filled in: the id, by IDOf, and the key, which is the entity.
type Func func(ctx context.Context, job prescient.FutureJob) (next *time.Time, events []Event, err error)

// Register adds a job_exec that answers with events. It is called as a prescient.TxFunc is, whose row is locked meanwhile: it should be
// quick. After an error its events are not published. Errors are those of Registry.RegisterTx.
func (o *Outbox) Register(registry *prescient.Registry, name string, fn Func, guards prescient.Guards) error {
	if fn == nil {
		return fmt.Errorf("%w: job_exec %q has no function", prescient.ErrInvalid, name)
	}
	return registry.RegisterTx(name, func(ctx context.Context, tx *sqlx.Tx, job prescient.FutureJob) (*time.Time, error) {
		next, events, err := fn(ctx, job)
		if err != nil || len(events) == 0 {
			return next, err
		}
		events = slices.Clone(events) // the function may have its own for the next call
		for i := range events {
			which := []string{}
			if i > 0 {
				which = append(which, fmt.Sprint(i+1))
			}
			events[i].ID = cmp.Or(events[i].ID, IDOf(job, which...))
			events[i].Key = cmp.Or(events[i].Key, job.Entity().String())
		}
		return next, o.Publish(ctx, tx, events...)
	}, guards)
}
