package execute

import (
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/reserved"
	"prescient/prescient/internal/store"
	"prescient/prescient/worker/internal/check"
)

// notCalled says whether a row is not to be called at a moment, since it has expired, say, and why.
func notCalled(g prescient.Guards, r *check.Answered, clock store.Clock, here time.Time) (prescient.Answer, bool) {
	if !reserved.MayLapse(g, &r.FutureJob) {
		return prescient.Answer{}, false
	}
	return reserved.NotCalled(g, r.FutureJob, clock.When(here))
}

// Due divides rows that are about to be called into those that are, and those that came too late for it.
func Due(g prescient.Guards, rows []*check.Answered, clock store.Clock, here time.Time) (due, lapsed []*check.Answered) {
	for i, r := range rows {
		a, not := notCalled(g, r, clock, here)
		switch {
		case not:
			if lapsed == nil {
				due = append(due, rows[:i]...)
			}
			r.Answer = check.Of(a)
			lapsed = append(lapsed, r)
		case lapsed != nil:
			due = append(due, r)
		}
	}
	if lapsed == nil {
		return rows, nil
	}
	return due, lapsed
}
