package worker

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"
	"golang.org/x/time/rate"

	"prescient/prescient"
	"prescient/prescient/internal/bell"
	"prescient/prescient/internal/store"
	"prescient/prescient/worker/internal/bucket"
	"prescient/prescient/worker/internal/known"
	"prescient/prescient/worker/internal/ledger"
	"prescient/prescient/worker/internal/look"
	"prescient/prescient/worker/internal/pace"
	"prescient/prescient/worker/internal/purge"
	"prescient/prescient/worker/internal/watched"
)

// Worker runs slots. It is for concurrent use; a process needs one.
type Worker struct {
	options   Options
	tables    store.Tables
	send      *store.Sender
	look      *look.Looker
	ledger    *ledger.Ledger
	purge     *purge.Purge
	shared    *bucket.Shared // what its buckets have in common
	known     *known.Teller  // of its job_execs
	guards    map[string]prescient.Guards
	log       zerolog.Logger
	sweeps    *rate.Limiter // of the rows that are caught up; nil for no bound
	bounds    bounds        // of the slot runs that are under way
	backlog   *pace.Backlog // of its sweeps
	sweepSoon bell.Bell     // something was left to the sweeper
	watched   *watched.List // slots of which others hold buckets
	pulse     pulse
	// unregistered are the job_execs that the log has named lately, of rows that are put off for them.
	unregistered namedLately
	holders      sync.Mutex // who looks for whose a locked row is
}

// bounds are how many slot runs of each kind may be under way at a time.
type bounds struct {
	runs     places       // of the worker's own slots
	sweepers places       // of the sweeper
	tails    places       // of sweeps that have only to commit
	staying  atomic.Int32 // runs that wait for other workers
}

// Name returns the worker's name in ledger and history.
func (w *Worker) Name() string { return w.options.Name }

// CallTime returns for how long the worker has called job_execs, each call counted: as much of it as time has passed, times the
// concurrency, is all that it can do.
func (w *Worker) CallTime() time.Duration { return w.shared.Executor.CallTime() }

// Resolution returns the distance between two slots.
func (w *Worker) Resolution() time.Duration { return w.tables.Grid.Resolution() }

// guardsOf returns the guards of a job_exec, those of the installation where nobody registered it.
func (w *Worker) guardsOf(jobExec string) prescient.Guards {
	if g, ok := w.guards[jobExec]; ok {
		return g
	}
	return w.options.Guards
}

// Now returns the database's time, in UTC.
func (w *Worker) Now(ctx context.Context) (time.Time, error) {
	seen, err := w.look.Now(ctx)
	return seen.Clock.Now(), err
}

// scope returns contexts that outlast the end of ctx: calls for as long as running job_execs may take, work for the
// commits after that.
func (w *Worker) scope(ctx context.Context) (calls, work context.Context, cancel func()) {
	calls, cancelCalls := context.WithCancel(context.WithoutCancel(ctx))
	work, cancelWork := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		time.AfterFunc(w.options.Times.StopGrace, cancelCalls)
		time.AfterFunc(w.options.Times.StopGrace+w.send.Timeout, cancelWork)
	})
	return calls, work, func() {
		stop()
		cancelCalls()
		cancelWork()
	}
}
