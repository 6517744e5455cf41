package large

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"

	"prescient/prescient/attest"
	"prescient/prescient/connect"
	"prescient/prescient/doctor"
	"prescient/prescient/forecast"
	"prescient/prescient/stats"
	"prescient/prescient/status"
	"prescient/sql"

	"prescient/scripts/bench/internal/rig"
)

// Answers is the section of what is asked of an installation.
var Answers = rig.Section{
	Name: "answers",
	About: "what whoever is on call asks: status, doctor, forecast, stats of an hour, percentiles of a week, attest of a night; among 30 million checks pending for the coming month and 50 million ended " +
		"in the last thirteen weeks, with books of 4 job_execs for each slot of a quarter of an hour",
	Run: func(ctx context.Context, b *rig.Bench, s *rig.Server) error { return measureAnswers(ctx, b, s) },
}

// answers are what is asked, each by the function that its command calls.
var answers = []struct {
	name string
	ask  func(ctx context.Context, db *sqlx.DB) (int, error)
}{
	{"status", func(ctx context.Context, db *sqlx.DB) (int, error) {
		report, err := status.Look(ctx, db, doctor.Options{})
		return len(report.Findings), err
	}},
	{"doctor", func(ctx context.Context, db *sqlx.DB) (int, error) {
		found, err := doctor.Examine(ctx, db, doctor.Options{})
		return len(found), err
	}},
	{"forecast, made", func(ctx context.Context, db *sqlx.DB) (int, error) {
		maker, err := forecast.New(ctx, db, forecast.Options{Name: "bench"})
		if err != nil {
			return 0, err
		}
		_, err = maker.Make(ctx)
		return 1, err
	}},
	{"percentiles of a week", func(ctx context.Context, db *sqlx.DB) (int, error) {
		end := time.Now().UTC().Truncate(time.Hour).Add(-2 * time.Hour)
		all, err := stats.Percentiles(ctx, db, "", sql.Auto, end.AddDate(0, 0, -7), end)
		return len(all), err
	}},
	{"stats of an hour", func(ctx context.Context, db *sqlx.DB) (int, error) {
		report, err := stats.Execs(ctx, db, "", sql.Auto, time.Now().Add(-time.Hour), time.Now())
		return len(report.Execs), err
	}},
	{"attest of a night", func(ctx context.Context, db *sqlx.DB) (int, error) {
		report, err := attest.Run(ctx, db, attest.Options{From: time.Now().Add(-12 * time.Hour)})
		return len(report.Spans), err
	}},
}

func measureAnswers(ctx context.Context, b *rig.Bench, s *rig.Server) error {
	return onFilled(ctx, b, s, func(_ *rig.Place, db *sqlx.DB, ended int) error {
		for _, a := range answers {
			if err := rig.Timed(ctx, b, a.name, ended, 5, func() (int, error) { return a.ask(ctx, db) }); err != nil {
				return err
			}
		}
		return nil
	})
}

// onFilled has something measured on what filled makes, on a pool whose statements are bounded.
func onFilled(ctx context.Context, b *rig.Bench, s *rig.Server, measure func(p *rig.Place, db *sqlx.DB, ended int) error) error {
	p, ended, err := filled(ctx, b, s)
	if err != nil {
		return err
	}
	defer leave(ctx, b, p)
	db, err := connect.Open(limitedDSN(p, viewLimit), 0)
	if err != nil {
		return err
	}
	defer db.Close()
	return measure(p, db, ended)
}

// filled makes an installation with so many ends, three fifths as many pending checks, books and sums, or takes that which --keep has kept.
func filled(ctx context.Context, b *rig.Bench, s *rig.Server) (p *rig.Place, ended int, err error) {
	if ended = b.Rows; ended == 0 {
		ended = b.Scaled(50_000_000)
	}
	if p, err = s.Install(ctx, "answers", resolution, b.Keep); err != nil {
		return nil, 0, err
	}
	if _, err := p.Exec(ctx, "SELECT 1 FROM bench_filled"); err == nil {
		return p, ended, sumUp(ctx, p)
	}
	for _, fill := range []func() error{
		func() error { return fillHistory(ctx, b, p, ended) },
		func() error { return fillPending(ctx, b, p, pendingOf(ended)) },
		func() error { return fillBooks(ctx, p) },
		func() error { return fillNames(ctx, p) },
		func() error { return sumUp(ctx, p) },
	} {
		if err := fill(); err != nil {
			leave(ctx, b, p)
			return nil, 0, err
		}
	}
	_, err = p.Exec(ctx, "CREATE TABLE bench_filled (n INT)")
	return p, ended, err
}

func pendingOf(ended int) int { return ended / 5 * 3 }

// leave drops what was filled, or closes it where --keep keeps it.
func leave(ctx context.Context, b *rig.Bench, p *rig.Place) {
	if b.Keep {
		p.Close()
	} else {
		p.Drop(ctx)
	}
}

// fillBooks makes the ledger of the slots whose ends there are, and books of their job_execs.
func fillBooks(ctx context.Context, p *rig.Place) error {
	ledger := fmt.Sprintf(`INSERT INTO slot_run (slot, bucket, buckets, token, batch_seq, worker, done, started_at, finished_at, run_by)
		SELECT at, 0, 1, 1, 1, 'bench', 100, at + INTERVAL 1 SECOND, at + INTERVAL 30 SECOND, 'work'
		FROM (SELECT TIMESTAMP'%s' - INTERVAL n * %d SECOND AS at FROM bench_n WHERE n < %d) slots`,
		time.Now().UTC().Truncate(resolution).Format(time.DateTime), int(resolution.Seconds()), historyDays*24*4)
	books := `INSERT INTO exec_run (slot, bucket, job_exec, entity_name, calls, errors, done, failed, run_ms, longest_run_ms, lateness_ms, longest_lateness_ms, run_buckets, lateness_buckets)
		SELECT slot, 0, job_exec, 'order', 100, 1, 99, 1, 1000, 50, 10000, 900, '{"40": 60, "70": 40}', '{"100": 50, "140": 50}'
		FROM slot_run CROSS JOIN (SELECT '` + strings.Join([]string{"order-unshipped", "invoice-unpaid", "parcel-lost", "account-idle"}, "' AS job_exec UNION ALL SELECT '") + `') execs`
	for _, query := range []string{ledger, books} {
		if _, err := p.Exec(ctx, query); err != nil {
			return err
		}
	}
	return p.Analyze(ctx, "slot_run", "exec_run")
}
