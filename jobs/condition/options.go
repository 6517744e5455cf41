package condition

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/jmoiron/sqlx"

	"prescient/jobs/condition/expression"
	"prescient/prescient"
	"prescient/prescient/event"
)

// Options are for New. Read, Table, Column, Key and While are needed, and an action: Topics, Set, both of them, or Call.
type Options struct {
	// Read is where the condition is asked: a pool of connect.Open, of an account that may only read.
	Read *sqlx.DB
	// Table is that of the entities, with or without its database, and Column the one that has their keys.
	Table, Column string
	// Key is Int or Text. A server would take 42abc for 42.
	Key Key
	// While is the condition: an expression, which holds as long as the thing has not happened.
	While string

	// Topics are those that an event is published to: the first one at the first time, the second one at the second, the last one from then on.
	Topics []string
	// Events is where it is published.
	Events *event.Outbox
	// Set is what an UPDATE of the rows assigns, in the transaction of the checks, as events are published: exactly once. The rows are locked before, and
	// the condition is asked again: what has changed since the look is settled, and what another transaction has locked is an error. Each key is
	// counted, so the column has to be a primary key or a unique index alone.
	Set string
	// Write is the pool of the worker, on whose connections that is done. Its account needs SELECT and UPDATE on the table.
	Write *sqlx.DB
	// Call is called for each entity, at least once, such as Check of package http. A time that it answers with is the next one.
	Call prescient.Func

	// Again are the times from one action to the next, and Every is the one after those. Without either the first action is the last.
	Again []time.Duration
	Every time.Duration
	// Scan allows a condition that reads a whole table.
	Scan bool
	// Timeout is that of the guards; 30 s by default. Looking takes half of it at most, and never more than 5 s.
	Timeout time.Duration
}

// mostLook is how long looking takes at most, while the rows of the checks may be locked.
const mostLook = 5 * time.Second

// LookTime is how long looking takes at most, where calls have a timeout: what the server is to be told, too.
func LookTime(timeout time.Duration) time.Duration {
	if timeout <= 0 {
		timeout = prescient.DefaultGuards().Timeout
	}
	return min(timeout/2, mostLook)
}

// Condition is a job_exec that looks whether entities still meet a condition, and acts on those that do. It is for concurrent use.
type Condition struct {
	options Options
	look    time.Duration

	loading chan struct{} // has room for one
	column  atomic.Pointer[column]
}

// New returns a condition. It does not connect: see Load. The error wraps prescient.ErrInvalid.
func New(o Options) (*Condition, error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	return &Condition{options: o, look: LookTime(o.Timeout), loading: make(chan struct{}, 1)}, nil
}

func (o *Options) validate() error {
	refuse := func(format string, args ...any) error {
		return fmt.Errorf("condition: %w: "+format, append([]any{prescient.ErrInvalid}, args...)...)
	}
	if err := expression.Table(o.Table); err != nil {
		return refuse("Table %.200q: %w", o.Table, err)
	}
	if err := expression.Column(o.Column); err != nil {
		return refuse("Column %.200q: %w", o.Column, err)
	}
	if err := expression.Condition(o.While); err != nil {
		return refuse("While %.200q: %w", o.While, err)
	}
	if o.Set != "" {
		if err := expression.Assignments(o.Set); err != nil {
			return refuse("Set %.200q: %w", o.Set, err)
		}
	}
	for _, topic := range o.Topics {
		if err := (event.Event{ID: "id", Key: "key", Topic: topic}).Validate(); err != nil {
			return refuse("Topics: %w", err)
		}
	}
	switch {
	case o.Read == nil:
		return refuse("Read is missing")
	case o.Key != Int && o.Key != Text:
		return refuse("Key %.40q: %s and %s are allowed", o.Key, Int, Text)
	case len(o.Topics) == 0 && o.Set == "" && o.Call == nil:
		return refuse("nothing is to be done; want Topics, Set or Call")
	case o.Call != nil && (len(o.Topics) > 0 || o.Set != ""):
		return refuse("Call is not allowed beside Topics and Set, which commit with the checks")
	case len(o.Topics) > 0 && o.Events == nil:
		return refuse("Topics need Events")
	case o.Set != "" && o.Write == nil:
		return refuse("Set needs Write")
	case o.Every < 0 || slices.ContainsFunc(o.Again, func(d time.Duration) bool { return d <= 0 }):
		return refuse("Again %s, Every %s: only positive times are allowed", o.Again, o.Every)
	case o.Timeout < 0:
		return refuse("Timeout %s: must not be negative (0 for that of the guards)", o.Timeout)
	}
	return nil
}

// Register adds the condition to a registry, as the job_exec of a name.
func (c *Condition) Register(registry *prescient.Registry, name string, guards prescient.Guards) error {
	if c.options.Call != nil {
		return registry.RegisterBatch(name, c.calls, guards)
	}
	return registry.RegisterTxBatch(name, c.inTx, guards)
}

// next is when an entity that was acted on is looked at again; nil for not. It counts from the time that was asked for, so that it does not wander
// with slots and lateness, and is never in the slot of the action itself.
func (o *Options) next(job prescient.FutureJob) *time.Time {
	in := o.Every
	if job.CheckCount < len(o.Again) {
		in = o.Again[job.CheckCount]
	}
	if in <= 0 {
		return nil
	}
	at := job.DueAt.Add(in)
	if !at.After(job.NextCheckAt) {
		at = job.NextCheckAt.Add(time.Microsecond)
	}
	return &at
}

// topic is where the event of a check goes.
func (o *Options) topic(job prescient.FutureJob) string {
	return o.Topics[min(job.CheckCount, len(o.Topics)-1)]
}

// answer answers for a row that was acted on.
func answer(batch *prescient.Batch, row int, next *time.Time) {
	if next == nil {
		batch.Settle(row)
	} else {
		batch.Next(row, *next)
	}
}

// Load finds out how the column is reached, and has the servers explain the statements: one is refused that has no index which begins with the column, or
// reads more than 1,000 rows of a table that no key leads to. The error wraps prescient.ErrInvalid where the condition can
// not be used as it is; anything else, such as a server that is away, may pass: then the first call loads it.
func (c *Condition) Load(ctx context.Context) error {
	_, err := c.load(ctx)
	return err
}

func (c *Condition) load(ctx context.Context) (*column, error) {
	if known := c.column.Load(); known != nil {
		return known, nil
	}
	select {
	case c.loading <- struct{}{}:
		defer func() { <-c.loading }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	if known := c.column.Load(); known != nil { // somebody else has loaded it
		return known, nil
	}
	o := &c.options
	found, err := find(ctx, question{o.Read, o.Write, o.Table, o.Column, o.Key, o.While, o.Set, o.Scan})
	if err != nil {
		return nil, fmt.Errorf("loading the condition on %s: %w", o.Table, err)
	}
	c.column.Store(found)
	return found, nil
}

// forget has the next call load the column anew.
func (c *Condition) forget(f *column) { c.column.CompareAndSwap(f, nil) }
