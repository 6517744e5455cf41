package longrun

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/jmoiron/sqlx"

	"prescient/prescient"
	"prescient/prescient/internal/lease"
	"prescient/prescient/internal/store"
	"prescient/prescient/longrun/internal/claimer"
)

// New reads slot_config on a pool that was made by connect.Open, as that of a worker is. The error wraps
// prescient.ErrNotMigrated, prescient.ErrInvalid or what the server says.
func New(ctx context.Context, db *sqlx.DB, o Options) (*Runner, error) {
	o.Lease, o.Capacity = cmp.Or(o.Lease, prescient.DefaultLease), cmp.Or(o.Capacity, DefaultCapacity)
	switch {
	case o.Name == "":
		return nil, fmt.Errorf("%w: a runner of long runs needs a name: that of the worker beside it", prescient.ErrInvalid)
	case o.Lease < minLease || o.Lease > prescient.MaxLease:
		return nil, fmt.Errorf("%w: lease %s of long runs: %s to %s are allowed", prescient.ErrInvalid, o.Lease, minLease, prescient.MaxLease)
	case o.Capacity < 0:
		return nil, fmt.Errorf("%w: capacity %d of long runs: must be positive (0 for %d)", prescient.ErrInvalid, o.Capacity, DefaultCapacity)
	}
	if err := validPools(o.Pools); err != nil {
		return nil, err
	}
	o.Lease = lease.Bound(o.Lease)
	if err := prescient.ValidText("name of a runner", o.Name, 64); err != nil {
		return nil, err
	}
	t, err := store.OpenTables(ctx, db, o.Prefix, 0, o.Dialect)
	if err != nil {
		return nil, err
	}
	r := &Runner{options: o, tables: t, execs: make(map[string]*exec), places: newPlaces(o.Capacity, o.Pools), runs: make(map[prescient.Key]*Run), idle: make(chan struct{}), stopped: make(chan struct{}),
		send:  &store.Sender{DB: db, Timeout: min(store.StatementTime(o.Lease), o.Lease/3), Patience: o.Lease},
		after: func(d time.Duration, do func()) func() bool { return time.AfterFunc(d, do).Stop }}
	r.claimer = claimer.New(caller{r}, claimer.Options{Agent: o.Name, Lease: o.Lease, Pools: append(slices.Sorted(maps.Keys(o.Pools)), ""), Tables: &r.tables, Send: r.send, Stopped: r.stopped,
		WakeUp: o.WakeUp, Log: o.Log})
	return r, nil
}

// validPools refuses what is no name of a pool, and a pool of nothing.
func validPools(pools map[string]int) error {
	for _, name := range slices.Sorted(maps.Keys(pools)) {
		if err := prescient.ValidIdentifier("pool", name); err != nil {
			return err
		}
		if n := pools[name]; n < 1 {
			return fmt.Errorf("%w: capacity %d of the pool %s: must be positive", prescient.ErrInvalid, n, name)
		}
	}
	return nil
}

// Register adds a job_exec whose checks are long runs. Of guards Timeout bounds one call, 0 for no bound, which is not the
// worker's; a run that lapsed more often than MaxErrors ends as crashed, unless it is Endless; the others hold as for any check. Its errors are those
// of Registry.Register.
//
// A nil Runner registers the name as well, for a program that inserts checks and calls none.
func (r *Runner) Register(registry *prescient.Registry, name string, fn Func, guards prescient.Guards) error {
	return r.register(registry, "", name, fn, guards, nil)
}

// RegisterIn is Register for a job_exec whose runs are those of a pool: only agents that serve it have them. A schedule may name
// another one. An empty pool is that of all agents.
func (r *Runner) RegisterIn(pool string, registry *prescient.Registry, name string, fn Func, guards prescient.Guards) error {
	return r.register(registry, pool, name, fn, guards, nil)
}

// RegisterWithEnds is Register for a job_exec that calls others, and keeps books on the ends of its runs: no middleware is around it.
func (r *Runner) RegisterWithEnds(registry *prescient.Registry, name string, fn Func, guards prescient.Guards, onEnd OnEnd) error {
	return r.register(registry, "", name, fn, guards, onEnd)
}

func (r *Runner) register(registry *prescient.Registry, pool, name string, fn Func, guards prescient.Guards, onEnd OnEnd) error {
	if pool != "" {
		if err := prescient.ValidIdentifier("pool", pool); err != nil {
			return fmt.Errorf("job_exec %q: %w", name, err)
		}
	}
	if fn == nil {
		return fmt.Errorf("%w: job_exec %q has no function", prescient.ErrInvalid, name)
	}
	if err := guards.Validate(); err != nil {
		return fmt.Errorf("job_exec %q: %w", name, err)
	}
	timeout := guards.Timeout
	guards = guards.Or(prescient.DefaultGuards())
	guards.Timeout = timeout
	if onEnd == nil {
		fn = around(registry, name, fn)
	}
	e := &exec{Runner: r, name: name, fn: fn, guards: guards, pool: pool, onEnd: onEnd}
	err := registry.RegisterTxBatch(name, e.meet, prescient.Guards{Timeout: startTimeout, Endless: true, Concurrency: startCalls, SLA: guards.SLA})
	if err == nil && r != nil {
		registry.SetLong(name, prescient.Long{Guards: guards, Lease: r.options.Lease, Pool: pool})
		r.mu.Lock()
		defer r.mu.Unlock()
		r.execs[name] = e
	}
	return err
}

// around is a function with the middleware of the registry around each call.
func around(registry *prescient.Registry, name string, fn Func) Func {
	return func(ctx context.Context, run *Run) (next *time.Time, err error) {
		err = registry.Around(ctx, prescient.Call{JobExec: name, Form: prescient.LongRun, Jobs: []prescient.FutureJob{run.Job()}}, func(ctx context.Context) (err error) {
			next, err = fn(ctx, run)
			return err
		})
		return next, err
	}
}

// Function returns the function that was registered under a name, and its guards, whose Timeout is 0 for no bound; nil where there is
// none, as for a job_exec whose checks are no long runs.
func (r *Runner) Function(name string) (Func, prescient.Guards) {
	if r == nil {
		return nil, prescient.Guards{}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	e := r.execs[name]
	if e == nil {
		return nil, prescient.Guards{}
	}
	return e.fn, e.guards
}

// startTimeout is how long starting some hundreds of runs may take, and startCalls for how many batches that is done at a time.
const startTimeout, startCalls = 30 * time.Second, 4
