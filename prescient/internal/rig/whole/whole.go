package whole

import (
	"testing"
	"time"

	"github.com/rs/zerolog"

	"prescient/prescient"
	"prescient/prescient/internal/rig"
	"prescient/prescient/internal/rig/app"
	"prescient/prescient/localserver/servertest"
	"prescient/prescient/worker"
	"prescient/prescient/worker/books"
)

// Rig is an app.Rig with workers.
type Rig struct{ *app.Rig }

// New is for a test that has its own database.
func New(t *testing.T, d servertest.Database, resolution time.Duration) *Rig {
	t.Helper()
	return &Rig{app.New(t, d, resolution)}
}

// Worker makes a worker whose server's clock stands still at now; the zero time leaves it running.
func (r *Rig) Worker(now time.Time, registry *prescient.Registry, options worker.Options) *worker.Worker {
	r.T.Helper()
	r.Needs(r.T, rig.OnePool)
	return r.Workers(now, registry, options)[0]
}

// Workers are Worker on each shard.
func (r *Rig) Workers(now time.Time, registry *prescient.Registry, options worker.Options) (list []*worker.Worker) {
	r.T.Helper()
	options.Prefix, options.Dialect, options.Registry = "p_", r.Setting, registry
	if options.Log.GetLevel() == zerolog.TraceLevel {
		options.Log = zerolog.New(zerolog.NewTestWriter(r.T))
	}
	for _, db := range r.Shards("worker", now) {
		w, err := worker.New(r.T.Context(), db, options)
		r.Must(err)
		list = append(list, w)
	}
	return list
}

// RunAt runs the slot that is now at a time, on each shard, and returns its figures.
func (r *Rig) RunAt(now time.Time, registry *prescient.Registry, options worker.Options) (all books.Figures) {
	r.T.Helper()
	for i, w := range r.Workers(now, registry, options) {
		figures, err := w.Run(r.T.Context())
		r.Must(err)
		if i == 0 {
			all = figures
		} else {
			all.Add(figures)
		}
	}
	return all
}

// HookedWorker is Worker with hooks.
func (r *Rig) HookedWorker(now time.Time, h *rig.Hooks, registry *prescient.Registry, options worker.Options) *worker.Worker {
	r.T.Helper()
	r.Needs(r.T, rig.OnePool)
	options.Prefix, options.Dialect, options.Registry = "p_", r.Setting, registry
	w, err := worker.New(r.T.Context(), r.HookedPool(now, h), options)
	r.Must(err)
	return w
}
