package stats

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"

	"prescient/prescient/internal/store"
	"prescient/prescient/internal/tally"
	text "prescient/sql"
)

// Times are how long the last calls of a job_exec's checks took, and how late they began.
type Times struct {
	JobExec string `json:"job_exec"`
	// Ends of checks that were called.
	Ends uint64 `json:"ends"`
	// Run is how long the last call took. Lateness is from the slot to its begin, DueLateness from the due time, with the wait for the slot in it.
	Run         Quantiles `json:"run"`
	Lateness    Quantiles `json:"lateness"`
	DueLateness Quantiles `json:"due_lateness"`
}

// Quantiles are what 50, 95 and 99 of a hundred do not exceed, and the longest; in milliseconds, within 5 %.
type Quantiles struct {
	P50MS     int64 `json:"p50_ms"`
	P95MS     int64 `json:"p95_ms"`
	P99MS     int64 `json:"p99_ms"`
	LongestMS int64 `json:"longest_ms"`
}

// Percentiles tells how long last calls took of the checks that ended from one time to before another, and how late they were, by job_exec. It
// reads the sums of whole days, and of hours at the edges, which are kept 90 days; so times are rounded to hours. The error wraps
// prescient.ErrInvalid where the span is empty, and prescient.ErrNotMigrated.
func Percentiles(ctx context.Context, db *sqlx.DB, prefix string, dialect text.Dialect, from, before time.Time) ([]Times, error) {
	if err := validSpan(from, before); err != nil {
		return nil, err
	}
	t, err := store.OpenTables(ctx, db, prefix, 0, dialect)
	if err != nil {
		return nil, err
	}
	var last time.Time
	if err := store.QueryRow(ctx, db, []any{store.OrZero(&last)}, t.Stmt.Get("stats/last_day")); err != nil {
		return nil, fmt.Errorf("looking for the latest day: %w", err)
	}
	of := make(map[string]map[string]tally.Histogram) // by job_exec and measure
	for _, s := range spansOf(from, before, last) {
		err := t.EachOf(ctx, db, math.MaxInt, func(scan store.Scan) error {
			var jobExec, measure string
			var bucket int
			var n uint64
			err := scan(&jobExec, &measure, &bucket, &n)
			if of[jobExec] == nil {
				of[jobExec] = make(map[string]tally.Histogram)
			}
			if of[jobExec][measure] == nil {
				of[jobExec][measure] = make(tally.Histogram)
			}
			of[jobExec][measure][bucket] += n
			return err
		}, t.Stmt.Get("stats/spread"), s.grain, s.from, s.before)
		if err != nil {
			return nil, fmt.Errorf("reading how times are spread: %w", err)
		}
	}
	var all []Times
	for jobExec, by := range of {
		times := Times{JobExec: jobExec, Run: quantiles(by["run"]), Lateness: quantiles(by["lateness"]), DueLateness: quantiles(by["due_lateness"])}
		for n := range maps.Values(by["run"]) {
			times.Ends += n
		}
		all = append(all, times)
	}
	slices.SortFunc(all, func(x, y Times) int { return strings.Compare(x.JobExec, y.JobExec) })
	return all, nil
}

func quantiles(h tally.Histogram) Quantiles {
	return Quantiles{h.Percentile(0.5), h.Percentile(0.95), h.Percentile(0.99), h.Percentile(1)}
}

// span is one of hours or days.
type span struct {
	grain        string
	from, before time.Time
}

// spansOf takes the days of a time that are whole and summed up, lastDay being the latest of them, and the hours before and after.
func spansOf(from, before, lastDay time.Time) []span {
	const day = 24 * time.Hour
	from, before = from.UTC().Truncate(time.Hour), before.UTC().Add(time.Hour-1).Truncate(time.Hour)
	first, last := from.Add(day-1).Truncate(day), before.Truncate(day)
	if end := lastDay.Add(day); last.After(end) {
		last = end
	}
	if !first.Before(last) {
		return []span{{"hour", from, before}}
	}
	all := []span{{"hour", from, first}, {"day", first, last}, {"hour", last, before}}
	return slices.DeleteFunc(all, func(s span) bool { return !s.from.Before(s.before) })
}
