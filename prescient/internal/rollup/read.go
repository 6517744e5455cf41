package rollup

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/store"
)

const (
	// pageEnds are the ends that are read at a time, countEnds those that are counted: some tens of milliseconds each.
	pageEnds, countEnds = 10_000, 50_000
	// mostTime bounds a statement: such a page never takes so long on a server that is well.
	mostTime = 20 * time.Second
)

// cursor is an end of an hour, behind which reading goes on.
type cursor struct {
	at       time.Time
	key      []byte
	revision uint64
	before   time.Time
}

// beginning is before the first end of an hour.
func beginning(hour time.Time) cursor {
	return cursor{at: hour.Add(-time.Microsecond), key: bytes.Repeat([]byte{0xff}, 16), revision: math.MaxInt64, before: hour.Add(time.Hour)}
}

func (c cursor) args(further ...any) []any {
	return append([]any{c.at, c.before, c.at, c.key, c.key, c.revision}, further...)
}

// page reads a page of ends behind the cursor into sums. It is the last where it is not full.
func (c *cursor) page(ctx context.Context, db prescient.DB, tables *store.Tables, into *sums) (last bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, mostTime)
	defer cancel()
	n := 0
	err = store.EachRow(ctx, db, func(scan store.Scan) error {
		var e end
		var why sql.NullString
		n++
		err := scan(&c.at, &c.key, &c.revision, &e.of.JobExec, &e.of.EntityName, &e.outcome, &e.checks, &e.errors, &e.started, &e.runMS, &e.totalMS,
			&e.latenessMS, &e.dueLateness, &why)
		if err == nil {
			e.error = why.String
			into.add(e)
		}
		return err
	}, tables.Stmt.Get("rollup/page"), c.args(pageEnds)...)
	if err != nil {
		return false, fmt.Errorf("reading history: %w", err)
	}
	return n < pageEnds, nil
}

// count counts some ends behind the cursor. They are the last where it says so.
func (c *cursor) count(ctx context.Context, db prescient.DB, tables *store.Tables) (n uint64, last bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, mostTime)
	defer cancel()
	next := cursor{before: c.before}
	err = store.QueryRow(ctx, db, []any{&next.at, &next.key, &next.revision}, tables.Stmt.Get("rollup/skip"), c.args(countEnds-1)...)
	if err == nil {
		*c = next
		return countEnds, false, nil
	}
	if errors.Is(err, sql.ErrNoRows) {
		err = store.QueryRow(ctx, db, []any{&n}, tables.Stmt.Get("rollup/rest"), c.args()...)
	}
	if err != nil {
		return 0, false, fmt.Errorf("counting ends of history: %w", err)
	}
	return n, true, nil
}

// Count counts the ends that history has of an hour.
func Count(ctx context.Context, db prescient.DB, tables *store.Tables, hour time.Time) (n uint64, err error) {
	if n, err = few(ctx, db, tables, hour); n < countEnds || err != nil {
		return n, err
	}
	n = 0
	for c, last := beginning(hour), false; !last && err == nil; {
		var some uint64
		some, last, err = c.count(ctx, db, tables)
		n += some
	}
	return n, err
}

// few counts the ends of an hour up to countEnds: most hours have less, and are read once so.
func few(ctx context.Context, db prescient.DB, tables *store.Tables, hour time.Time) (n uint64, err error) {
	ctx, cancel := context.WithTimeout(ctx, mostTime)
	defer cancel()
	if err = store.QueryRow(ctx, db, []any{&n}, tables.Stmt.Get("rollup/few"), hour, hour.Add(time.Hour), countEnds); err != nil {
		return 0, fmt.Errorf("counting ends of history: %w", err)
	}
	return n, nil
}

// FirstEnd is when the first check ended from a time on, as far as history has it; zero where none did.
func FirstEnd(ctx context.Context, db prescient.DB, tables *store.Tables, from time.Time) (at time.Time, err error) {
	ctx, cancel := context.WithTimeout(ctx, mostTime)
	defer cancel()
	if from.Before(prescient.EarliestDue) {
		from = prescient.EarliestDue
	}
	err = store.QueryRow(ctx, db, []any{&at}, tables.Stmt.Get("rollup/first_end"), from)
	if errors.Is(err, sql.ErrNoRows) {
		return time.Time{}, nil
	}
	if err != nil {
		return at, fmt.Errorf("looking for the first end: %w", err)
	}
	return at.UTC(), nil
}

// readState reads what there is to do.
func readState(ctx context.Context, db prescient.DB, tables *store.Tables) (s state, err error) {
	ctx, cancel := context.WithTimeout(ctx, mostTime)
	defer cancel()
	err = store.QueryRow(ctx, db, []any{store.OrZero(&s.now), store.OrZero(&s.latest), store.OrZero(&s.look), store.OrZero(&s.undayed)}, tables.Stmt.Get("rollup/state"))
	if err != nil {
		return s, fmt.Errorf("looking what is to be summed up: %w", err)
	}
	return s, nil
}

// Latest is the latest hour that was summed up, zero where none was, and the time by the database's clock.
func Latest(ctx context.Context, db prescient.DB, tables *store.Tables) (hour, now time.Time, err error) {
	s, err := readState(ctx, db, tables)
	return s.latest, s.now, err
}
