package status

import (
	"cmp"
	"context"
	"time"

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

func (l looker) backlog(ctx context.Context) error {
	b, now := &l.report.Backlog, l.report.At
	before := slots.OverdueBefore(l.tables.Grid, now, cmp.Or(l.options.SweepGrace, prescient.DefaultSweepGrace))
	var first []time.Time
	if err := l.db.SelectContext(ctx, &first, l.tables.Stmt.Get("sweep/overdue"), prescient.EarliestDue, before, 1); err != nil {
		return err
	}
	if len(first) == 0 {
		return nil
	}
	b.Slot = &first[0]
	if err := l.db.GetContext(ctx, &b.Checks, l.tables.Stmt.Get("operate/overdue_count"), before, backlogProbe); err != nil {
		return err
	}
	if b.AtLeast = b.Checks == backlogProbe; b.AtLeast {
		about, err := l.estimate(ctx, before)
		if err != nil {
			return err
		}
		b.Checks = max(b.Checks, about)
	}
	var ended, overdue int64
	var since *time.Time
	from := now.Add(-paceFor)
	if err := store.QueryRow(ctx, l.db, []any{&ended, &overdue, &since}, l.tables.Stmt.Get("status/pace"), before, from, paceProbe); err != nil {
		return err
	}
	if ended == paceProbe {
		from = *since // as far as was read
	}
	b.Rate, b.ToGo = paceOf(overdue, b.Checks, max(now.Sub(from), leastPace))
	return nil
}

// maxToGo bounds what is said of the time to go: beyond it only the order of magnitude is known.
const maxToGo = 365 * 24 * time.Hour

// paceOf is the rate at which so many checks ended in a time, and how long others take at that rate.
func paceOf(ended, left int64, took time.Duration) (rate float64, toGo time.Duration) {
	if ended <= 0 {
		return 0, 0
	}
	rate = float64(ended) / took.Seconds()
	return rate, time.Duration(min(float64(left)/rate, maxToGo.Seconds()) * float64(time.Second))
}

// estimate asks the optimiser how many rows are overdue; 0 in the dialect plain.
func (l looker) estimate(ctx context.Context, before time.Time) (int64, error) {
	if l.tables.Dialect == text.Plain {
		return 0, nil
	}
	n, _, err := store.Estimate(ctx, l.db, "forecast/estimate", l.tables.Stmt.Get("forecast/estimate"), prescient.EarliestDue, before)
	return int64(n), err
}
