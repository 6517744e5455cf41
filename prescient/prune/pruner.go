package prune

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/jmoiron/sqlx"

	"prescient/prescient"
	"prescient/prescient/internal/errno"
	"prescient/prescient/internal/store"
	text "prescient/sql"
	"prescient/sql/migrate"
)

// pruner prunes on one connection, which is thrown away afterwards for the settings that it has.
type pruner struct {
	tables  store.Tables
	conn    *sqlx.Conn
	db      *sqlx.DB     // for what is done on other connections
	ddl     *migrate.DDL // on that connection
	options Options
	report  Report
	left    error // the first of what was left to the next prune, since somebody has rows of it locked
}

func run(ctx context.Context, db *sqlx.DB, options Options, do func(p *pruner, now time.Time) error) (Report, error) {
	options.MaxCopy = cmp.Or(options.MaxCopy, DefaultMaxCopy)
	options.Patience = cmp.Or(options.Patience, DefaultPatience)
	if options.MaxCopy < 0 || options.Patience < 0 {
		return Report{}, fmt.Errorf("%w: neither the rows to copy nor the patience can be negative", prescient.ErrInvalid)
	}
	t, err := store.OpenTables(ctx, db, options.Prefix, 0, text.Auto) // its statements are the same in both dialects
	if err != nil {
		return Report{}, err
	}
	conn, err := db.Connx(ctx)
	if err != nil {
		return Report{}, err
	}
	defer func() {
		// This closes it for good, with its lock and its lock_wait_timeout.
		store.Drop(conn.Conn)
		_ = conn.Close()
	}()
	p := &pruner{tables: t, conn: conn, db: db, options: options, report: Report{Made: []string{}, Dropped: []string{}}}
	unlock, err := migrate.Schema{Prefix: p.tables.Prefix}.LockPrune(ctx, conn.Conn, db.DB)
	if err != nil {
		return p.report, fmt.Errorf("locking out other prunes: %w", err)
	}
	defer unlock()
	if p.ddl, err = migrate.NewDDL(ctx, db.DB, conn.Conn, options.Patience); err != nil {
		return p.report, err
	}
	p.ddl.Watch, p.ddl.Repeatable = p, true
	now, err := p.tables.ReadClock(ctx, conn)
	if err != nil {
		return p.report, err
	}
	err = do(p, now)
	return p.report, err
}

// did tells of progress.
func (p *pruner) did() {
	if p.options.Progress != nil {
		p.options.Progress(p.report)
	}
}

// pruneBatch is how many rows are deleted at a time.
const pruneBatch = 1000

// rowPatience bounds how long a batch is tried again of which somebody has rows locked: the next prune deletes it.
const rowPatience = 5 * time.Second

// whatIsLeft says what was left to the next prune.
func (p *pruner) whatIsLeft() error { return p.left }

// leave takes note that somebody has rows locked that should go, and who that may be.
func (p *pruner) leave(ctx context.Context, err error) error {
	held := migrate.Schema{Prefix: p.tables.Prefix}.RowsHeld(ctx, p.conn, err)
	if !errors.Is(held, migrate.ErrHeld) {
		return err
	}
	p.options.Log.Info().Err(held).Msg("what is old and locked is left to the next prune")
	if p.left == nil {
		p.left = fmt.Errorf("%w; the next prune deletes it", held)
	}
	return nil
}

// deleteAll deletes what is older than the cutoff, batch by batch. It leaves a batch of which somebody has rows locked, and what is behind it.
func (p *pruner) deleteAll(ctx context.Context, statement string, cutoff time.Time, deleted *int) error {
	return p.deleteBy(ctx, func(ctx context.Context) (int, error) {
		return store.Affected(ctx, p.conn, statement, cutoff, pruneBatch)
	}, deleted)
}

// deleteBy is deleteAll by what deletes a batch.
func (p *pruner) deleteBy(ctx context.Context, batch func(ctx context.Context) (int, error), deleted *int) error {
	for {
		n, err := p.delete(ctx, batch)
		if err != nil {
			return p.leave(ctx, fmt.Errorf("deleting what is old: %w", err))
		}
		*deleted += n
		if n > 0 {
			p.did()
		}
		if n < pruneBatch {
			return nil
		}
	}
}

// delete deletes a batch, which may be repeated.
func (p *pruner) delete(ctx context.Context, batch func(ctx context.Context) (int, error)) (n int, err error) {
	err = p.retryFor(ctx, min(rowPatience, p.options.Patience), "deleting", func(ctx context.Context) error {
		n, err = batch(ctx)
		return err
	})
	return n, err
}

// retry repeats what passes by itself on a connection that holds: contention.
func (p *pruner) retry(ctx context.Context, what string, do func(ctx context.Context) error) error {
	return p.retryFor(ctx, p.options.Patience, what, do)
}

func (p *pruner) retryFor(ctx context.Context, patience time.Duration, what string, do func(ctx context.Context) error) error {
	_, err := backoff.Retry(ctx, func() (struct{}, error) {
		one, cancel := context.WithTimeout(ctx, time.Minute)
		defer cancel()
		err := do(one)
		if err != nil && (!errno.BeginAgain(err) || errors.Is(err, context.Canceled)) {
			return struct{}{}, backoff.Permanent(err)
		}
		if err != nil {
			p.options.Log.Debug().Err(err).Msg(what + " is tried again")
		}
		return struct{}{}, err
	}, backoff.WithBackOff(store.NewBackOff()), backoff.WithMaxElapsedTime(patience))
	return err
}
