package whole

import (
	"testing"
	"time"

	"github.com/rs/zerolog"

	"prescient/prescient/localserver/servertest"

	"prescient/prescient"
	"prescient/prescient/internal/rig"
	"prescient/prescient/internal/rig/app"
	"prescient/prescient/worker"

	"prescient/prescient/worker/books"
)

// WholeRig is an AppRig with workers.
type WholeRig struct{ *app.AppRig }

// EachWholeRig runs a test on every server, with 15-minute slots.
func EachWholeRig(t *testing.T, test func(t *testing.T, r *WholeRig)) {
	EachWholeRigAt(t, 15*time.Minute, test)
}

// EachWholeRigAt runs a test on every server.
func EachWholeRigAt(t *testing.T, resolution time.Duration, test func(t *testing.T, r *WholeRig)) {
	servertest.Each(t, func(t *testing.T, d servertest.Database) { test(t, NewWholeRig(t, d, resolution)) })
}

// NewWholeRig is for a test that has its own database.
func NewWholeRig(t *testing.T, d servertest.Database, resolution time.Duration) *WholeRig {
	t.Helper()
	return &WholeRig{app.NewAppRig(t, d, resolution)}
}

// Worker makes a worker whose server's clock stands still at now; the zero time leaves it running.
func (r *WholeRig) Worker(now time.Time, registry *prescient.Registry, options worker.Options) *worker.Worker {
	r.T.Helper()
	options.Prefix, options.Dialect, options.Registry = "p_", r.Setting, registry
	if options.Log.GetLevel() == zerolog.TraceLevel {
		options.Log = zerolog.New(zerolog.NewTestWriter(r.T))
	}
	w, err := worker.New(r.T.Context(), r.As("worker", now), options)
	r.Must(err)
	return w
}

// RunAt runs the slot that is now at a time, and returns its figures.
func (r *WholeRig) RunAt(now time.Time, registry *prescient.Registry, options worker.Options) books.Figures {
	r.T.Helper()
	figures, err := r.Worker(now, registry, options).Run(r.T.Context())
	r.Must(err)
	return figures
}

// HookedWorker is rig.worker with hooks.
func (r *WholeRig) HookedWorker(now time.Time, h *rig.Hooks, registry *prescient.Registry, options worker.Options) *worker.Worker {
	r.T.Helper()
	options.Prefix, options.Dialect, options.Registry = "p_", r.Setting, registry
	w, err := worker.New(r.T.Context(), r.HookedPool(now, h), options)
	r.Must(err)
	return w
}
