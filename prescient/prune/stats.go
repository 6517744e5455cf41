package prune

import (
	"context"
	"errors"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/duty"
	"prescient/prescient/internal/rollup"
	"prescient/prescient/internal/store"
)

const (
	// DefaultKeepStats is how long the sums of days are kept; those of hours are kept for MinKeepStats.
	DefaultKeepStats = 5 * 365 * 24 * time.Hour
	// MinKeepStats is the least that Run can be told.
	MinKeepStats = rollup.HoursKept
)

// sumFirst sums up what is about to go, and returns the time before which all of it is: what ended later stays. With an error
// all stays.
func (p *pruner) sumFirst(ctx context.Context, now, cutoff time.Time) (before time.Time, err error) {
	before = prescient.EarliestDue
	err = p.awake(ctx, func(ctx context.Context) error {
		before, err = p.sumUp(ctx, now, cutoff)
		return err
	})
	return before, err
}

// sumUp is sumFirst, on other connections.
func (p *pruner) sumUp(ctx context.Context, now, cutoff time.Time) (before time.Time, err error) {
	engine := rollup.New(p.db, &p.tables, "prune")
	defer func() {
		if closing := engine.Close(ctx); err == nil {
			err = closing
		}
	}()
	until := time.Now().Add(p.options.Patience)
	work := func() error {
		for more := true; more && time.Now().Before(until); {
			var err error
			if more, err = engine.Step(ctx, time.Second); err != nil {
				return err
			}
		}
		return nil
	}
	if err := work(); err != nil {
		return prescient.EarliestDue, err
	}
	whole := rollup.HourOf(cutoff).Add(time.Hour) // it may go in part
	c, err := rollup.Compare(ctx, p.db, &p.tables, time.Time{}, whole)
	if err != nil {
		return prescient.EarliestDue, err
	}
	if n := c.Outside(); n > 0 {
		p.options.Log.Warn().Int("hours", n).Msg("what ended in these hours came too late to be summed up; it goes with history")
	}
	again := c.Again(now)
	if len(again) == 0 {
		return cutoff, nil
	}
	engine.Redo(again)
	if err := work(); err != nil {
		return prescient.EarliestDue, err
	}
	if c, err = rollup.Compare(ctx, p.db, &p.tables, again[0], whole); err != nil {
		return prescient.EarliestDue, err
	}
	if again = c.Again(now); len(again) > 0 && again[0].Before(cutoff) {
		p.report.UnsummedFrom = &again[0]
		return again[0], nil
	}
	return cutoff, nil
}

// statsTerm is how long the lease of the duty is.
const statsTerm = 2 * time.Minute

// pruneStats deletes the sums of hours that are in their days, and those of days, when they are old. It has the duty for that: nobody makes a day
// of hours of which a part has gone.
func (p *pruner) pruneStats(ctx context.Context, now time.Time) error {
	held, err := p.takeRollup(ctx)
	if err != nil {
		return p.leave(ctx, err)
	}
	if held != nil {
		err = p.deleteStats(ctx, now, held)
		err = errors.Join(err, held.Release(ctx))
	}
	if held == nil || errors.Is(err, duty.ErrLost) {
		p.report.StatsLeft = true
		return nil
	}
	return err
}

// takeRollup takes the duty rollup; nil where another has it for long.
func (p *pruner) takeRollup(ctx context.Context) (held *duty.Held, err error) {
	patience := min(rowPatience, p.options.Patience)
	for until := time.Now().Add(patience); ; {
		err = p.retryFor(ctx, patience, "taking the duty of summing up", func(ctx context.Context) (err error) {
			held, err = duty.Try(ctx, p.conn, &p.tables, duty.Rollup, "prune", statsTerm)
			return err
		})
		if err != nil || held != nil || time.Now().After(until) {
			return held, err
		}
		if err := store.Sleep(ctx, rowPatience/50); err != nil {
			return nil, err
		}
	}
}

func (p *pruner) deleteStats(ctx context.Context, now time.Time, held *duty.Held) error {
	deleteAll := func(statement string, before time.Time) error {
		return p.deleteBy(ctx, func(ctx context.Context) (int, error) { return p.deleteFenced(ctx, held, statement, before) }, &p.report.StatsRows)
	}
	var state struct {
		First   *time.Time `db:"first_end"`
		Undayed *time.Time `db:"undayed"`
	}
	err := p.retry(ctx, "looking which hours are in their days", func(ctx context.Context) error {
		return p.conn.GetContext(ctx, &state, p.tables.Stmt.Get("prune/stats_kept"))
	})
	if err != nil {
		return err
	}
	hours := rollup.KeptFrom(now)
	if state.Undayed != nil && state.Undayed.Before(hours) {
		hours = state.Undayed.Truncate(24 * time.Hour)
	}
	days := now.Add(-p.options.KeepStats).Truncate(24 * time.Hour)
	for _, table := range []string{"stats", "stats_bucket", "stats_reason"} {
		for grain, before := range map[string]time.Time{"hour": hours, "day": days} {
			if err := deleteAll(p.tables.Fill("prune/stats", "{table}", table, "{grain}", grain), before); err != nil {
				return err
			}
		}
	}
	if state.First != nil && state.First.Before(hours) { // what is known of an hour is needed as long as there is history of it
		hours = rollup.HourOf(*state.First)
	}
	return deleteAll(p.tables.Stmt.Get("prune/stats_hours"), hours)
}

// deleteFenced deletes a batch of the sums, behind the fence of the duty.
func (p *pruner) deleteFenced(ctx context.Context, held *duty.Held, statement string, before time.Time) (n int, err error) {
	if err := held.Keep(ctx); err != nil {
		return 0, err
	}
	tx, err := p.conn.BeginTxx(ctx, nil)
	if err != nil {
		return 0, err
	}
	if err = held.Fence(ctx, tx); err == nil {
		n, err = store.Affected(ctx, tx, statement, before, pruneBatch)
	}
	if err != nil {
		return 0, errors.Join(err, store.Rollback(tx.Tx))
	}
	return n, tx.Commit()
}
