package duty

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/errno"
	"prescient/prescient/internal/lease"
	"prescient/prescient/internal/store"
)

// The duties: to sum up history, to make the forecast, and to tell receivers of findings.
const (
	Rollup   = "rollup"
	Forecast = "forecast"
	Notify   = "notify"
)

// ErrLost is returned where another has the duty by now.
var ErrLost = errors.New("another process has taken over")

// Held is a duty that this process has. It is for one goroutine.
type Held struct {
	db     prescient.DB
	tables *store.Tables
	name   string
	token  uint64
	term   lease.Term
}

// Try takes a duty for a term, by the name of the worker that is to be seen in the table. It is nil where another has it.
func Try(ctx context.Context, db prescient.DB, tables *store.Tables, name, worker string, term time.Duration) (*Held, error) {
	h := &Held{db: db, tables: tables, name: name}
	term = lease.Bound(term)
	var seen uint64
	var free, took bool
	asked, err := lease.Take(func(step uint64) (err error) {
		ctx, cancel := context.WithTimeout(ctx, store.StatementTime(term))
		defer cancel()
		err = store.QueryRow(ctx, db, []any{&seen, &free}, tables.Stmt.Get("duty/find"), name)
		switch first := errors.Is(err, sql.ErrNoRows); {
		case err != nil && !first:
			return err
		case first:
			h.token = step
			_, err = db.ExecContext(ctx, tables.Stmt.Get("duty/first"), name, step, worker, term.Microseconds())
			if errno.Is(err, errno.DuplicateKey) { // another was the first
				return nil
			}
			took = err == nil
			return err
		case !free:
			return nil
		}
		h.token = seen + step
		n, err := store.Affected(ctx, db, tables.Stmt.Get("duty/take"), step, worker, term.Microseconds(), name, seen)
		took = n > 0
		return err
	})
	switch {
	case err != nil:
		return nil, fmt.Errorf("taking the duty %s: %w", name, err)
	case !took:
		return nil, nil
	}
	h.term.Begin(asked, term)
	return h, nil
}

// Alive says whether the lease still lives, by this machine's clock.
func (h *Held) Alive() bool { return h.term.Lives(time.Now()) }

// Keep renews the lease where a third of its term is over. The error wraps ErrLost where another has the duty.
func (h *Held) Keep(ctx context.Context) error {
	if !h.term.IsDue(time.Now()) && !h.term.Lost() {
		return nil
	}
	err := lease.Keep([]*Held{h}, func() (func(*Held) lease.Standing, error) {
		ctx, cancel := context.WithTimeout(ctx, store.StatementTime(h.term.TTL()))
		defer cancel()
		n, err := store.Affected(ctx, h.db, h.tables.Stmt.Get("duty/keep"), h.term.TTL().Microseconds(), h.name, h.token)
		return func(*Held) lease.Standing {
			if n == 0 {
				return lease.Gone
			}
			return lease.Kept
		}, err
	})
	if err != nil {
		return fmt.Errorf("keeping the duty %s: %w", h.name, err)
	}
	return h.orLost()
}

// Renewed implements lease.Held.
func (h *Held) Renewed(asked time.Time) { h.term.Renewed(asked) }

// Gone implements lease.Held.
func (h *Held) Gone() { h.term.Lose() }

func (h *Held) orLost() error {
	if h.term.Lost() {
		return fmt.Errorf("%w: the duty %s", ErrLost, h.name)
	}
	return nil
}

// Fence proves, as the first statement of a transaction, that the duty is still this process's: until the transaction is over nobody takes it.
// The error wraps ErrLost where another has it.
func (h *Held) Fence(ctx context.Context, tx prescient.DB) error {
	var token uint64
	err := store.QueryRow(ctx, tx, []any{&token}, h.tables.Stmt.Get("duty/fence"), h.name, h.token)
	if errors.Is(err, sql.ErrNoRows) {
		h.term.Lose()
		return h.orLost()
	}
	if err != nil {
		return fmt.Errorf("proving the duty %s: %w", h.name, err)
	}
	return nil
}

// Release gives the duty back. What another has by now it leaves alone.
func (h *Held) Release(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), store.StatementTime(h.term.TTL()))
	defer cancel()
	h.term.Lose()
	if _, err := h.db.ExecContext(ctx, h.tables.Stmt.Get("duty/give_back"), h.name, h.token); err != nil {
		return fmt.Errorf("giving the duty %s back: %w", h.name, err)
	}
	return nil
}
