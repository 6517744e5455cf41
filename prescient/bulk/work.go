package bulk

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/jmoiron/sqlx"

	"prescient/prescient"
	"prescient/prescient/audit"
	"prescient/prescient/client"
	"prescient/prescient/internal/duty"
	"prescient/prescient/internal/store"
)

const (
	// term is how long the lease of a bulk run lasts: for so long at most it rests when its process died.
	term = 30 * time.Second
	// batch is how many checks a transaction takes.
	batch = 500
	// requeueBatch is how many ends a transaction takes: they are read with their payloads.
	requeueBatch = 100
	// searched is how many rows a step looks at for them.
	searched = 100_000
	// MaxPasses is how often all is looked at for the sake of what was left out.
	MaxPasses = 5
	// betweenPasses is how long those that have checks locked have time, before the second pass; before the third twice as long, and so on.
	betweenPasses = time.Second
	// stepTries is how often a step is tried that the server broke off.
	stepTries = 5
)

// Work works off what is under way, each deed for ten seconds in turn, until nothing is left that no other process has. worker names this one.
// after, where it is not nil, is called after each step. The error says what stopped one; that stays under way, for it or another, and the others are
// worked off all the same.
func (b *Bulk) Work(ctx context.Context, db *sqlx.DB, worker string, after func(Run)) error {
	numbers, err := store.Rows(ctx, db, "looking for bulk runs", b.tables.Stmt.Get("bulk/waiting"), func(n *uint64) []any { return []any{n} })
	return errors.Join(err, duty.InTurns(ctx, numbers, func(number uint64, until time.Time) (over, taken bool, err error) {
		return b.work(ctx, db, number, worker, until, after)
	}))
}

// WorkOn works one deed off, until it is over. It is false where another has it, or where it is only a preview.
func (b *Bulk) WorkOn(ctx context.Context, db *sqlx.DB, number uint64, worker string, after func(Run)) (over bool, err error) {
	over, _, err = b.work(ctx, db, number, worker, time.Time{}, after)
	return over, err
}

// work works a deed off for as long as it may, or until it is over; taken says whether it was there to be worked off.
func (b *Bulk) work(ctx context.Context, db *sqlx.DB, number uint64, worker string, until time.Time, after func(Run)) (over, taken bool, err error) {
	run, err := b.Get(ctx, db, number)
	if err != nil || run.StartedAt == nil || run.EndedAt != nil {
		if err == nil && after != nil {
			after(run)
		}
		return run.EndedAt != nil, false, err
	}
	held, err := duty.Try(ctx, db, b.tables, "bulk/"+strconv.FormatUint(number, 10), worker, term)
	if err != nil || held == nil {
		return false, false, err
	}
	defer func() {
		if lost := held.Release(ctx); err == nil && !over {
			err = lost
		}
	}()
	for broken := 0; ; {
		run, err := b.Get(ctx, db, number)
		if err != nil {
			return false, true, err
		}
		if after != nil {
			after(run)
		}
		if run.EndedAt != nil {
			return true, true, nil
		}
		if err := held.Keep(ctx); err != nil || !until.IsZero() && time.Now().After(until) {
			return false, true, err
		}
		began := time.Now()
		s := step{Bulk: b, db: db, held: held, run: run}
		doing := audit.With(ctx, audit.By{Person: run.Person, Reason: run.Reason, Host: run.Host, Command: "bulk"})
		rest, err := s.do(doing)
		switch {
		case err == nil:
			broken = 0
		case errors.Is(err, errStopped): // the next look shows that
		case client.BeginAgain(err) && broken < stepTries:
			broken++
		case errors.Is(err, prescient.ErrInvalid), errors.Is(err, prescient.ErrBeyondHorizon):
			if err := s.end(doing, err.Error()); err != nil {
				return false, true, err
			}
		default:
			return false, true, fmt.Errorf("bulk run %d: %w", number, err)
		}
		if err := store.Sleep(ctx, max(rest, time.Since(began))); err != nil { // a guest takes half of the time at most
			return false, true, err
		}
	}
}
