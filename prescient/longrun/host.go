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

// host is the agent, as its claimer sees it.
type host struct{ r *Runner }

// Full implements claimer.Host.
func (h host) Full(pool string) bool {
	h.r.mu.Lock()
	defer h.r.mu.Unlock()
	return h.r.placesLeft(pool) <= 0
}

// Reserve implements claimer.Host.
func (h host) Reserve(pool string) bool { return h.r.reserve(pool, 1) == 1 }

// Unreserve implements claimer.Host.
func (h host) Unreserve(pool string) { h.r.unreserve(pool, 1) }

// Load implements claimer.Host: the share of the places that are taken, or what the machine has to do, whichever is more.
func (h host) Load(pool string, more int) float64 {
	h.r.mu.Lock()
	taken := h.r.places.taken(pool) + more
	h.r.mu.Unlock()
	load := float64(taken) / float64(max(h.r.places.of(pool), 1))
	if h.r.options.Load != nil {
		load = max(load, h.r.options.Load())
	}
	return min(load, 1)
}

// Execs implements claimer.Host.
func (h host) Execs() []string {
	h.r.mu.Lock()
	defer h.r.mu.Unlock()
	return slices.Sorted(maps.Keys(h.r.execs))
}

// Calls implements claimer.Host.
func (h host) Calls(jobExec string) bool {
	h.r.mu.Lock()
	defer h.r.mu.Unlock()
	return h.r.execs[jobExec] != nil
}

// Stop implements claimer.Host.
func (h host) Stop(key prescient.Key) {
	if run := h.run(key); run != nil {
		run.lose(ErrLost)
	}
}

// Drop implements claimer.Host.
func (h host) Drop(key prescient.Key) {
	if run := h.run(key); run != nil {
		run.cancel(ErrDropped)
	}
}

func (h host) run(key prescient.Key) *Run {
	h.r.mu.Lock()
	defer h.r.mu.Unlock()
	return h.r.runs[key]
}

// Met implements claimer.Host.
func (h host) Met(n int) {
	h.r.mu.Lock()
	defer h.r.mu.Unlock()
	h.r.met = n
	h.r.still()
}
