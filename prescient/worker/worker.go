package worker

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"os"
	"sync/atomic"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/rs/zerolog"
	"golang.org/x/time/rate"

	"prescient/slots"
	text "prescient/sql"

	"prescient/prescient"
	"prescient/prescient/internal/errno"
	"prescient/prescient/internal/store"

	"prescient/prescient/worker/internal/commit"
	"prescient/prescient/worker/internal/execute"
	"prescient/prescient/worker/internal/ledger"

	"prescient/prescient/worker/internal/bucket"
)

// Defaults of Options.
const (
	DefaultConcurrency = 32
	DefaultBuckets     = 4
	DefaultFarBuckets  = 8 // at most, where the server is far away
	DefaultBatch       = 2000
	DefaultStopGrace   = 20 * time.Second
	DefaultPatience    = 2 * time.Minute
)

// Options are for New; zero fields mean the defaults.
type Options struct {
	// Prefix of the table names; empty by default.
	Prefix string
	// Dialect is [text.Auto] by default: what the server can do. [text.Plain] keeps to what servers have that are neither
	// MySQL nor MariaDB.
	Dialect text.Dialect
	// Resolution of the slots. Zero takes that of slot_config; any other must be the same.
	Resolution time.Duration
	// Registry holds the job_execs. A row whose job_exec is not in it is put off, never ended.
	Registry *prescient.Registry
	// Guards of the installation, for job_execs that have none of their own.
	Guards prescient.Guards
	// Assignment says which slots Run and Work serve; the zero value is all of them.
	Assignment slots.Assignment
	// Name of this worker in ledger and history, at most 64 characters. It must be no other's at the same time;
	// host:pid:random by default.
	Name string
	// Concurrency is how many job_execs run at a time; 32 by default.
	Concurrency int
	// Buckets is how many buckets of a slot are worked on at a time. By default 4, and one more for each ms of round trip
	// to the server, up to 8, unless the db has a limit of connections. Twice as many as a server nearby has cores is
	// about what pays.
	Buckets int
	// Batch is how many rows of a bucket are in flight at a time, which is what a worker that dies leaves to be called
	// again; 2000 by default, 20000 at most. Half of it is read and committed together: an app that cancels one of those rows
	// waits for that commit. 8000 is faster, on a server that is there for this alone.
	Batch int
	// Lease is for how long a bucket is claimed; it is renewed at a third. 1 minute by default, 2 s at least, MaxLease at most; it should
	// be much larger than the clock skew between the servers of a cluster. The db should be opened with the same.
	Lease time.Duration
	// StopGrace is how long running job_execs may take after the context has ended; 20 s by default.
	StopGrace time.Duration
	// Patience is how long a statement is tried again while the server is away; 2 minutes by default.
	Patience time.Duration
	// SweepEvery is how often Work looks for overdue slots; 1 minute by default, negative for never.
	SweepEvery time.Duration
	// SweepGrace is how old a slot must be for the sweeper; 10 s by default.
	SweepGrace time.Duration
	// SweepRate bounds how many overdue rows a second are caught up; 0 for no bound.
	SweepRate float64
	// PutOffPurge is for how long the server's purge is to wait while a slot of several buckets is run: for the whole server,
	// other applications' tables too. Not at all by default, a third of Lease at most. It is not put off where the db has a
	// limit of connections.
	PutOffPurge time.Duration
	// Observer is told of slot runs and answers; nil for none.
	Observer *Observer
	// Log takes one line a slot run at info, and at warn one for each way in which a job_exec went wrong in it. Work has
	// empty slots at debug, and one line an hour instead. What is returned is not logged. The zero value is silent.
	Log zerolog.Logger
}

// Worker runs slots. It is for concurrent use; a process needs one.
type Worker struct {
	options   Options
	tables    store.Tables
	send      *store.Sender
	ledger    *ledger.Ledger
	shared    *bucket.Shared // what its buckets have in common
	guards    map[string]prescient.Guards
	log       zerolog.Logger
	sweeps    *rate.Limiter // of the rows that are caught up; nil for no bound
	bounds    bounds        // of the slot runs that are under way
	sweepSoon chan struct{} // something was left to the sweeper
	pulse     pulse
	// unregistered are the job_execs that the log has named lately, of rows that are put off for them.
	unregistered namedLately
}

