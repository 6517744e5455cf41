package worker

import (
	"context"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"

	"prescient/cmd"
	"prescient/jobs/changequeue"
	"prescient/prescient"
	"prescient/prescient/steps"
	"prescient/scripts/chaos/checker"
)

// The job_execs of the steps of jobs, in the order in which each job takes them; TxStep is the one with effects in the database. Its name is that
// of its step, too.
const (
	LoadStep = "load"
	TxStep   = "book"
	TellStep = "tell"
)

// Steps are the steps of each job.
func Steps() []string { return []string{LoadStep, TxStep, TellStep} }

// QueueExec is the job_exec of the queue of changes, and its key. By that it is on the second shard of a Vitess: what it reads lies with it, and is not
// divided.
const QueueExec = "edits"

// gapWait is how long the queue waits for an id that is missing: longer than any transaction of the apps takes.
const gapWait = 20 * time.Second

// registerJobs registers what the steps of jobs call, each between its two reports, and the queue of changes.
func registerJobs(registry *prescient.Registry, checks *reporter, deps cmd.Deps) error {
	guards := prescient.Guards{Timeout: inTime}
	if err := registry.Register(LoadStep, func(ctx context.Context, job prescient.FutureJob) (*time.Time, error) {
		return step(ctx, checks, job, func() error { return nap(ctx, 200*time.Millisecond) })
	}, guards); err != nil {
		return err
	}
	if err := registry.RegisterTx(TxStep, func(ctx context.Context, tx *sqlx.Tx, job prescient.FutureJob) (*time.Time, error) {
		return step(ctx, checks, job, func() error {
			call, _ := steps.CallOf(ctx)
			_, err := tx.ExecContext(ctx, "INSERT INTO "+deps.Config.TablePrefix+"step_effects (job, occurrence) VALUES (?, ?)", call.Job, call.Occurrence)
			return err
		})
	}, prescient.Guards{Timeout: inTimeTx}); err != nil {
		return err
	}
	if err := registry.Register(TellStep, func(ctx context.Context, job prescient.FutureJob) (*time.Time, error) {
		return step(ctx, checks, job, func() error {
			call, _ := steps.CallOf(ctx)
			if job.ErrorCount == 0 && strings.HasSuffix(call.Occurrence, "3") { // of one in ten seconds it fails once
				return errFlaky
			}
			return nap(ctx, 100*time.Millisecond)
		})
	}, guards); err != nil {
		return err
	}
	queue, err := changequeue.New(changequeue.Options{DB: deps.DB, Name: QueueExec, Table: deps.Config.TablePrefix + "changes", Batch: 50, GapWait: gapWait,
		Watch: 100 * time.Millisecond, Log: deps.Log})
	if err != nil {
		return err
	}
	return queue.RegisterTx(deps.Long, registry, func(ctx context.Context, tx *sqlx.Tx, changes []changequeue.Change) error {
		args := make([]any, len(changes))
		for i, c := range changes {
			args[i] = c.ID
		}
		_, err := tx.ExecContext(ctx, "INSERT INTO "+deps.Config.TablePrefix+"handled (id) VALUES (?)"+strings.Repeat(", (?)", len(args)-1), args...)
		return err
	})
}

// step is a call of a step with its reports.
func step(ctx context.Context, checks *reporter, job prescient.FutureJob, work func() error) (*time.Time, error) {
	call, _ := steps.CallOf(ctx)
	event := checker.Event{Kind: checker.Called, Key: call.Job, Tag: call.Occurrence, Exec: call.Step, Revision: call.Version, Step: call.Seq,
		Errors: job.ErrorCount, Payload: string(job.Payload)}
	event.N = checks.note(event)
	err := work()
	event.Kind, event.Failed = checker.Returned, err != nil
	checks.note(event)
	return nil, err
}
