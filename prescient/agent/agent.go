package agent

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/rs/zerolog"

	"prescient/prescient"
	"prescient/prescient/internal/errno"
	"prescient/prescient/internal/store"
	"prescient/slots"
	text "prescient/sql"
)

// When an agent is heard of, and when it is not any more.
const (
	// Every is how often an agent is heard of at least, by one statement; a tenth longer at most, so that they do not all come at once.
	Every = 30 * time.Second
	// DeadAfter is how long an agent is not heard of until it counts as dead.
	DeadAfter = 2 * Every
	// ForgottenAfter is how long an agent is not heard of until its row goes away.
	ForgottenAfter = 24 * time.Hour

	statementTime = 5 * time.Second
	forgetEvery   = time.Hour
)

// Kind is what an agent is.
type Kind string

// The kinds. A timer comes and goes, and leaves its row for the time in between.
const (
	Work  Kind = "work"  // it stays up
	Run   Kind = "run"   // a timer, which runs the slot that is now
	Sweep Kind = "sweep" // a timer, which sweeps
)

// Options are for New; zero fields mean the defaults.
type Options struct {
	// Prefix of the table names; empty by default.
	Prefix string
	// Dialect is [text.Auto] by default: what the server can do.
	Dialect text.Dialect
	// Kind is Work by default.
	Kind Kind
	// Name of the agent, at most 64 characters: that of its worker, which is no other's at the same time. Two agents of one name have two
	// rows all the same. Timers of one name that serve the same slots are one timer, whatever process they are; without a name it has that of
	// its kind.
	Name string
	// Version of the program, at most 64 characters.
	Version string
	// Assignment says which slots it serves; the zero value is all of them, as of a worker.
	Assignment slots.Assignment
	// Every is how often a timer of Sweep comes, as far as that is known. What it is seen to do counts where that is more.
	Every time.Duration
	// Pools are those whose long runs it takes, and how many of each. A timer waits for none.
	Pools map[string]int
	// Concurrency is how many calls it makes at a time.
	Concurrency int
	// Connections is how many connections to the database its process has at most; 0 for no bound.
	Connections int
	// Calling is for how long it has called all in all, every call counted: the worker's CallTime. Nil for never.
	Calling func() time.Duration
	// LongRuns is how many long runs it has in hand; nil for none.
	LongRuns func() int
	// Log has a line at warn where a heartbeat cannot be written. The zero value is silent.
	Log zerolog.Logger
}

// Agent is this process, as others see it. It is for concurrent use.
type Agent struct {
	options  Options
	db       *sqlx.DB
	tables   store.Tables
	instance uint64
	host     string
	pools    []byte

	began time.Time
	timer *timer // nil for what stays up

	stopping chan struct{}
	stop     sync.Once

	mu     sync.Mutex
	busy   share         // of its concurrency, between heartbeats
	drains bool          // that is wanted of it
	turned chan struct{} // is closed once that changes; nil where nobody asked
}

// New makes an agent, which registers when it is run. db is a pool that connect.Open made. The error wraps
// prescient.ErrNotMigrated, prescient.ErrInvalid or what the server says.
func New(ctx context.Context, db *sqlx.DB, o Options) (*Agent, error) {
	o.Kind = cmp.Or(o.Kind, Work)
	if !slices.Contains([]Kind{Work, Run, Sweep}, o.Kind) {
		return nil, fmt.Errorf("%w: kind %.20q of an agent; allowed are %s, %s and %s", prescient.ErrInvalid, o.Kind, Work, Run, Sweep)
	}
	if o.Name == "" && o.Kind != Work {
		o.Name = string(o.Kind)
	}
	if o.Name == "" {
		return nil, fmt.Errorf("%w: an agent needs a name; give the name of its worker", prescient.ErrInvalid)
	}
	for _, of := range []struct{ what, text string }{{"name", o.Name}, {"version", o.Version}} {
		if err := prescient.ValidText(of.what+" of an agent", of.text, 64); err != nil {
			return nil, err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(o.Pools)) {
		capacity := o.Pools[name]
		if err := prescient.ValidIdentifier("pool", name); err != nil {
			return nil, err
		}
		if capacity < 1 {
			return nil, fmt.Errorf("%w: capacity %d of the pool %s; at least 1 is allowed", prescient.ErrInvalid, capacity, name)
		}
	}
	if o.Connections < 0 || o.Connections > math.MaxInt32 {
		return nil, fmt.Errorf("%w: connections %d of an agent; 0 to 2147483647 are allowed", prescient.ErrInvalid, o.Connections)
	}
	if o.Concurrency < 0 || o.Concurrency > math.MaxInt32 {
		return nil, fmt.Errorf("%w: concurrency %d of an agent; 0 to 2147483647 are allowed", prescient.ErrInvalid, o.Concurrency)
	}
	if o.Pools == nil || o.Kind != Work {
		o.Pools = map[string]int{}
	}
	t, err := store.OpenTables(ctx, db, o.Prefix, 0, o.Dialect)
	if err != nil {
		return nil, err
	}
	switch {
	case o.Kind == Sweep:
		o.Assignment = slots.Assignment{} // it has no slots of its own
	case o.Assignment == (slots.Assignment{}):
		o.Assignment = slots.All(t.Grid)
	}
	a := &Agent{options: o, db: db, tables: t, instance: rand.Uint64() >> 1, host: hostName(), stopping: make(chan struct{}), began: time.Now()}
	if o.Kind != Work {
		a.timer, a.instance = new(timer), instanceOf(o.Kind, o.Assignment)
	}
	a.busy = share{of: o.Concurrency, at: a.began}
	if o.Calling != nil {
		a.busy.called = o.Calling()
	}
	a.pools, err = json.Marshal(o.Pools)
	return a, err
}

// Stopping has others know that the agent starts nothing new. It returns at once.
func (a *Agent) Stopping() { a.stop.Do(func() { close(a.stopping) }) }

// Busy is the share of the concurrency that was in use between the last two heartbeats, 0 to 1.
func (a *Agent) Busy() float64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.busy.last
}

