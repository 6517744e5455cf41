package worker

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/cenkalti/backoff/v5"

	"prescient/prescient"
	"prescient/prescient/internal/errno"
	"prescient/prescient/internal/store"
	"prescient/prescient/worker/books"
	"prescient/prescient/worker/internal/ledger"
)

// ownSlot is a slot that Work runs.
type ownSlot struct {
	slot   time.Time
	next   time.Time // the one after it that is assigned; zero for none
	clock  store.Clock
	clocks chan<- store.Clock
	place  *place
	hour   *hourSum
}

// runOwn runs a slot, again and again while that fails for a reason that passes by itself and the next slot has not come: the
// server may have been away for longer than statements are tried again, and slots may be a day apart. Any other reason would
// be there again at once, after job_execs were called once more: such a slot is left to the sweeper, which comes seldom. Only
// the first failure and the last are logged.
func (w *Worker) runOwn(ctx context.Context, own ownSlot, fail context.CancelCauseFunc) {
	defer own.place.give()
	total := books.Figures{Slot: own.slot}
	began := time.Now()
	waits := backoff.NewExponentialBackOff()
	waits.InitialInterval, waits.MaxInterval = 50*time.Millisecond, time.Second
	how := runOptions{by: ledger.Work, parallel: w.buckets(), stay: true, clocks: own.clocks, known: own.clock, place: own.place, finished: new(atomic.Bool)}
	for tries := 1; ; tries++ {
		figures, err := w.tryRun(ctx, own.slot, how)
		total.Add(figures)
		total.Troubles = books.Troubles(total.Troubles).Sorted()
		total.Held, total.Paused, total.Took = figures.Held, figures.Paused, time.Since(began)
		stopped := ctx.Err() != nil
		if errors.Is(err, errSetBack) || stopped && errors.Is(err, ctx.Err()) {
			w.observeRun(total, err)
			return
		}
		over := stopped || !own.next.IsZero() && !own.clock.Now().Before(own.next)
		if err == nil || over || !errno.Passing(err) {
			w.watched.After(total, time.Now())
			w.observeRun(total, err)
			if errors.Is(err, prescient.ErrConfigChanged) {
				fail(err) // what Work returns
				return
			}
			w.reportSlot(own.hour, total, err)
			if err != nil {
				w.leaveToSweeper()
			}
			return
		}
		if tries == 1 {
			w.log.Warn().Err(err).Time("slot", own.slot).Msg("the slot run failed; it is tried again until the next slot comes")
		}
		if store.Sleep(ctx, waits.NextBackOff()) == nil {
			own.place.retake(ctx)
		}
	}
}
