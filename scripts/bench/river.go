package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
)

var riverSection = section{
	name:  "river",
	about: "River on Postgres, for jobs that are due at one instant and are kept when done, beside a slot run: alone, and with a million more pending",
	run:   aloneAndAmong(50_000, (*bench).river),
}

// The names of the section's cases.
const (
	riverReady     = "River on Postgres, made available before"
	riverScheduled = "River on Postgres, scheduled"
	amongPending   = ", more pending"
)

// river lets River and prescient compete at one number of pending jobs.
func (b *bench) river(ctx context.Context, s *server, due, pending int) (err error) {
	st, err := b.makeStage(ctx, s, "river", due, pending)
	if err != nil {
		return err
	}
	if !b.keep {
		defer st.drop(ctx)
	}
	pg, err := b.startPostgres(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, pg.stop()) }()
	b.say("  Postgres %s", pg.version)
	if err := pg.riverTables(ctx, pending); err != nil {
		return err
	}
	suffix := ""
	if pending > 0 {
		suffix = amongPending
	}
	for round := 1; round <= b.rounds; round++ {
		for _, c := range []struct{ name, state string }{{riverReady, "available"}, {riverScheduled, "scheduled"}} {
			if err := pg.riverJobs(ctx, due, c.state); err != nil {
				return err
			}
			var client *river.Client[pgx.Tx]
			if _, err := b.took(c.name+suffix, round, []int{pg.pid()}, func() (_ int, err error) {
				client, err = pg.riverWork(ctx, due)
				return due, err
			}); err != nil {
				return err
			}
			if err := client.Stop(ctx); err != nil {
				return err
			}
			var completed int
			if err := pg.pool.QueryRow(ctx, "SELECT count(*) FROM river_job WHERE state = 'completed' AND kind = $1", dueExec).Scan(&completed); err != nil || completed != due {
				return errors.Join(err, fmt.Errorf("%s: %d of %d are completed", c.name, completed, due))
			}
		}
		if err := b.slotRuns(ctx, st, round, suffix); err != nil {
			return err
		}
	}
	return nil
}

// checkArgs are the arguments of a job that does nothing.
type checkArgs struct {
	Order int `json:"order"`
}

func (checkArgs) Kind() string { return dueExec }

// checkWorker does a job, and tells when it was the last.
type checkWorker struct {
	river.WorkerDefaults[checkArgs]
}

func (checkWorker) Work(context.Context, *river.Job[checkArgs]) error { return nil }

// riverTables makes River's tables, with jobs pending in the coming month.
func (p *postgresServer) riverTables(ctx context.Context, pending int) error {
	migrator, err := rivermigrate.New(riverpgxv5.New(p.pool), &rivermigrate.Config{Logger: quiet})
	if err != nil {
		return err
	}
	if _, err := migrator.Migrate(ctx, rivermigrate.DirectionUp, nil); err != nil {
		return err
	}
	if _, err := p.pool.Exec(ctx, `INSERT INTO river_job (args, kind, max_attempts, state, scheduled_at)
		SELECT jsonb_build_object('order', n), 'later', 25, 'scheduled', now() + interval '2 days' + (n % 28) * interval '1 day'
		FROM generate_series(1, $1::int) n`, pending); err != nil {
		return err
	}
	_, err = p.pool.Exec(ctx, "VACUUM ANALYZE river_job")
	return err
}

// riverJobs makes the due jobs, in place of those of the turn before.
func (p *postgresServer) riverJobs(ctx context.Context, due int, state string) error {
	for _, query := range []string{
		"DELETE FROM river_job WHERE kind = '" + dueExec + "'",
		"VACUUM river_job",
		fmt.Sprintf(`INSERT INTO river_job (args, kind, max_attempts, state, scheduled_at)
			SELECT jsonb_build_object('order', n), '%s', 25, '%s', now() FROM generate_series(1, %d) n`, dueExec, state, due),
		"VACUUM ANALYZE river_job",
		"CHECKPOINT",
	} {
		if _, err := p.pool.Exec(ctx, query); err != nil {
			return fmt.Errorf("%.60s: %w", query, err)
		}
	}
	return nil
}

// quiet is a log for nobody.
var quiet = slog.New(slog.DiscardHandler)

// newRiver is a client of River that works. It may fetch as often, and have as many jobs at hand, as makes it fast;
// its defaults are a fetch in 100 ms.
func (p *postgresServer) newRiver(config *river.Config) (*river.Client[pgx.Tx], error) {
	workers := river.NewWorkers()
	river.AddWorker(workers, checkWorker{})
	config.Workers, config.Logger = workers, quiet
	return river.NewClient(riverpgxv5.New(p.pool), config)
}

// riverWork works until so many jobs are completed, durably: River tells of a job when its state is committed.
func (p *postgresServer) riverWork(ctx context.Context, due int) (*river.Client[pgx.Tx], error) {
	client, err := p.newRiver(&river.Config{FetchCooldown: 2 * time.Millisecond, FetchPollInterval: 5 * time.Millisecond,
		Queues: map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: 2000}}})
	if err != nil {
		return nil, err
	}
	completed, cancel := client.SubscribeConfig(&river.SubscribeConfig{ChanSize: 2 * due, Kinds: []river.EventKind{river.EventKindJobCompleted, river.EventKindJobFailed}})
	defer cancel()
	if err := client.Start(ctx); err != nil {
		return nil, err
	}
	for n := 0; n < due; n++ {
		select {
		case event := <-completed:
			if event.Kind != river.EventKindJobCompleted {
				return nil, fmt.Errorf("job %d failed", event.Job.ID)
			}
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(time.Minute):
			return nil, fmt.Errorf("%d of %d jobs were completed, and then none for a minute", n, due)
		}
	}
	return client, nil
}
