package stage

import (
	"context"
	"fmt"
	"time"

	"prescient/prescient/connect"
	"prescient/prescient/prune"
	"prescient/prescient/stats"
	"prescient/scripts/chaos/checker/evidence"
)

// sumUp sums up all of history as the product does, once nothing ends any more, and reads the sums and what history had.
func (s *Stage) sumUp(ctx context.Context, l *ledger) (*evidence.Sums, error) {
	db, err := l.open("")
	if err != nil {
		return nil, err
	}
	defer db.Close()
	var sums evidence.Sums
	if sums.History, err = evidence.CountHistory(ctx, db.DB, Prefix); err != nil {
		return nil, err
	}
	if s.Scenario.Hours {
		if err := s.pruneAll(ctx); err != nil {
			return nil, err
		}
	}
	if err := s.finish(ctx, l, s.lastOf(sums.History)); err != nil {
		return nil, err
	}
	return &sums, sums.Read(ctx, db.DB, Prefix)
}

// lastOf is the latest hour that has ends, or now where that is later.
func (s *Stage) lastOf(history []evidence.Sum) time.Time {
	last := s.Now()
	for _, sum := range history {
		if sum.Start.After(last) {
			last = sum.Start
		}
	}
	return last
}

// mostRounds is how often finish tries: each takes a second and the hour that is under way.
const mostRounds = 60

// finish has a rollup work until nothing is left, by a clock of a day later: then each hour with ends is over, and so is its day, and it is
// looked at no more.
func (s *Stage) finish(ctx context.Context, l *ledger, last time.Time) error {
	until := last.UTC().Truncate(time.Hour).Add(26 * time.Hour)
	if until.Hour() == 0 { // the last hour of the day before is summed an hour later, and the day with it
		until = until.Add(time.Hour)
	}
	db, err := l.open(fmt.Sprintf("timestamp=%d.000000", until.Unix()))
	if err != nil {
		return err
	}
	defer db.Close()
	rollup, err := stats.New(ctx, db, stats.Options{Prefix: Prefix, Worker: "finish"})
	if err != nil {
		return err
	}
	left := 1
	for round := 0; left > 0; round++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		if round == mostRounds {
			s.Find("rollup", "%d hours or days are not summed up, though all are over", left)
			return nil
		}
		rollup.Once(ctx)
		err := db.QueryRowContext(ctx, "SELECT (SELECT COUNT(*) FROM "+Prefix+"stats_hour WHERE next_look_at <= UTC_TIMESTAMP(6)) + "+
			"(SELECT COUNT(*) FROM "+Prefix+"stats_hour WHERE day_at IS NULL AND start < UTC_DATE()) + "+
			"(SELECT COUNT(*) = 0 FROM "+Prefix+"stats_hour WHERE start = UTC_TIMESTAMP() - INTERVAL 2 HOUR)").Scan(&left)
		if err != nil {
			return err
		}
	}
	compared, err := stats.Verify(ctx, db, Prefix, "", time.Time{}, time.Time{})
	if err != nil {
		return err
	}
	for _, d := range compared.Differ {
		s.Find("rollup", "the product itself says: %s", d)
	}
	return nil
}

// tellHours remarks what rollups did while things broke.
func (s *Stage) tellHours(ctx context.Context) error {
	if !s.Scenario.Hours {
		return nil
	}
	var written, grown, days int
	err := s.App.QueryRowContext(ctx, "SELECT COALESCE(SUM(NOT in_day AND has > 0), 0), COALESCE(SUM(NOT in_day AND had > 0), 0), COALESCE(SUM(in_day AND has > 0), 0) FROM "+Prefix+"summed").Scan(&written, &grown, &days)
	if err != nil {
		return err
	}
	if written == 0 {
		s.Find("rollup", "no rollup wrote an hour while things broke: that proves nothing")
	}
	s.Remark("while things broke, rollups wrote %d hours with ends, %d of these again as they had grown, and put %d into their days", written, grown, days)
	return nil
}

// pruneAll prunes all weeks that are over, which sums up before what is left of them. The first times it is broken off somewhere.
func (s *Stage) pruneAll(ctx context.Context) error {
	const tries = 8
	dice := s.Dice(900)
	brokenOff, dropped := 0, 0
	for range tries {
		within, cancel := context.WithTimeout(ctx, time.Duration(5+dice.IntN(250))*time.Millisecond)
		report, err := s.prune(within)
		if err != nil {
			brokenOff++
		}
		dropped += len(report.Dropped)
		cancel()
	}
	// One that was broken off while it took the duty has it for two minutes.
	if _, err := s.App.ExecContext(ctx, "UPDATE "+Prefix+"duty SET allocated_until = NULL"); err != nil {
		return err
	}
	report, err := s.prune(ctx)
	if err != nil {
		return fmt.Errorf("pruning: %w", err)
	}
	if report.UnsummedFrom != nil {
		s.Find("rollup", "prune leaves history from %s on, as it could not sum it up", report.UnsummedFrom)
	}
	var rows int
	if err := s.App.QueryRowContext(ctx, "SELECT COUNT(*) FROM "+Prefix+"job_history").Scan(&rows); err != nil {
		return err
	}
	if rows > 0 {
		s.Find("rollup", "prune leaves %d ends in history, all of which are old", rows)
	}
	s.Remark("of %d prunes of all history %d were broken off; they dropped %d weeks", tries+1, brokenOff, dropped+len(report.Dropped))
	return nil
}

// makeWeeks divides history by the weeks in which ends are put back, so that a prune drops these.
func (s *Stage) makeWeeks(ctx context.Context) error {
	if !s.Scenario.Hours {
		return nil
	}
	db, err := connect.Open(with(s.dsn(""), fmt.Sprintf("timestamp=%d.000000", s.Now().AddDate(0, 0, -daysBack).Unix())), 0)
	if err != nil {
		return err
	}
	defer db.Close()
	_, err = prune.KeepPartitions(ctx, db, prune.Options{Prefix: Prefix})
	return err
}

func (s *Stage) prune(ctx context.Context) (prune.Report, error) {
	db, err := connect.Open(s.dsn(""), 0)
	if err != nil {
		return prune.Report{}, err
	}
	defer db.Close()
	return prune.Run(ctx, db, prune.Options{Prefix: Prefix, Keep: prune.MinKeep, TrustClock: true})
}