// bounds are of the slot runs that are under way at a time.
type bounds struct {
	runs     places       // of the worker's own slots
	sweepers places       // of the sweeper
	tails    places       // of sweeps that have only to commit
	staying  atomic.Int32 // runs that wait for other workers
}

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
	w := &Worker{tables: t, options: options, log: options.Log, guards: make(map[string]prescient.Guards),
		bounds: bounds{runs: make(places, maxRuns), sweepers: make(places, 1)}, sweepSoon: make(chan struct{}, 1)}
	w.send = &store.Sender{DB: db, Timeout: store.StatementTime(options.Lease), Patience: options.Patience}
	w.ledger = w.newLedger()
	w.shared = w.newShared()
	w.bounds.tails = make(places, w.buckets())
	if w.send.Limited() {
		w.bounds.tails = nil // each takes a connection
		w.shared.Senders = make(chan struct{}, w.buckets())
	}
	if t.Server == text.MariaDB && t.Dialect != text.Plain {
		switch err := w.mayReadHistory(ctx); {
		case err == nil:
			w.shared.OnePass.Store(true)
		case errno.Is(err, errno.TableDenied, errno.ColumnDenied):
			w.log.Debug().Msg("ends would take less time if the account were granted SELECT on job_history")
		default:
			return nil, err
		}
	}
	for name, lane := range w.shared.Executor.Lanes {
		w.guards[name] = lane.Guards
		w.shared.Crowds[name] = new(bucket.Crowd)
	}
	if options.SweepRate > 0 {
		w.sweeps = rate.NewLimiter(rate.Limit(options.SweepRate), max(options.Batch, int(options.SweepRate)))
	}
	return w, nil
}

func (w *Worker) newLedger() *ledger.Ledger {
	return &ledger.Ledger{Send: w.send, Tables: &w.tables, Worker: w.options.Name, TTL: w.options.Lease, Batch: w.options.Batch, Parallel: w.buckets(),
		Log: w.log}
}

func (w *Worker) newShared() *bucket.Shared {
	return &bucket.Shared{Writer: &commit.Writer{Send: w.send, Tables: &w.tables, Ledger: w.ledger, Worker: w.options.Name, Log: w.log},
		Executor: execute.New(w.options.Concurrency, w.options.Registry, w.options.Guards), Crowds: make(map[string]*bucket.Crowd), Guards: w.guardsOf, Observe: w.observeAnswers, Batch: w.options.Batch,
		Parallel: w.buckets(), Senders: make(chan struct{}, cmp.Or(w.options.Buckets, DefaultFarBuckets))}
}

// complete fills in the defaults and checks the rest.
func (o *Options) complete() error {
	o.Guards = o.Guards.Or(prescient.DefaultGuards())
	o.Concurrency = cmp.Or(o.Concurrency, DefaultConcurrency)
	o.Guards.Concurrency = cmp.Or(o.Guards.Concurrency, max(o.Concurrency/2, 1))
	o.Batch = cmp.Or(o.Batch, DefaultBatch)
	o.Lease = cmp.Or(o.Lease, prescient.DefaultLease)
	o.StopGrace = cmp.Or(o.StopGrace, DefaultStopGrace)
	o.Patience = cmp.Or(o.Patience, DefaultPatience)
	o.SweepEvery = cmp.Or(o.SweepEvery, prescient.DefaultSweepEvery)
	o.SweepGrace = cmp.Or(o.SweepGrace, prescient.DefaultSweepGrace)
	if o.Name == "" {
		o.Name = newWorkerName()
	}
	if o.Registry == nil {
		o.Registry = prescient.NewRegistry()
	}
	if err := o.Guards.Validate(); err != nil {
		return err
	}
	if err := prescient.ValidText("worker name", o.Name, 64); err != nil {
		return err
	}
	for _, r := range []struct {
		what         string
		n, low, high int64
	}{
		{"concurrency", int64(o.Concurrency), 1, 10000},
		{"buckets", int64(o.Buckets), 0, ledger.MaxBuckets},
		{"batch", int64(o.Batch), 1, 20000},
		{"lease (ms)", o.Lease.Milliseconds(), 2000, prescient.MaxLease.Milliseconds()},
		{"stop grace (ms)", o.StopGrace.Milliseconds(), 1, int64(time.Hour / time.Millisecond)},
		{"patience (ms)", o.Patience.Milliseconds(), 1, int64(24 * time.Hour / time.Millisecond)},
		{"sweep grace (ms)", o.SweepGrace.Milliseconds(), 1, int64(24 * time.Hour / time.Millisecond)},
	} {
		if r.n < r.low || r.n > r.high {
			return fmt.Errorf("%w: worker %s %d: %d to %d are allowed", prescient.ErrInvalid, r.what, r.n, r.low, r.high)
		}
	}
	if o.SweepRate < 0 {
		return fmt.Errorf("%w: worker sweep rate %v: must be positive, or 0 for no bound", prescient.ErrInvalid, o.SweepRate)
	}
	return nil
}

