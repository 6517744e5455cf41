package stats

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jmoiron/sqlx"

	"prescient/prescient"
	"prescient/prescient/internal/store"
	"prescient/prescient/internal/tally"
	"prescient/prescient/stats/drift"
	text "prescient/sql"
)

// How many lines are read at most, the latest: of the days of job_execs, and of the calls of steps.
const (
	maxRunDays  = 300_000
	maxStepRuns = 50_000
)

// SlowerReport is what has become slower.
type SlowerReport struct {
	// Cut says that there was too much to read: job_execs or steps of many calls may be left out.
	Cut    bool     `json:"cut"`
	Slower []Slower `json:"slower"`
}

// Slower is a job_exec, or a step of a job, whose calls take longer than in its own last weeks.
type Slower struct {
	JobExec string `json:"job_exec"`
	// Job and Step are empty for all checks of the job_exec, runs of jobs aside.
	Job  string `json:"job,omitempty"`
	Step string `json:"step,omitempty"`
	drift.Rise
}

// Slow tells which job_execs and steps have become slower, by the rule of [drift.Look], what has grown most first. It reads days that are over, of
// a bounded number of calls. The error wraps prescient.ErrNotMigrated.
func Slow(ctx context.Context, db *sqlx.DB, prefix string, dialect text.Dialect) (SlowerReport, error) {
	t, err := store.OpenTables(ctx, db, prefix, 0, dialect)
	if err != nil {
		return SlowerReport{}, err
	}
	now, err := t.ReadClock(ctx, db)
	if err != nil {
		return SlowerReport{}, err
	}
	return SlowBy(ctx, db, &t, now)
}

// SlowBy is Slow of tables that are open, by the database's time.
func SlowBy(ctx context.Context, db prescient.DB, tables *store.Tables, now time.Time) (r SlowerReport, err error) {
	r.Slower = []Slower{}
	today := now.UTC().Truncate(24 * time.Hour)
	for _, source := range []struct {
		statement   string
		most, calls int
	}{{"stats/run_days", maxRunDays, drift.Calls}, {"stats/step_days", maxStepRuns, drift.StepCalls}} {
		days, cut, err := runDays(ctx, db, tables, source.statement, today, source.most)
		if err != nil {
			return r, err
		}
		r.Cut = r.Cut || cut
		for of, runs := range days {
			list := make([]drift.Day, 0, len(runs))
			for start, histogram := range runs {
				list = append(list, drift.Day{Start: start, Runs: histogram})
			}
			if rise, found := drift.Look(list, today, source.calls); found {
				r.Slower = append(r.Slower, Slower{JobExec: of.jobExec, Job: of.job, Step: of.step, Rise: rise})
			}
		}
	}
	slices.SortFunc(r.Slower, func(x, y Slower) int {
		return cmp.Or(cmp.Compare(y.Times(), x.Times()), cmp.Compare(x.JobExec, y.JobExec), cmp.Compare(x.Job, y.Job), cmp.Compare(x.Step, y.Step))
	})
	return r, nil
}

// ran is what was called: a job_exec, for checks or as a step.
type ran struct{ jobExec, job, step string }

// runDays reads histograms by what was called and by day. Where there are more lines than most, the days are those that were read whole.
func runDays(ctx context.Context, db prescient.DB, tables *store.Tables, statement string, today time.Time, most int) (all map[ran]map[time.Time]tally.Histogram, cut bool, err error) {
	all = make(map[ran]map[time.Time]tally.Histogram)
	var last time.Time
	read := 0
	err = tables.EachOf(ctx, db, most+1, func(scan store.Scan) error {
		var start time.Time
		var of ran
		var bucket int
		var n uint64
		if err := scan(&start, &of.jobExec, &of.job, &of.step, &bucket, &n); err != nil {
			return err
		}
		last = start
		if read++; read > most {
			return errMore
		}
		if n == 0 {
			return nil
		}
		if all[of] == nil {
			all[of] = make(map[time.Time]tally.Histogram)
		}
		if all[of][start] == nil {
			all[of][start] = make(tally.Histogram)
		}
		all[of][start][bucket] += n
		return nil
	}, tables.Stmt.Get(statement), today.AddDate(0, 0, -drift.Span), today)
	if cut = errors.Is(err, errMore); cut {
		for _, days := range all {
			delete(days, last)
		}
		return all, true, nil
	}
	if err != nil {
		return nil, false, fmt.Errorf("reading how long calls took: %w", err)
	}
	return all, false, nil
}
