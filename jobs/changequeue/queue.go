package changequeue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync/atomic"

	"prescient/prescient"
	"prescient/prescient/client"
	"prescient/prescient/longrun"
)

// EntityName is the entity_name of the check of a queue; its entity_key is the queue's name.
const EntityName = "changequeue"

// Change is a row of the table.
type Change struct {
	ID uint64
	// Payload is nil where it is NULL.
	Payload []byte
}

// Queue consumes a table of changes. It is for concurrent use.
type Queue struct {
	options Options
	read    statements

	handled, passed, late atomic.Uint64
	open, held            atomic.Int64

	// Behind which id the next look goes on where one look is not for all: at gaps that were waited for, and at what was passed over.
	lockedTo, watchedTo atomic.Uint64
	below               atomic.Bool // ids below 1 were looked for
}

// New returns a queue. The error wraps prescient.ErrInvalid. Nothing is sent.
func New(options Options) (*Queue, error) {
	if err := options.complete(); err != nil {
		return nil, fmt.Errorf("changequeue %s: %w", options.Name, err)
	}
	return &Queue{options: options, read: statementsOf(options)}, nil
}

// Start makes the check of the queue pending, which is called in the next open slot and from then on for ever. Where it is there already,
// pending or running, it leaves it alone: a program may call it whenever it starts.
func (q *Queue) Start(ctx context.Context, checks *client.Client, db prescient.DB) error {
	_, err := checks.Insert(ctx, db, prescient.NewJob{Entity: q.Entity(), JobExec: q.options.Name, DueAt: prescient.EarliestDue, OnPending: prescient.OnPendingError})
	if err != nil && !errors.Is(err, prescient.ErrPending) {
		return fmt.Errorf("changequeue %s: %w", q.options.Name, err)
	}
	return nil
}

// Entity is what the check of the queue is about.
func (q *Queue) Entity() prescient.Entity {
	return prescient.Entity{Name: EntityName, Key: q.options.Name}
}

// Figures are what a queue has done in this process.
type Figures struct {
	// Handled is how many changes were handled, and committed.
	Handled uint64
	// Passed is how many ids nobody committed within GapWait, nor had under way then; and Late, how many changes came there all the same.
	Passed, Late uint64
	// Open is how many gaps are waited for, and Held how many of those for longer than GapWait, since somebody has something locked there.
	Open, Held int
}

// Figures returns them, for metrics.
func (q *Queue) Figures() Figures {
	return Figures{Handled: q.handled.Load(), Passed: q.passed.Load(), Late: q.late.Load(), Open: int(q.open.Load()), Held: int(q.held.Load())}
}

// from is where a run goes on, and the position of the queue as it is kept.
func (q *Queue) from(ctx context.Context, run *longrun.Run) (at position, kept longrun.Position, err error) {
	if kept, err = run.Position(ctx, q.options.Name); err != nil {
		return at, kept, err
	}
	if kept.Known() {
		at, err = decode(kept.Text, kept.Passed)
		return at, kept, err
	}
	if text := run.Checkpoint(); len(text) > 0 && !isNote(text) { // of a program that kept it there
		at, err = decode(text, nil)
		return at, kept, err
	}
	after := q.options.After
	if payload := run.Job().Payload; len(payload) > 0 && string(payload) != "null" {
		var given struct {
			After *uint64 `json:"after"`
		}
		if err := json.Unmarshal(payload, &given); err != nil || given.After == nil {
			return at, kept, fmt.Errorf(`%w: the payload of the check: want {"after": 42}, or none`, prescient.ErrInvalid)
		}
		after = *given.After
	}
	return startAt(after), kept, nil
}