func newWorkerName() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	if len(host) > 40 {
		host = host[:40]
	}
	random := make([]byte, 3)
	_, _ = rand.Read(random) // it never fails
	return fmt.Sprintf("%s:%d:%s", host, os.Getpid(), hex.EncodeToString(random))
}

// Name returns the worker's name in ledger and history.
func (w *Worker) Name() string { return w.options.Name }

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
	seen, err := w.stateNow(ctx)
	return seen.clock.Now(), err
}

// stateNow asks what time it is, and what is paused.
func (w *Worker) stateNow(ctx context.Context) (slotState, error) {
	seen, err := w.readState(ctx, time.Unix(0, 0).UTC()) // a slot that has no rows
	if err != nil {
		return slotState{}, fmt.Errorf("reading the database's clock: %w", err)
	}
	return seen, nil
}

// clockAndDue asks whether anything is due at a slot, and what time it is.
func (w *Worker) clockAndDue(ctx context.Context, slot time.Time) (c store.Clock, due bool, err error) {
	seen, err := w.stateOf(ctx, slot)
	return seen.clock, seen.due, err
}

// slotState is what one look at a slot shows.
type slotState struct {
	clock  store.Clock
	due    bool
	paused store.Pauses
}

// stateOf looks at a slot.
func (w *Worker) stateOf(ctx context.Context, slot time.Time) (slotState, error) {
	seen, err := w.readState(ctx, slot)
	if err != nil {
		return slotState{}, fmt.Errorf("looking at slot %s: %w", slots.Stamp(slot), err)
	}
	return seen, nil
}

func (w *Worker) readState(ctx context.Context, slot time.Time) (seen slotState, err error) {
	err = w.send.Query(ctx, func(ctx context.Context) error {
		var now time.Time
		var version uint64
		var paused []byte
		if err := w.send.DB.QueryRowContext(ctx, w.tables.Stmt.Get("slotrun/look"), slot).Scan(&now, &seen.due, &version, &paused); err != nil {
			return err
		}
		seen.clock = store.ClockAt(now)
		if err := w.tables.SameVersion(version); err != nil {
			return err
		}
		seen.paused, err = store.ReadPauses(paused)
		return err
	})
	return seen, err
}

// scope returns contexts that outlast the end of ctx: calls for as long as running job_execs may take, work for the
// commits after that.
func (w *Worker) scope(ctx context.Context) (calls, work context.Context, cancel func()) {
	calls, cancelCalls := context.WithCancel(context.WithoutCancel(ctx))
	work, cancelWork := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		time.AfterFunc(w.options.StopGrace, cancelCalls)
		time.AfterFunc(w.options.StopGrace+w.send.Timeout, cancelWork)
	})
	return calls, work, func() {
		stop()
		cancelCalls()
		cancelWork()
	}
}

// mayReadHistory says whether the account has the right to, which INSERT … RETURNING takes.
func (w *Worker) mayReadHistory(ctx context.Context) error {
	rows, err := w.send.DB.QueryContext(ctx, w.tables.Stmt.Get("slotrun/history_rights"))
	if err != nil {
		return fmt.Errorf("asking for the rights on job_history: %w", err)
	}
	return rows.Close()
}
