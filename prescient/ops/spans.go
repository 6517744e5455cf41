package ops

import (
	"context"
	"fmt"
	"time"

	"prescient/prescient"
)

// lasting gives an operation, which was made last, another time limit than is usual.
func lasting[In, Out any](within time.Duration, op Operation[In, Out]) Operation[In, Out] {
	op.Within = within
	all[len(all)-1] = op.Info
	return op
}

// SlotSpan is a time from which slots are.
type SlotSpan struct {
	From   time.Time `query:"from" doc:"Only slots at this time or later."`
	Before time.Time `query:"before" doc:"Only slots before this time."`
}

// checkTimes refuses times that the database has none of. Zero is for a time that was not given.
func checkTimes(times ...time.Time) error {
	for _, t := range times {
		if !t.IsZero() && (t.Before(prescient.EarliestDue) || t.After(prescient.LatestSlot)) {
			return fmt.Errorf("%w: time %s: times from %s to %s are allowed", prescient.ErrInvalid, t.Format(time.RFC3339), prescient.EarliestDue.Format(time.RFC3339), prescient.LatestSlot.Format(time.RFC3339))
		}
	}
	return nil
}

// behindName refuses a cursor of names that is none: a server takes that for a mistake in the statement.
func (p Paging) behindName() error {
	if p.After == "" {
		return nil
	}
	return prescient.ValidIdentifier("cursor", p.After)
}

// span fills in what was not given of a span: it ends now by the database's clock, and is as long as is usual.
func (q asked) span(ctx context.Context, from, before time.Time, usual time.Duration) (time.Time, time.Time, error) {
	if err := checkTimes(from, before); err != nil {
		return from, before, err
	}
	if before.IsZero() {
		now, err := q.client.Now(ctx, q.db)
		if err != nil {
			return from, before, err
		}
		before = now
	}
	if from.IsZero() {
		from = before.Add(-usual)
	}
	return from.UTC(), before.UTC(), nil
}
