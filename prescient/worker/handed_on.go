package worker

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"prescient/prescient/worker/books"
)

// Buckets that a worker gives back when it stops are there for any other. One that waits for the end of a slot takes them, and does so
// for two leases. A slot that takes longer it watches: once a second, by one statement for all of them, while others hold buckets of
// theirs. Where none is held nothing is sent.

const (
	// watchedEvery is how often a worker looks at slots that others hold buckets of.
	watchedEvery = time.Second
	// mostWatched is how many slots it watches at a time; the sweeper has those beyond that. watchedFor is for how long it watches one.
	mostWatched = 64
	watchedFor  = time.Hour
)

// watched are slots of which others hold buckets, and until when they are watched.
type watched struct {
	mu    sync.Mutex
	slots map[time.Time]time.Time
	some  chan struct{} // there is one
}

func newWatched() *watched {
	return &watched{slots: make(map[time.Time]time.Time), some: make(chan struct{}, 1)}
}

// after takes note of a run that is over: its slot is watched where it left buckets to others, and none to the sweeper, which is not
// to be done again and again.
func (w *watched) after(f books.Figures, now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if f.Held == 0 || f.Paused || f.Locked+f.Stuck+f.CrowdedOut > 0 {
		delete(w.slots, f.Slot)
		return
	}
	if _, is := w.slots[f.Slot]; is || len(w.slots) >= mostWatched {
		return
	}
	w.slots[f.Slot] = now.Add(watchedFor)
	select {
	case w.some <- struct{}{}:
	default:
	}
}

// list is what is watched, without what was for long enough.
func (w *watched) list(now time.Time) (all []time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for slot, until := range w.slots {
		if now.After(until) {
			delete(w.slots, slot)
			continue
		}
		all = append(all, slot)
	}
	slices.SortFunc(all, time.Time.Compare)
	return all
}

// forget ends the watch of slots.
func (w *watched) forget(some ...time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, slot := range some {
		delete(w.slots, slot)
	}
}

// watchHandedOn goes on with slots of which others give buckets back, until ctx ends.
func (w *Worker) watchHandedOn(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-w.watched.some:
		}
		for all := w.watched.list(time.Now()); len(all) > 0; all = w.watched.list(time.Now()) {
			select {
			case <-ctx.Done():
				return
			case <-time.After(watchedEvery):
			}
			if all, err := w.handedOn(ctx, all); err == nil { // else the next look will tell
				for _, slot := range all {
					w.goOn(ctx, slot)
				}
			}
		}
	}
}

// handedOn tells which of some slots have buckets that are free, and forgets those that have no unfinished ones.
func (w *Worker) handedOn(ctx context.Context, some []time.Time) (free []time.Time, err error) {
	args := make([]any, len(some))
	for i, slot := range some {
		args[i] = slot
	}
	var rows []struct {
		Slot time.Time `db:"slot"`
		Free bool      `db:"free"`
	}
	ctx, cancel := context.WithTimeout(ctx, w.send.Timeout)
	defer cancel()
	query := w.tables.Fill("sweep/handed_on", "{slots}", "?"+strings.Repeat(", ?", len(some)-1))
	if err := w.send.DB.SelectContext(ctx, &rows, query, args...); err != nil {
		return nil, fmt.Errorf("sweep/handed_on: %w", err)
	}
	over := slices.Clone(some)
	for _, row := range rows {
		over = slices.DeleteFunc(over, row.Slot.Equal)
		if row.Free {
			free = append(free, row.Slot)
		}
	}
	w.watched.forget(over...)
	return free, nil
}

// goOn runs what is free of a slot, where there is a place for that: that of a slot of its own, or of the sweeper where it is past.
func (w *Worker) goOn(ctx context.Context, slot time.Time) {
	now, err := w.Now(ctx)
	if err != nil {
		return
	}
	how, places := runOptions{parallel: w.buckets()}, w.bounds.runs
	if w.tables.Grid.Floor(now).After(slot) {
		how.background, places = true, w.bounds.sweepers
		how.beforeRead = func(_ context.Context, rows int) error { return w.beforeCatchUp(ctx, rows) }
	}
	place, free := places.try()
	if !free {
		return
	}
	how.place = place
	figures, err := w.runSlot(ctx, slot, how)
	switch {
	case err != nil && ctx.Err() == nil:
		w.watched.forget(slot)
		w.log.Error().Err(err).Time("slot", slot).Msg("what another worker gave back could not be run; the sweeper has it")
		w.leaveToSweeper()
	case !figures.Idle():
		w.report(figures, nil, "slot run on, for a worker that gave it back")
	}
}
