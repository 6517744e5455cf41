package evidence

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"time"
)

// Sum is how many checks of a kind ended in an hour or a day. What is about all kinds has no names.
type Sum struct {
	Start      time.Time
	JobExec    string
	EntityName string
	Outcome    string
	Ends       int
	Started    int // of these, that had a last call
	RunMS      int // of those
}

// Sums are the ends as history has them, and as the rollup has summed them up.
type Sums struct {
	// History is counted from job_history by the hour, before anything is pruned.
	History []Sum
	// Hours and Days are lines of stats.
	Hours, Days []Sum
	// Noted is what stats_hour says of each hour.
	Noted []Sum
	// Why is how many ends of an hour stats_reason has, Ran how many run times stats_bucket has.
	Why, Ran []Sum
}

// hourly is how the start of an hour or a day is read.
const hourly = "%Y-%m-%d %H:00:00"

const (
	historySums = "SELECT DATE_FORMAT(ended_at, '" + hourly + "'), job_exec, entity_name, outcome, COUNT(*), SUM(started_at IS NOT NULL), " +
		"SUM(IF(started_at IS NULL, 0, run_ms)) FROM {prefix}job_history GROUP BY 1, 2, 3, 4"
	statsSums  = "SELECT DATE_FORMAT(start, '" + hourly + "'), job_exec, entity_name, outcome, ends, started, run_ms FROM {prefix}stats WHERE grain = '{grain}'"
	notedSums  = "SELECT DATE_FORMAT(start, '" + hourly + "'), '', '', '', ends, 0, 0 FROM {prefix}stats_hour"
	reasonSums = "SELECT DATE_FORMAT(start, '" + hourly + "'), '', '', '', SUM(ends), 0, 0 FROM {prefix}stats_reason WHERE grain = 'hour' GROUP BY 1"
	spreadSums = "SELECT DATE_FORMAT(start, '" + hourly + "'), job_exec, entity_name, '', 0, SUM(n), 0 FROM {prefix}stats_bucket WHERE grain = 'hour' AND measure = 'run' GROUP BY 1, 2, 3"
)

// CountHistory counts what history has by the hour.
func CountHistory(ctx context.Context, db *sql.DB, prefix string) ([]Sum, error) {
	return readSums(ctx, db, strings.ReplaceAll(historySums, "{prefix}", prefix))
}

// Read adds what the rollup has.
func (s *Sums) Read(ctx context.Context, db *sql.DB, prefix string) (err error) {
	for query, into := range map[string]*[]Sum{strings.ReplaceAll(statsSums, "{grain}", "hour"): &s.Hours, strings.ReplaceAll(statsSums, "{grain}", "day"): &s.Days,
		notedSums: &s.Noted, reasonSums: &s.Why, spreadSums: &s.Ran} {
		if *into, err = readSums(ctx, db, strings.ReplaceAll(query, "{prefix}", prefix)); err != nil {
			return err
		}
	}
	return nil
}

func readSums(ctx context.Context, db *sql.DB, query string) (list []Sum, err error) {
	err = each(ctx, db, query, func(rows *sql.Rows) error {
		var s Sum
		var start string
		if err := rows.Scan(&start, &s.JobExec, &s.EntityName, &s.Outcome, &s.Ends, &s.Started, &s.RunMS); err != nil {
			return err
		}
		at, err := time.Parse(time.DateTime, start)
		if err != nil {
			return fmt.Errorf("the start of an hour: %w", err)
		}
		s.Start = at
		list = append(list, s)
		return nil
	})
	return list, err
}
