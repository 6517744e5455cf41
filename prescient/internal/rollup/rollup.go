package rollup

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/jmoiron/sqlx"

	"prescient/prescient/internal/duty"
	"prescient/prescient/internal/store"
)

// term is how long the lease of the duty is.
const term = 2 * time.Minute

// Rollup sums up history. It is for one goroutine.
type Rollup struct {
	db     *sqlx.DB
	tables *store.Tables
	worker string
	held   *duty.Held  // nil where this process has not the duty
	hour   *reading    // that is under way
	again  []time.Time // hours to sum, whatever is due
}

// reading is an hour that is being read.
type reading struct {
	hour   time.Time
	at     cursor
	sums   *sums  // nil where its ends are only counted
	ends   uint64 // that were counted
	summed uint64 // that were summed before
}

// New returns a rollup for a process with a worker's name.
func New(db *sqlx.DB, tables *store.Tables, worker string) *Rollup {
	return &Rollup{db: db, tables: tables, worker: worker}
}

// Step sums up for a time at most, and says whether there is more to do. It keeps the duty only where there is, for the hour that is under
// way; see Close. Where another process has the duty there is nothing to do.
func (r *Rollup) Step(ctx context.Context, most time.Duration) (more bool, err error) {
	began := time.Now()
	defer func() {
		if !more {
			err = errors.Join(err, r.Close(ctx))
		}
	}()
	if r.held == nil && len(r.again) == 0 {
		if t, err := r.next(ctx); err != nil || t.what == nothing {
			return false, err
		}
	}
	if err := r.take(ctx); err != nil || r.held == nil {
		return false, err
	}
	for more = true; more && err == nil && time.Since(began) < most; {
		more, err = r.one(ctx)
	}
	if errors.Is(err, duty.ErrLost) {
		r.held, r.hour = nil, nil
		return false, nil
	}
	return more && err == nil, err
}

// Finish goes on with the hour that is under way, for a time at most.
func (r *Rollup) Finish(ctx context.Context, most time.Duration) (err error) {
	for began := time.Now(); err == nil && r.hour != nil && time.Since(began) < most; {
		_, err = r.one(ctx)
	}
	if errors.Is(err, duty.ErrLost) {
		r.held, r.hour = nil, nil
		return nil
	}
	return err
}

// Left is how many hours are left of what Redo was told.
func (r *Rollup) Left() int { return len(r.again) }

// Close gives the duty back, and leaves the hour that is under way.
func (r *Rollup) Close(ctx context.Context) error {
	held := r.held
	r.held, r.hour = nil, nil
	if held == nil {
		return nil
	}
	return held.Release(ctx)
}

// Redo has hours summed again whose lines differ from history.
func (r *Rollup) Redo(hours []time.Time) { r.again = append(r.again, hours...) }

func (r *Rollup) take(ctx context.Context) (err error) {
	if r.held != nil {
		if err := r.held.Keep(ctx); err == nil || !errors.Is(err, duty.ErrLost) {
			return err
		}
		r.held, r.hour = nil, nil
	}
	r.held, err = duty.Try(ctx, r.db, r.tables, duty.Rollup, r.worker, term)
	return err
}

// one reads a page, or writes what was read. more is false where nothing is due.
func (r *Rollup) one(ctx context.Context) (more bool, err error) {
	if err := r.held.Keep(ctx); err != nil {
		return false, err
	}
	switch {
	case r.hour != nil:
		return true, r.goOn(ctx)
	case len(r.again) > 0:
		r.begin(r.again[0])
		return true, nil
	}
	t, err := r.next(ctx)
	if err != nil {
		return false, err
	}
	switch t.what {
	case toLook:
		return true, r.look(ctx, t.at)
	case toMakeDay:
		return true, r.writeDay(ctx, t.at)
	case toSum:
		r.begin(t.at)
		return true, nil
	}
	return false, nil
}

// next is what is due.
func (r *Rollup) next(ctx context.Context) (task, error) {
	s, err := readState(ctx, r.db, r.tables)
	if err != nil {
		return task{}, err
	}
	if t := s.due(); t.what != nothing {
		return t, nil
	}
	var from time.Time
	if !s.latest.IsZero() {
		from = s.latest.Add(time.Hour)
	}
	first, err := FirstEnd(ctx, r.db, r.tables, from)
	if err != nil {
		return task{}, err
	}
	if hour := following(s.latest, first, s.now); isOver(hour, s.now) {
		return task{toSum, hour}, nil
	}
	return task{}, nil
}

// begin begins to sum an hour.
func (r *Rollup) begin(hour time.Time) {
	r.hour = &reading{hour: hour, at: beginning(hour), sums: newSums()}
}

// look begins to compare an hour.
func (r *Rollup) look(ctx context.Context, hour time.Time) error {
	hours, err := Hours(ctx, r.db, r.tables, hour, hour.Add(time.Hour))
	if err != nil {
		return err
	}
	if len(hours) > 0 && hours[0].Start.Equal(hour) {
		r.hour = &reading{hour: hour, at: beginning(hour), summed: hours[0].Ends}
	}
	return nil
}

// goOn reads a page of the hour that is under way, and writes it where that was the last.
func (r *Rollup) goOn(ctx context.Context) error {
	h := r.hour
	if h.sums != nil {
		last, err := h.at.page(ctx, r.db, r.tables, h.sums)
		if err != nil || !last {
			return err
		}
		s, err := readState(ctx, r.db, r.tables)
		if err == nil {
			err = r.write(ctx, h.hour, h.sums, nextLook(h.hour, s.now))
		}
		if err == nil {
			r.hour = nil
			if len(r.again) > 0 && r.again[0].Equal(h.hour) {
				r.again = r.again[1:]
			}
		}
		return err
	}
	n, last, err := h.at.count(ctx, r.db, r.tables)
	h.ends += n
	if err != nil || !last {
		return err
	}
	if h.ends > h.summed { // fewer are left where prune was at work
		r.begin(h.hour)
		return nil
	}
	r.hour = nil
	s, err := readState(ctx, r.db, r.tables)
	if err != nil {
		return err
	}
	return r.inTx(ctx, func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, r.tables.Stmt.Get("rollup/looked"), nextLook(h.hour, s.now), h.hour)
		return err
	})
}
