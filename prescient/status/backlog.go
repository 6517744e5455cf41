package status

import (
	"cmp"
	"context"
	"time"

	"github.com/jmoiron/sqlx"

	"prescient/prescient"
	"prescient/prescient/internal/store"
	"prescient/slots"
	text "prescient/sql"
)

// Backlog is what is overdue: checks whose slots are over, and that the next sweep should have taken.
type Backlog struct {
	// Checks is how many. Where they are more than are counted, AtLeast is true, and Checks is what the server estimates, or what was counted.
	Checks  int64 `json:"checks"`
	AtLeast bool  `json:"at_least"`
	// Slot is that of the oldest; nil where nothing is overdue.
	Slot *time.Time `json:"slot"`
	// Rate is how many checks of such slots ended a second in the last minute; those that moved on are not in it. 0 where none did.
	Rate float64 `json:"rate"`
	// ToGo is how long the rest takes at that rate, at most; 0 where that is not known.
	ToGo time.Duration `json:"to_go_ns"`
}

const (
	backlogProbe = 10_000           // rows that are counted
	paceProbe    = 20_000           // ends of which the rate is taken
	paceFor      = time.Minute      // for how long what ended counts
	leastPace    = time.Millisecond // that a rate is taken over
)

func (l looker) backlog(ctx context.Context) (err error) {
	l.report.Backlog, err = BacklogBy(ctx, l.db, l.tables, l.report.At, l.options.SweepGrace)
	return err
}

// BacklogBy looks what is overdue at a time by the database's clock; grace is that of sweeps, DefaultSweepGrace where it is 0. It is for rooms of
// the library.
func BacklogBy(ctx context.Context, db *sqlx.DB, tables *store.Tables, now time.Time, grace time.Duration) (b Backlog, err error) {
	before := slots.OverdueBefore(tables.Grid, now, cmp.Or(grace, prescient.DefaultSweepGrace))
	var first []time.Time
	if err := db.SelectContext(ctx, &first, tables.Stmt.Get("sweep/overdue"), prescient.EarliestDue, before, 1); err != nil {
		return b, err
	}
	if len(first) == 0 {
		return b, nil
	}
	b.Slot = &first[0]
	if b.Checks, b.AtLeast, err = PendingBy(ctx, db, tables, before); err != nil {
		return b, err
	}
	var ended, overdue int64
	var since *time.Time
	from := now.Add(-paceFor)
	if err := store.QueryRow(ctx, db, []any{&ended, &overdue, &since}, tables.Stmt.Get("status/pace"), before, from, paceProbe); err != nil {
		return b, err
	}
	if ended == paceProbe {
		from = *since // as far as was read
	}
	b.Rate, b.ToGo = paceOf(overdue, b.Checks, max(now.Sub(from), leastPace))
	return b, nil
}

// PendingBy counts the checks whose slots begin before a time. Where they are more than are counted, atLeast is true, and n is what the server
// estimates, or what was counted.
func PendingBy(ctx context.Context, db *sqlx.DB, tables *store.Tables, before time.Time) (n int64, atLeast bool, err error) {
	if err := db.GetContext(ctx, &n, tables.Stmt.Get("operate/overdue_count"), before, backlogProbe); err != nil || n < backlogProbe {
		return n, false, err
	}
	about, err := estimate(ctx, db, tables, before)
	return max(n, about), true, err
}

// maxToGo bounds what is said of the time to go: beyond it only the order of magnitude is known. In nanoseconds it is less than 2^53.
const maxToGo = 100 * 24 * time.Hour

// paceOf is the rate at which so many checks ended in a time, and how long others take at that rate.
func paceOf(ended, left int64, took time.Duration) (rate float64, toGo time.Duration) {
	if ended <= 0 {
		return 0, 0
	}
	rate = float64(ended) / took.Seconds()
	return rate, time.Duration(min(float64(left)/rate, maxToGo.Seconds()) * float64(time.Second))
}

// estimate asks the optimiser how many rows there are before a time; 0 in the dialect plain.
func estimate(ctx context.Context, db *sqlx.DB, tables *store.Tables, before time.Time) (int64, error) {
	if tables.Dialect == text.Plain {
		return 0, nil
	}
	n, _, err := store.Estimate(ctx, db, "forecast/estimate", tables.Stmt.Get("forecast/estimate"), prescient.EarliestDue, before)
	return int64(n), err
}
