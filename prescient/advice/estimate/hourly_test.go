package estimate_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/advice/estimate"
	"prescient/prescient/prescienttest"
)

// orders ship within hours, or the next day: when is known by the order.
type orders map[string]time.Time

// check looks after each of them as next says, by the rules of a worker, and says what became of it.
func (o orders) check(t *testing.T, placed map[string]time.Time, first, next func(inserted, now time.Time) time.Time) (ended []estimate.Check, calls int, late time.Duration) {
	t.Helper()
	for _, key := range slices.Sorted(maps.Keys(placed)) {
		at := placed[key]
		life := prescienttest.Simulate(t, prescienttest.Simulation{Now: at, Guards: prescient.Guards{MaxChecks: 100},
			Job: prescient.NewJob{Entity: prescient.Entity{Name: "order", Key: key}, JobExec: "order-unshipped", DueAt: first(at, at)},
			Func: func(_ context.Context, job prescient.FutureJob) (*time.Time, error) {
				if !o[job.EntityKey].After(job.CalledAt) {
					return nil, nil
				}
				return prescient.At(next(job.InsertedAt, job.CalledAt)), nil
			}}).Run()
		if life.Outcome != prescient.Done {
			t.Fatalf("order %s ended as %s: %s", key, life.Outcome, life.Reason)
		}
		last := life.Steps[len(life.Steps)-1].At
		calls, late = calls+len(life.Steps), late+last.Sub(o[key])
		ended = append(ended, estimate.Check{Inserted: at, FirstSlot: life.Job.FirstCheckAt, Slot: last, Started: last, Ended: last, Answers: life.Job.CheckCount, Outcome: life.Outcome})
	}
	return ended, calls, late / time.Duration(len(placed))
}

// A history of checks an hour from one to the next, and what its advice makes of other orders of the same kind.
func TestAdvisedTimesAgainstHourlyChecks(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	some := func(n int) (shipped orders, placed map[string]time.Time) {
		shipped, placed = make(orders), make(map[string]time.Time)
		for i := range n {
			key := fmt.Sprint(i)
			placed[key] = prescienttest.DefaultStart.Add(time.Duration(r.Int64N(int64(14 * 24 * time.Hour))))
			after := 4*time.Hour + time.Duration(r.NormFloat64()*float64(40*time.Minute))
			if r.IntN(4) == 0 {
				after = 20*time.Hour + time.Duration(r.ExpFloat64()*float64(3*time.Hour))
			}
			shipped[key] = placed[key].Add(after)
		}
		return shipped, placed
	}
	hourly := func(_, now time.Time) time.Time { return now.Add(time.Hour) }
	shipped, placed := some(2000)
	history, _, _ := shipped.check(t, placed, hourly, hourly)
	advice := estimate.Advise(history, estimate.Question{Slot: 15 * time.Minute})
	if advice.Curve == nil {
		t.Fatalf("%+v", advice)
	}
	advised := func(inserted, now time.Time) time.Time {
		return prescient.Advised(*advice.Curve, inserted, now, prescient.Distances{Least: 15 * time.Minute})
	}
	shipped, placed = some(1000)
	_, before, lateBefore := shipped.check(t, placed, hourly, hourly)
	_, calls, late := shipped.check(t, placed, advised, advised)
	t.Logf("hourly: %.2f calls an order, %s late; advised: %.2f calls, %s late", float64(before)/1000, lateBefore.Round(time.Second), float64(calls)/1000, late.Round(time.Second))
	if calls > before/2 || late > lateBefore*11/10 {
		t.Errorf("%d calls, %s late; hourly %d, %s", calls, late, before, lateBefore)
	}
}
