package longrun

import (
	"context"
	"maps"
	"slices"

	"prescient/prescient"
)

// Serve claims runs that nobody has, of its pools and of no pool, until ctx ends or the agent is drained. A program that runs slots as they come calls it
// beside that. It is not for one that runs a slot and ends.
//
// It returns at once where no job_exec is registered.
func (r *Runner) Serve(ctx context.Context) {
	r.mu.Lock()
	n := len(r.execs)
	r.mu.Unlock()
	if n == 0 {
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		select {
		case <-r.stopped:
		case <-ctx.Done():
		}
		cancel()
	}()
	r.claimer.Serve(ctx)
}

// caller is the runner, as its claimer sees it.
type caller struct{ r *Runner }

// Full implements claimer.Caller.
func (by caller) Full(pool string) bool {
	by.r.mu.Lock()
	defer by.r.mu.Unlock()
	return by.r.placesLeft(pool) <= 0
}

// Reserve implements claimer.Caller.
func (by caller) Reserve(pool string) bool { return by.r.reserve(pool, 1) == 1 }

// Unreserve implements claimer.Caller.
func (by caller) Unreserve(pool string) { by.r.unreserve(pool, 1) }

// Load implements claimer.Caller: the share of the places that are taken, or what the machine has to do, whichever is more.
func (by caller) Load(pool string, more int) float64 {
	by.r.mu.Lock()
	taken := by.r.places.taken(pool) + more
	by.r.mu.Unlock()
	load := float64(taken) / float64(max(by.r.places.of(pool), 1))
	if by.r.options.Load != nil {
		load = max(load, by.r.options.Load())
	}
	return min(load, 1)
}

// Execs implements claimer.Caller.
func (by caller) Execs() []string {
	by.r.mu.Lock()
	defer by.r.mu.Unlock()
	return slices.Sorted(maps.Keys(by.r.execs))
}

// Calls implements claimer.Caller.
func (by caller) Calls(jobExec string) bool {
	by.r.mu.Lock()
	defer by.r.mu.Unlock()
	return by.r.execs[jobExec] != nil
}

// Stop implements claimer.Caller.
func (by caller) Stop(key prescient.Key) {
	if run := by.run(key); run != nil {
		run.lose(ErrLost)
	}
}

// Drop implements claimer.Caller.
func (by caller) Drop(key prescient.Key) {
	if run := by.run(key); run != nil {
		run.cancel(ErrDropped)
	}
}

func (by caller) run(key prescient.Key) *Run {
	by.r.mu.Lock()
	defer by.r.mu.Unlock()
	return by.r.runs[key]
}

// Met implements claimer.Caller.
func (by caller) Met(n int) {
	by.r.mu.Lock()
	defer by.r.mu.Unlock()
	by.r.met = n
	by.r.still()
}
