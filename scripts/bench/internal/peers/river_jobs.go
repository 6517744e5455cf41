package peers

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"

	"prescient/scripts/bench/internal/rig"
)

// checkArgs are the arguments of a job that does nothing.
type checkArgs struct {
	Order int `json:"order"`
}

// checkWorker does a job, and tells when it was the last.
type checkWorker struct {
	river.WorkerDefaults[checkArgs]
}

func (checkArgs) Kind() string { return rig.DueExec }

func (checkWorker) Work(context.Context, *river.Job[checkArgs]) error { return nil }

// RiverTables makes River's tables, with jobs pending in the coming month.
func (p *Postgres) RiverTables(ctx context.Context, pending int) error {
	migrator, err := rivermigrate.New(riverpgxv5.New(p.Pool), &rivermigrate.Config{Logger: quiet})
	if err != nil {
		return err
	}
	if _, err := migrator.Migrate(ctx, rivermigrate.DirectionUp, nil); err != nil {
		return err
	}
	if _, err := p.Pool.Exec(ctx, `INSERT INTO river_job (args, kind, max_attempts, state, scheduled_at)
		SELECT jsonb_build_object('order', n), 'later', 25, 'scheduled', now() + interval '2 days' + (n % 28) * interval '1 day'
		FROM generate_series(1, $1::int) n`, pending); err != nil {
		return err
	}
	_, err = p.Pool.Exec(ctx, "VACUUM ANALYZE river_job")
	return err
}

// RiverJobs makes the due jobs, in place of those of the turn before.
func (p *Postgres) RiverJobs(ctx context.Context, due int, state string) error {
	for _, query := range []string{
		"DELETE FROM river_job WHERE kind = '" + rig.DueExec + "'",
		"VACUUM river_job",
		fmt.Sprintf(`INSERT INTO river_job (args, kind, max_attempts, state, scheduled_at)
			SELECT jsonb_build_object('order', n), '%s', 25, '%s', now() FROM generate_series(1, %d) n`, rig.DueExec, state, due),
		"VACUUM ANALYZE river_job",
		"CHECKPOINT",
	} {
		if _, err := p.Pool.Exec(ctx, query); err != nil {
			return fmt.Errorf("%.60s: %w", query, err)
		}
	}
	return nil
}

// quiet is a log for nobody.
var quiet = slog.New(slog.DiscardHandler)

// NewRiver is a client of River that works. It may fetch as often, and have as many jobs at hand, as makes it fast;
// its defaults are a fetch in 100 ms.
func (p *Postgres) NewRiver(config *river.Config) (*river.Client[pgx.Tx], error) {
	workers := river.NewWorkers()
	river.AddWorker(workers, checkWorker{})
	config.Workers, config.Logger = workers, quiet
	return river.NewClient(riverpgxv5.New(p.Pool), config)
}

// RiverWork works until so many jobs are completed, durably: River tells of a job when its state is committed.
func (p *Postgres) RiverWork(ctx context.Context, due int) (*river.Client[pgx.Tx], error) {
	client, err := p.NewRiver(&river.Config{FetchCooldown: 2 * time.Millisecond, FetchPollInterval: 5 * time.Millisecond,
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
