package stage

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"prescient/prescient"
	"prescient/prescient/schedule"
	"prescient/prescient/steps"
	"prescient/scripts/chaos/checker/evidence"
	"prescient/scripts/chaos/worker"
)

// writers is how many apps write changes.
const writers = 3

// hasJobs says whether there are jobs of steps, and a queue of changes: where there are schedules.
func (s *Stage) hasJobs() bool { return s.Scenario.Load.Schedules > 0 }

// job is one of three, each of three steps on two crontabs; the last one is of a pool. In each version it tells another.
func job(n, version int) steps.Job {
	j := steps.Job{Name: fmt.Sprint("j", n), Crontabs: []string{fmt.Sprintf("%d-59/6 * * * * *", n), fmt.Sprintf("%d-59/10 * * * * *", n+3)}, Quota: schedule.NoQuota,
		Tolerance: 10 * time.Second, Steps: []steps.Step{
			{Name: worker.LoadStep, JobExec: worker.LoadStep, Retries: 2, RetryWait: 100 * time.Millisecond},
			{Name: worker.TxStep, JobExec: worker.TxStep, Retries: 2, RetryWait: 100 * time.Millisecond},
			{Name: worker.TellStep, JobExec: worker.TellStep, Arguments: fmt.Appendf(nil, `{"version":%d}`, version), Retries: 3, RetryWait: 300 * time.Millisecond},
		}}
	if n == 2 {
		j.Pool = worker.Pool
	}
	return j
}

const jobs = 3

// makeJobs makes the jobs, and the check of the queue of changes.
func (s *Stage) makeJobs(ctx context.Context) error {
	s.jobs = steps.New(s.Client, steps.Options{})
	for n := range jobs {
		if _, err := s.jobs.Create(ctx, s.App, job(n, 1)); err != nil {
			return err
		}
	}
	_, err := s.Client.Insert(ctx, s.App, prescient.NewJob{Entity: prescient.Entity{Name: evidence.QueueEntity, Key: worker.QueueExec}, JobExec: worker.QueueExec, DueAt: time.Now().UTC()})
	return err
}

// editJobs edits a job after the other, mostly while it runs, until ctx ends. What a fault lost of it is no matter: a run keeps the version
// that it began with, whichever that is.
func (s *Stage) editJobs(ctx context.Context) {
	for n := 0; Pause(ctx, 700*time.Millisecond); n++ {
		bounded, cancel := context.WithTimeout(ctx, 5*time.Second)
		_, _ = s.jobs.Update(bounded, s.App, job(n%jobs, n+2), 0)
		cancel()
	}
}

// writeChanges writes changes in transactions that commit in another order than that of their ids, until ctx ends. One in ten rolls back.
func (s *Stage) writeChanges(ctx context.Context, dice *rand.Rand) {
	db, done, err := s.queue()
	if err != nil {
		s.Logf("writing changes: %v", err)
		return
	}
	defer done()
	for Pause(ctx, time.Duration(dice.Int64N(int64(200*time.Millisecond)))) {
		if err := s.writeSome(ctx, db, dice); err != nil && ctx.Err() == nil && s.Scenario.Faults == nil {
			s.Logf("writing changes: %v", err)
		}
	}
}

func (s *Stage) writeSome(ctx context.Context, db *sql.DB, dice *rand.Rand) error {
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	tx, err := db.BeginTx(bounded, nil)
	if err != nil {
		return err
	}
	for range 2 { // the ids of others come between
		if _, err := tx.ExecContext(bounded, "INSERT INTO "+Prefix+"changes (payload) VALUES ('x')"+strings.Repeat(", ('x')", dice.IntN(3))); err != nil {
			return errors.Join(err, tx.Rollback())
		}
		Pause(ctx, time.Duration(dice.Int64N(int64(300*time.Millisecond))))
	}
	if dice.IntN(10) == 0 {
		return tx.Rollback()
	}
	return tx.Commit()
}

// queue is a pool on the shard with the check of the queue of changes, and so with those. In one database that is the pool of the apps.
func (s *Stage) queue() (*sql.DB, func(), error) {
	if s.Engine.Vitess == nil {
		return s.App, func() {}, nil
	}
	place := evidence.PlaceOf(evidence.QueueEntity, worker.QueueExec)
	for _, p := range s.parts {
		if p.keys.Have(place) {
			db, err := open(with(s.Engine.Vitess.shard(p.shard).DSN(), "readTimeout=10s&timeout=5s"))
			return db, func() { _ = db.Close() }, err
		}
	}
	return nil, nil, errors.New("no shard has the queue of changes")
}