// Run registers the agent, and has it heard of until ctx ends; then its row goes away, but for that of a timer, which is to come again. It
// tries again what fails, sooner than the next heartbeat is due, and says so in the log once for each time that it begins to fail.
func (a *Agent) Run(ctx context.Context) {
	var forgotten time.Time
	stopping, failing := a.stopping, false
	wait := time.Duration(0)
	for {
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			a.leave(forgotten.IsZero())
			return
		case <-stopping:
			timer.Stop()
			stopping = nil
		case <-timer.C:
		}
		drains, err := a.beat(ctx, stopping == nil)
		if err == nil && a.turn(drains) && ctx.Err() == nil {
			_, err = a.beat(ctx, stopping == nil) // others know at once that it was heard
		}
		if err == nil && time.Since(forgotten) >= forgetEvery {
			forgotten = time.Now()
			err = a.forget(ctx)
		}
		wait = Every + rand.N(Every/10)
		if err != nil && ctx.Err() == nil {
			if !failing {
				a.options.Log.Warn().Err(err).Msg("the agent could not write its heartbeat: others soon take the agent for dead, but it goes on working")
			}
			if errno.Passing(err) || errors.Is(err, context.DeadlineExceeded) {
				wait = Every / 10
			}
		}
		failing = err != nil
	}
}

// beat registers the agent, or has it heard of, and says whether it is to drain.
func (a *Agent) beat(ctx context.Context, stops bool) (drains bool, err error) {
	o := a.options
	var called time.Duration
	if o.Calling != nil {
		called = o.Calling()
	}
	runs := 0
	if o.LongRuns != nil {
		runs = o.LongRuns()
	}
	a.mu.Lock()
	busy := a.busy.since(time.Now(), called)
	stops = stops || a.drains
	a.mu.Unlock()
	return a.write(ctx, busy, runs, stops, o.Connections)
}

// write writes the row of the agent, and says whether it is to drain.
func (a *Agent) write(ctx context.Context, busy float64, runs int, stops bool, connections int) (drains bool, err error) {
	due, err := a.due(ctx)
	if err != nil {
		return false, err
	}
	o := a.options
	done, err := a.exec(ctx, "agent/beat", o.Name, a.instance, o.Kind, a.host, os.Getpid(), o.Version, o.Assignment.String(), string(a.pools), o.Concurrency,
		busy, runs, hostLoad(), memory(), time.Now().UTC(), stops, time.Since(a.began).Microseconds(), connections, due)
	if err != nil {
		return false, err
	}
	wanted, err := done.LastInsertId()
	return wanted == toDrain, err
}

// leave takes the row away, or has that of a timer wait for the next time. Where that fails the agent counts as dead
// after a while. A timer may have to forget the dead yet: where there is nothing else nobody does.
func (a *Agent) leave(forget bool) {
	ctx := context.Background()
	if a.timer != nil {
		_, err := a.write(ctx, 0, 0, false, 0)
		if err == nil && forget {
			err = a.forget(ctx)
		}
		if err != nil {
			a.options.Log.Warn().Err(err).Msg("the timer could not write its heartbeat: others soon take the timer for dead")
		}
		return
	}
	if _, err := a.exec(ctx, "agent/leave", a.options.Name, a.instance); err != nil {
		a.options.Log.Warn().Err(err).Msg("the agent could not write that it ends: others take the agent for dead")
	}
}

// forget takes away what the dead have left.
func (a *Agent) forget(ctx context.Context) error {
	_, err := a.exec(ctx, "agent/forget", ForgottenAfter.Microseconds(), ForgottenAfter.Microseconds())
	return err
}

// exec runs a statement to its end, also where ctx ends before that: one that was given up the server may still do, after the row was taken away.
func (a *Agent) exec(ctx context.Context, statement string, args ...any) (sql.Result, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), statementTime)
	defer cancel()
	done, err := a.db.ExecContext(store.Vital(ctx), a.tables.Stmt.Get(statement), args...)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", statement, err)
	}
	return done, nil
}
