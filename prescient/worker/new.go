package worker

import (
	"cmp"
	"context"
	"fmt"

	"github.com/jmoiron/sqlx"
	"golang.org/x/time/rate"

	"prescient/prescient"
	"prescient/prescient/internal/bell"
	"prescient/prescient/internal/lease"
	"prescient/prescient/internal/store"
	"prescient/prescient/worker/internal/bucket"
	"prescient/prescient/worker/internal/commit"
	"prescient/prescient/worker/internal/execute"
	"prescient/prescient/worker/internal/known"
	"prescient/prescient/worker/internal/ledger"
	"prescient/prescient/worker/internal/look"
	"prescient/prescient/worker/internal/purge"
	"prescient/prescient/worker/internal/watched"
	"prescient/slots"
)

// New reads slot_config and returns a worker on a pool made by connect.Open. The error wraps
// prescient.ErrNotMigrated, prescient.ErrResolution or prescient.ErrInvalid.
func New(ctx context.Context, db *sqlx.DB, options Options) (*Worker, error) {
	if err := options.complete(); err != nil {
		return nil, err
	}
	t, err := store.OpenTables(ctx, db, options.Prefix, options.Resolution, options.Dialect)
	if err != nil {
		return nil, err
	}
	switch a := options.Assignment; {
	case a.Grid().IsZero():
		options.Assignment = slots.All(t.Grid)
	case a.Grid() != t.Grid:
		return nil, fmt.Errorf("%w: the assignment (%s) is for %s, but slot_config has %s", prescient.ErrResolution, a, a.Grid(), t.Grid)
	}
	if batch := t.InOne(options.Load.Batch); batch < options.Load.Batch {
		options.Log.Warn().Int("batch", options.Load.Batch).Msgf("Vitess changes %d rows at most by a statement: the batch is cut to that", batch)
		options.Load.Batch = batch
	}
	w := &Worker{tables: t, options: options, log: options.Log, guards: make(map[string]prescient.Guards),
		bounds: bounds{runs: make(places, maxRuns), sweepers: make(places, 1)}, sweepSoon: bell.New()}
	w.send = &store.Sender{DB: db, Timeout: store.StatementTime(options.Times.Lease), Patience: options.Times.Patience}
	w.backlog = w.newBacklog()
	w.look = &look.Looker{Send: w.send, Tables: &w.tables, Grace: options.Sweep.Grace}
	w.watched = watched.New(w.send, &w.tables)
	w.ledger = w.newLedger()
	w.purge = &purge.Purge{Send: w.send, Tables: &w.tables, Log: w.log, For: w.options.putOff(), MostOthers: purge.MostOthers}
	w.shared = w.newShared()
	if o := options.Observer; o != nil {
		w.shared.Executor.Calling = o.Calling
	}
	w.known = &known.Teller{Send: w.send, Tables: &w.tables, Worker: options.Name, Execs: known.Of(options.Registry, options.Guards)}
	w.bounds.tails = make(places, w.buckets())
	if w.send.Limited() {
		w.bounds.tails = nil // each takes a connection
		w.shared.Senders = make(chan struct{}, w.buckets())
	}
	for name, lane := range w.shared.Executor.Lanes {
		w.guards[name] = lane.Guards
		w.shared.Crowds[name] = new(bucket.Crowd)
	}
	if options.Sweep.Rate > 0 {
		w.sweeps = rate.NewLimiter(rate.Limit(options.Sweep.Rate), max(options.Load.Batch, int(options.Sweep.Rate)))
	}
	return w, nil
}

func (w *Worker) newLedger() *ledger.Ledger {
	return &ledger.Ledger{Send: w.send.ForLeases(), Tables: &w.tables, Worker: w.options.Name, TTL: lease.Bound(w.options.Times.Lease), Batch: w.options.Load.Batch, Parallel: w.buckets(),
		Log: w.log, Committed: w.observesCommits()}
}

func (w *Worker) newShared() *bucket.Shared {
	return &bucket.Shared{Writer: &commit.Writer{Send: w.send, Tables: &w.tables, Ledger: w.ledger, Worker: w.options.Name, Log: w.log},
		Executor: execute.New(w.options.Load.Concurrency, w.options.Registry, w.options.Guards), Crowds: make(map[string]*bucket.Crowd), Guards: w.guardsOf, Observe: w.observeAnswers, OnRoom: w.leaveToSweeper, Batch: w.options.Load.Batch,
		Parallel: w.buckets(), Senders: make(chan struct{}, cmp.Or(w.options.Load.Buckets, DefaultFarBuckets))}
}
