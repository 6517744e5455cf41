package agent

import (
	"context"
	"database/sql"
	"fmt"
	"hash/fnv"
	"time"

	"prescient/slots"
)

// timer is what is known of a timer once it has asked the database.
type timer struct {
	asked time.Time     // by the monotonic clock; zero before that
	now   time.Time     // then, by the database's clock
	every time.Duration // how often one that sweeps comes
}

// instanceOf tells apart timers of one name: each process of a timer is the same one.
func instanceOf(kind Kind, assignment slots.Assignment) uint64 {
	h := fnv.New64a()
	_, _ = fmt.Fprintf(h, "%s %s", kind, assignment)
	return h.Sum64() >> 1
}

// due is by when a timer is to be heard of again, by the database's clock; nil for what stays up.
func (a *Agent) due(ctx context.Context) (*time.Time, error) {
	if a.timer == nil {
		return nil, nil
	}
	if err := a.ask(ctx); err != nil {
		return nil, err
	}
	due := a.timer.next(a.options, a.timer.now.Add(time.Since(a.timer.asked)))
	return &due, nil
}

// ask reads what time it is, and when the timer came before.
func (a *Agent) ask(ctx context.Context) error {
	if !a.timer.asked.IsZero() {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), statementTime)
	defer cancel()
	var before struct {
		Now      time.Time     `db:"read_at"`
		SinceUS  sql.NullInt64 `db:"since_us"`
		SilentUS sql.NullInt64 `db:"silent_us"`
	}
	asked := time.Now()
	if err := a.db.GetContext(ctx, &before, a.tables.Stmt.Get("agent/before"), a.options.Name, a.instance); err != nil {
		return fmt.Errorf("agent/before: %w", err)
	}
	micros := func(n sql.NullInt64) time.Duration { return time.Duration(n.Int64) * time.Microsecond }
	*a.timer = timer{asked: asked, now: before.Now.UTC(), every: distance(a.options.Every, micros(before.SinceUS), micros(before.SilentUS))}
	return nil
}

const (
	// longestSweep bounds how far apart sweeps are taken to be.
	longestSweep = 24 * time.Hour
	// silentTimes is how many distances one that sweeps may be silent: one sweep may be left out, or be late.
	silentTimes = 2
)

// distance is how far apart the sweeps of a timer are: as was configured, or as they were seen to be where that is more. One that somebody
// starts by hand in between does not count as a rhythm: it halves what was known before at most.
func distance(configured, since, silent time.Duration) time.Duration {
	return min(max(configured, since, silent/silentTimes/2, time.Second), longestSweep)
}

// next is by when a timer is to be heard of again: in its next slot, where it runs slots. One that comes a moment early for a slot is not
// taken for one of the slot before.
func (t *timer) next(o Options, now time.Time) time.Time {
	if o.Kind == Sweep {
		return now.Add(silentTimes * t.every)
	}
	early := min(2*time.Second, o.Assignment.Grid().Resolution()/10)
	if next := o.Assignment.Next(now.Add(early)); !next.IsZero() {
		return next
	}
	return now.Add(longestSweep)
}
