package stats

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jmoiron/sqlx"

	"prescient/prescient"
	"prescient/prescient/audit"
	"prescient/prescient/internal/rollup"
	"prescient/prescient/internal/store"
	"prescient/slots"
	text "prescient/sql"
)

// Comparison is how the sums of hours compare with history, Difference an hour of which they differ.
type (
	Comparison = rollup.Comparison
	Difference = rollup.Difference
)

// ErrBusy is returned where another process sums up history all the time.
var ErrBusy = errors.New("another process sums up history")

// Verify compares the sums of the hours from one time to before another with history, by the number of ends; zero times are all. An hour that is yet
// to be summed up is left out, and one of which history was pruned.
func Verify(ctx context.Context, db *sqlx.DB, prefix string, dialect text.Dialect, from, before time.Time) (Comparison, error) {
	t, from, before, err := summed(ctx, db, prefix, dialect, from, before)
	if err != nil {
		return Comparison{}, err
	}
	return rollup.Compare(ctx, db, &t, from, before)
}

// Rebuilt is what Rebuild did.
type Rebuilt struct {
	// Hours is how many were summed again, Left how many were left alone: history of them was pruned, all or in part.
	Hours int `json:"hours"`
	Left  int `json:"left"`
}

// patience is how long Rebuild waits for another process to give way.
const patience = 3 * time.Minute

// Rebuild sums the hours from one time to before another again, and has their days made anew by whoever sums up next. It leaves an entry in the
// audit. The error wraps ErrBusy where another process has kept it from that; then some of it may be done.
func Rebuild(ctx context.Context, db *sqlx.DB, prefix string, dialect text.Dialect, from, before time.Time) (Rebuilt, error) {
	t, from, before, err := summed(ctx, db, prefix, dialect, from, before)
	if err != nil {
		return Rebuilt{}, err
	}
	hours, left, err := rollup.Rebuildable(ctx, db, &t, from, before)
	if err != nil {
		return Rebuilt{}, err
	}
	engine := rollup.New(db, &t, "rebuild")
	engine.Redo(hours)
	moved := time.Now()
	for last := engine.Left(); engine.Left() > 0; last = engine.Left() {
		if _, err = engine.Step(ctx, StepTime); err != nil {
			break
		}
		if engine.Left() < last {
			moved = time.Now()
		} else if err = store.Sleep(ctx, StepTime/10); err == nil && time.Since(moved) > patience {
			err = fmt.Errorf("%w: waited %s", ErrBusy, patience)
		}
		if err != nil {
			break
		}
	}
	done := Rebuilt{Hours: max(0, len(hours)-engine.Left()), Left: left}
	if done.Hours > 0 {
		entry := audit.Entry{Kind: audit.Installation, ID: audit.InstallationID, Verb: "stats-rebuild",
			After: map[string]any{"from": slots.Stamp(hours[0]), "hours": done.Hours, "left": done.Left}}
		err = errors.Join(err, audit.On(&t).Record(context.WithoutCancel(ctx), db, entry))
	}
	return done, errors.Join(err, engine.Close(ctx))
}

// summed is a span as far as it is summed up.
func summed(ctx context.Context, db *sqlx.DB, prefix string, dialect text.Dialect, from, before time.Time) (t store.Tables, since, until time.Time, err error) {
	if !from.IsZero() && !before.IsZero() {
		if err := validSpan(from, before); err != nil {
			return t, from, before, err
		}
	}
	if t, err = store.OpenTables(ctx, db, prefix, 0, dialect); err != nil {
		return t, from, before, err
	}
	latest, _, err := rollup.Latest(ctx, db, &t)
	if err != nil {
		return t, from, before, err
	}
	if end := latest.Add(time.Hour); before.IsZero() || before.After(end) {
		before = end
	}
	if from.Before(prescient.EarliestDue) {
		from = prescient.EarliestDue
	}
	if latest.IsZero() {
		before = from
	}
	return t, from, before, nil
}
