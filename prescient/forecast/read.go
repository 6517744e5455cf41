package forecast

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jmoiron/sqlx"

	"prescient/prescient"
	"prescient/prescient/internal/store"
	text "prescient/sql"
)

// ErrNone is returned where no forecast was made yet.
var ErrNone = errors.New("no forecast was made yet")

// Old is the age from which on a forecast says nothing any more of what is to come as a whole.
const Old = 5 * time.Minute

// slotOld is the age from which on a forecast says nothing of a slot to who is to insert into it.
const slotOld = 10 * time.Minute

// mostRead is more than a forecast has.
const mostRead = 10_000

// Read returns the forecast. The error wraps ErrNone, prescient.ErrNotMigrated or what the server says.
func Read(ctx context.Context, db *sqlx.DB, prefix string, dialect text.Dialect) (Report, error) {
	t, err := store.OpenTables(ctx, db, prefix, 0, dialect)
	if err != nil {
		return Report{}, err
	}
	r, turn, err := newestBy(ctx, db, t.Stmt)
	if err != nil {
		return Report{}, err
	}
	if r.Days, err = parts(ctx, db, t.Stmt, turn.grain(OfDay), prescient.EarliestDue, mostRead); err != nil {
		return Report{}, err
	}
	return r, errors.Join(addLines(ctx, db, t.Stmt, turn.grain(OfSlot), r.Slots), addLines(ctx, db, t.Stmt, turn.grain(OfDay), r.Days))
}

// Slots reads which slots end in time, without days and job_execs. The error is that of Read.
func Slots(ctx context.Context, db *sqlx.DB, prefix string, dialect text.Dialect) (Report, error) {
	t, err := store.OpenTables(ctx, db, prefix, 0, dialect)
	if err != nil {
		return Report{}, err
	}
	return SlotsBy(ctx, db, t.Stmt)
}

// SlotsBy is Slots by statements that were loaded already.
func SlotsBy(ctx context.Context, db prescient.DB, statements text.Statements) (Report, error) {
	r, _, err := newestBy(ctx, db, statements)
	return r, err
}

// newestBy is SlotsBy, with the turn that it was read of.
func newestBy(ctx context.Context, db prescient.DB, statements text.Statements) (r Report, newest turn, err error) {
	newest, madeAt, age, err := newestTurn(ctx, db, statements)
	if err != nil {
		return r, newest, err
	}
	into := []any{&r.Worker, &r.TookMS, &r.From, &r.Before, &r.Read, &r.Schedules, &r.SchedulesAll}
	if err := store.QueryRow(ctx, db, into, statements.Get("forecast/made")); err != nil && !errors.Is(err, sql.ErrNoRows) {
		return r, newest, fmt.Errorf("forecast/made: %w", err)
	}
	r.MadeAt, r.Age = madeAt, Millis(age.Milliseconds())
	r.Slots, err = parts(ctx, db, statements, newest.grain(OfSlot), prescient.EarliestDue, mostRead)
	return r, newest, err
}

// Slot reads whether a slot ends in time; false where no forecast of the last 10 minutes tells of it.
func Slot(ctx context.Context, db *sqlx.DB, prefix string, dialect text.Dialect, slot time.Time) (p Part, there bool, err error) {
	t, err := store.OpenTables(ctx, db, prefix, 0, dialect)
	if err != nil {
		return p, false, err
	}
	newest, _, age, err := newestTurn(ctx, db, t.Stmt)
	if errors.Is(err, ErrNone) || err == nil && age > slotOld {
		return p, false, nil
	}
	if err != nil {
		return p, false, err
	}
	list, err := parts(ctx, db, t.Stmt, newest.grain(OfSlot), slot, 1)
	if err != nil || len(list) == 0 || !list[0].Start.Equal(slot) {
		return p, false, err
	}
	return list[0], true, nil
}

// parts are slots or days from some time on, at most so many.
func parts(ctx context.Context, db prescient.DB, statements text.Statements, grain string, from time.Time, most int) ([]Part, error) {
	return store.Rows(ctx, db, "forecast/fits", statements.Get("forecast/fits"), func(p *Part) []any {
		return []any{&p.Start, &p.Due, &p.Low, &p.High, &p.Occurrences, &p.How, &p.Concurrency, &p.Unknown, &p.BeginsAt, &p.LastStartAt, &p.EndsAt, &p.Verdict, &p.Over, &p.Fit.JobExec}
	}, grain, from, most)
}

// addLines adds to slots or days what they are to do by job_exec, the most first.
func addLines(ctx context.Context, db prescient.DB, statements text.Statements, grain string, parts []Part) error {
	type row struct {
		start time.Time
		Line
	}
	rows, err := store.Rows(ctx, db, "forecast/lines", statements.Get("forecast/lines"), func(r *row) []any {
		return []any{&r.start, &r.JobExec, &r.Due, &r.Low, &r.High, &r.Repeats, &r.Occurrences, &r.How}
	}, grain, mostRead)
	if err != nil {
		return err
	}
	at := make(map[int64]*Part, len(parts))
	for i := range parts {
		at[parts[i].Start.Unix()] = &parts[i]
	}
	for _, r := range rows {
		if p := at[r.start.Unix()]; p != nil {
			p.Lines = append(p.Lines, r.Line)
		}
	}
	sortLines(parts)
	return nil
}

func sortLines(parts []Part) {
	for _, p := range parts {
		slices.SortFunc(p.Lines, func(a, b Line) int {
			return cmp.Or(cmp.Compare(b.Due+b.Occurrences, a.Due+a.Occurrences), cmp.Compare(a.JobExec, b.JobExec))
		})
	}
}
