package delayq

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/jmoiron/sqlx"

	"prescient/prescient"
	"prescient/prescient/client"
	"prescient/prescient/worker"
)

// EntityName is the entity_name of all that is delayed; its entity_key is the id.
const EntityName = "delayq"

const (
	// DefaultName of a queue.
	DefaultName = "delayq"
	// DefaultTimeout of a call of handle. It is long, since a handle that knows no context cannot be told to give up.
	DefaultTimeout = 10 * time.Minute
	// RetryWithin is how long data waits at most after an error of handle, or one slot where a slot is longer.
	RetryWithin = time.Minute
)

// Options are for New; the zero value is usable.
type Options struct {
	// Name of the queue, an identifier: the job_exec of what is delayed. DefaultName by default.
	Name string
	// Client says where the tables are: Prefix, Dialect and Resolution. Its Guards and Registry are not used.
	Client client.Options
	// Worker is how Run works: its Log, Load, Times and so on. It works on the tables that Client names. Its Registry
	// is made by Run, and has to be nil here.
	Worker worker.Options
	// Timeout is how long a call of handle may take; DefaultTimeout by default. After it the call counts as an error, and handle
	// is called again, even where it ignored the end of its context and still runs.
	Timeout time.Duration
	// Concurrency is how many calls of handle run at a time in one worker; half of the worker's by default. 1 for one after the
	// other.
	Concurrency int
}

// DelayQueue is a queue of data that is ready at some time. It is for concurrent use.
type DelayQueue struct {
	options Options
	db      *sqlx.DB
	client  *client.Client
	stopped context.Context // done once Stop was called
	stop    context.CancelFunc
}

// New returns the queue of a name on a pool. For Run the pool has to be one of connect.Open; a queue that only delays and
// cancels takes any. It reads slot_config. The error wraps prescient.ErrNotMigrated, prescient.ErrResolution or
// prescient.ErrInvalid.
func New(ctx context.Context, db *sqlx.DB, options Options) (*DelayQueue, error) {
	options.Name = cmp.Or(options.Name, DefaultName)
	options.Timeout = cmp.Or(options.Timeout, DefaultTimeout)
	if err := options.validate(db); err != nil {
		return nil, err
	}
	q := &DelayQueue{options: options, db: db}
	options.Client.Guards, options.Client.Registry = q.Guards(), nil
	var err error
	if q.client, err = client.New(ctx, db, options.Client); err != nil {
		return nil, fmt.Errorf("delayq %s: %w", options.Name, err)
	}
	q.stopped, q.stop = context.WithCancel(context.Background())
	return q, nil
}

func (o *Options) validate(db *sqlx.DB) error {
	if err := prescient.ValidIdentifier("name of the queue", o.Name); err != nil {
		return fmt.Errorf("delayq: %w", err)
	}
	if err := o.guards().Validate(); err != nil {
		return fmt.Errorf("delayq %s: %w", o.Name, err)
	}
	w := &o.Worker
	switch {
	case db == nil:
		return fmt.Errorf("delayq %s: %w: there is no pool: want one of connect.Open", o.Name, prescient.ErrInvalid)
	case w.Registry != nil:
		return fmt.Errorf("delayq %s: %w: Worker.Registry is made by Run: for a worker that has more than the queue, use Register",
			o.Name, prescient.ErrInvalid)
	case w.Prefix != "" && w.Prefix != o.Client.Prefix, w.Dialect != "" && w.Dialect != o.Client.Dialect,
		w.Resolution != 0 && w.Resolution != o.Client.Resolution:
		return fmt.Errorf("delayq %s: %w: Worker has Prefix %q, Dialect %q and Resolution %s, Client %q, %q and %s: give them in Client",
			o.Name, prescient.ErrInvalid, w.Prefix, w.Dialect, w.Resolution, o.Client.Prefix, o.Client.Dialect, o.Client.Resolution)
	}
	return nil
}

// guards are those of the queue's job_exec.
func (o *Options) guards() prescient.Guards {
	return prescient.Guards{Timeout: o.Timeout, RetryWithin: RetryWithin, Endless: true, Concurrency: o.Concurrency}
}

// Name returns the name of the queue, which is its job_exec.
func (q *DelayQueue) Name() string { return q.options.Name }

// Guards returns those under which Register registers the queue: it never ends by a guard, and is retried within RetryWithin.
// They are for those who register a prescient.TxFunc, or another form, under the name of the queue.
func (q *DelayQueue) Guards() prescient.Guards { return q.options.guards() }

// EntityOf returns the entity of what was delayed under an id, for methods of a client.Client such as Get.
func EntityOf(id string) prescient.Entity { return prescient.Entity{Name: EntityName, Key: id} }
