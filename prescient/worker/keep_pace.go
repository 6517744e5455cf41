package worker

import (
	"cmp"
	"context"
	"slices"
	"time"

	"prescient/prescient/worker/internal/ledger"
	"prescient/prescient/worker/internal/pace"
)

// newPace is the pace of a run that begins with this ledger. What sweeps run shares one, with time for all of it; rows that came to
// a slot whose buckets were all finished have one of their own.
func (r *slotRun) newPace(list []ledger.Row) *pace.Run {
	load := r.w.options.Load
	most := pace.Effort{Buckets: r.parallel, Rows: load.Batch}
	switch again := !slices.ContainsFunc(list, func(row ledger.Row) bool { return !row.Finished }); {
	case load.Pace == PaceFull:
		return pace.Full(most)
	case r.background:
		r.backlog = r.w.backlog
		return r.backlog.Run(most)
	case again:
		r.backlog = pace.NewBacklog(most, load.Batch, r.timeFor(true), func() bool { return false })
		r.backlog.Starts(time.Now(), 0)
		return r.backlog.Run(most)
	}
	return pace.New(most)
}

// newBacklog is what the sweeps of a worker share. A slot of now comes first.
func (w *Worker) newBacklog() *pace.Backlog {
	load := w.options.Load
	return pace.NewBacklog(pace.Effort{Buckets: w.buckets(), Rows: load.Batch}, load.Batch, w.options.Sweep.FinishWithin,
		func() bool { return len(w.bounds.runs) > 0 })
}

// timeFor is how long the run may take from now on.
func (r *slotRun) timeFor(again bool) time.Duration {
	return pace.TimeFor(r.Clock.Now().Sub(r.slot), r.w.finishWithin(), r.w.options.Sweep.FinishWithin, r.w.Resolution(), again)
}

// finishWithin is how long a slot may take: never longer than until the next, or more and more of them would be run at a time.
func (w *Worker) finishWithin() time.Duration {
	if w.options.Load.FinishWithin <= 0 {
		return pace.Within(w.Resolution())
	}
	return min(w.options.Load.FinishWithin, w.Resolution())
}

// keepPace looks again and again how far the slot is, until ctx ends, and has as many buckets worked on at a time as it needs.
// A run that only waits, for slow calls or for others, looks at nothing: there may be hundreds of those.
func (r *slotRun) keepPace(ctx context.Context, before []ledger.Row) {
	look, every := r.lookAtSlot(before)
	if r.backlog != nil {
		look, every = r.lookAtBacklog, r.backlog.Every
	}
	ticker := time.NewTicker(every())
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		r.mu.Lock()
		waits := r.busy == 0
		r.mu.Unlock()
		if waits {
			continue
		}
		look(ctx)
		r.mu.Lock()
		if r.busy > 0 {
			r.startMore(r.pace.Effort().Buckets)
		}
		r.mu.Unlock()
		ticker.Reset(every())
	}
}

// lookAtSlot looks at the ledger of a slot that is to be done in its time, by whichever workers. A look that fails is left out:
// whatever the reason, the commits have it too.
func (r *slotRun) lookAtSlot(before []ledger.Row) (look func(context.Context), every func() time.Duration) {
	within, began := r.timeFor(false), time.Now()
	progress := pace.NewProgress(r.w.options.Load.Batch, within, ledgerOf(before))
	return func(ctx context.Context) {
		if list, err := r.w.ledger.Rows(ctx, r.slot); err == nil {
			r.pace.Look(progress.Seen(time.Since(began), ledgerOf(list)))
		}
	}, func() time.Duration { return r.pace.Every(max(within, r.w.finishWithin())) }
}

// lookAtBacklog looks at what this run has done, and has before it. The ledger would also count what the slot had before.
func (r *slotRun) lookAtBacklog(context.Context) {
	r.mu.Lock()
	ran, rows := r.figures.Buckets, r.figures.Rows()
	done := pace.Ledger{Buckets: ran + r.busy + len(r.todo), Finished: ran, Written: rows, InThose: rows}
	r.mu.Unlock()
	r.backlog.Look(time.Now(), done)
}

// ledgerOf sums up the ledger of a slot.
func ledgerOf(list []ledger.Row) (sum pace.Ledger) {
	sum.Buckets = len(list)
	for _, row := range list {
		sum.Written += row.Written
		sum.Largest = max(sum.Largest, row.Written)
		if row.Finished {
			sum.Finished++
			sum.InThose += row.Written
		}
	}
	return sum
}

// A bucket sends one statement after the other, seven for a commit; while it waits for the answers of a server that is far
// away, other buckets use the time. So more are worked on at a time, the further away it is.

const (
	// oneMoreFor is the length of round trip for which one more bucket is worked on. With the server 5 ms away, 4 buckets at a
	// time left 0.7 of the ends a second that it had beside the worker, 6 to 8 left 0.9, and 12 no more (scripts/bench: remote).
	oneMoreFor = time.Millisecond
	// pings is how often the round trip is measured: the shortest counts, since the others also wait for processors.
	pings = 3
)

// buckets is how many buckets to work on at a time where the server is not far away.
func (w *Worker) buckets() int { return cmp.Or(w.options.Load.Buckets, DefaultBuckets) }

// bucketsAt is how many buckets to work on at a time where a round trip to the server takes so long. It is bounded, since memory
// and connections grow with it.
func bucketsAt(trip time.Duration) int {
	return min(DefaultBuckets+int(trip/oneMoreFor), DefaultFarBuckets)
}

// roundTrip measures how long the server takes to answer a ping; 0 where it does not answer.
func (w *Worker) roundTrip(ctx context.Context) (shortest time.Duration) {
	for range pings {
		began := time.Now()
		if w.send.DB.PingContext(ctx) != nil {
			return 0 // which the next statement will tell
		}
		if took := time.Since(began); shortest == 0 || took < shortest {
			shortest = took
		}
	}
	return shortest
}

// widen has more buckets worked on at a time where the server is far away, unless their number is given, or that of
// connections.
func (r *slotRun) widen(ctx context.Context) {
	if r.w.options.Load.Buckets == 0 && !r.w.send.Limited() {
		r.parallel = max(r.parallel, bucketsAt(r.w.roundTrip(ctx)))
	}
}
