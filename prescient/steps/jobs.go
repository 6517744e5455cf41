package steps

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rs/zerolog"

	"prescient/prescient"
	"prescient/prescient/audit"
	"prescient/prescient/client"
	"prescient/prescient/internal/reserved"
	"prescient/prescient/internal/store"
	"prescient/prescient/longrun"
	"prescient/prescient/schedule"
)

// Exec is the job_exec of the runs of jobs, which [Jobs.Register] registers.
const Exec = reserved.StepsExec

// Errors of the methods; nothing was written then.
var (
	// ErrExists is returned by Create for a name that is taken by another definition.
	ErrExists = errors.New("another job has this name")
	// ErrNotFound is returned where there is no job, or no shared step, of a name.
	ErrNotFound = errors.New("no such job or step")
	// ErrStale is returned where somebody has changed what is to be changed since it was read.
	ErrStale = errors.New("it was changed meanwhile")
	// ErrInUse is returned by DeleteStep for a step that jobs have.
	ErrInUse = errors.New("jobs have this step")
)

// Options are for New; the zero value is usable.
type Options struct {
	// Guards are those of the worker beside it: of them a step heeds Timeout and MaxChecks, where its job_exec has no others.
	Guards prescient.Guards
	// Log takes a line at warn for each step that failed. The zero value is silent.
	Log zerolog.Logger
}

// Jobs are those of one installation. It is for concurrent use.
//
// Its methods take the caller's handle, as those of schedule.Schedules do: a transaction, or a pool, on which each is a transaction of its
// own. After an error nothing of it is written, though the caller may commit all the same.
type Jobs struct {
	own       client.Own
	tables    *store.Tables
	schedules *schedule.Schedules
	audit     audit.Log
	options   Options

	// These are set by Register.
	registry *prescient.Registry
	runner   *longrun.Runner
	now      func() time.Time // time.Now, but for tests
}

// New returns the jobs of the installation that a client works on.
func New(c *client.Client, o Options) *Jobs {
	o.Guards = o.Guards.Or(prescient.DefaultGuards())
	own := c.Own(reserved.Jobs())
	return &Jobs{own: own, tables: own.Tables(), schedules: schedule.New(c).OfJobs(reserved.Jobs()), audit: audit.On(own.Tables()), options: o, now: time.Now}
}

// mostErrors is how often a run is tried again that could not go on, or lapsed; so many returned times are no bound: that of the step counts.
const mostErrors, mostChecks = 5, 1 << 30

// Register adds the job_exec of jobs to a registry: an agent whose worker has it runs jobs, whose steps are called with the other
// job_execs of the registry, by when they are called. The runner has the schedules for its Rules; a nil one registers the name, for a
// program that runs nothing. The error is that of Registry.Register.
func (j *Jobs) Register(registry *prescient.Registry, runner *longrun.Runner) error {
	j.registry, j.runner = registry, runner
	return runner.RegisterWithEnds(registry, Exec, j.call, prescient.Guards{MaxErrors: mostErrors, MaxChecks: mostChecks, Horizon: prescient.MaxHorizon}, j.noteEnds)
}

// Pause stops a job until Resume: no run begins; what has begun goes on. The error wraps ErrNotFound.
func (j *Jobs) Pause(ctx context.Context, db prescient.DB, name string) error {
	return j.switched(ctx, db, name, audit.Pause, j.schedules.Pause)
}

// Resume lets a job run again, from now on: what was due meanwhile is not missed. The error wraps ErrNotFound, or
// prescient.ErrInvalid where it has no more occurrences.
func (j *Jobs) Resume(ctx context.Context, db prescient.DB, name string) error {
	return j.switched(ctx, db, name, audit.Resume, j.schedules.Resume)
}

func (j *Jobs) switched(ctx context.Context, db prescient.DB, name, verb string, do func(ctx context.Context, db prescient.DB, id string) error) error {
	if err := validName("name of a job", name); err != nil {
		return err
	}
	return j.own.InTx(ctx, db, func(db prescient.DB) error {
		row, _, err := j.lockJob(ctx, db, name)
		if err != nil {
			return err
		}
		before, err := j.schedules.Get(ctx, db, scheduleID(name))
		if err != nil {
			return notFound(name, err)
		}
		if err := do(ctx, db, scheduleID(name)); err != nil || before.Enabled == (verb == audit.Resume) {
			return err
		}
		return j.did(ctx, db, verb, row, nil)
	})
}

// RunNow has a job run once, in the next open slot, beside what its crontabs say; also one that is paused. It returns the occurrence: the
// run of the log. Errors: ErrNotFound, and prescient.ErrPending for a second one within a second.
func (j *Jobs) RunNow(ctx context.Context, db prescient.DB, name string) (occurrence string, err error) {
	if err := validName("name of a job", name); err != nil {
		return "", err
	}
	err = j.own.InTx(ctx, db, func(db prescient.DB) error {
		row, _, err := j.lockJob(ctx, db, name)
		if err != nil {
			return err
		}
		id, err := j.schedules.RunNow(ctx, db, scheduleID(name))
		if err != nil {
			return notFound(name, err)
		}
		if _, occurrence, err = schedule.ParseID(id); err != nil {
			return err
		}
		return j.did(ctx, db, audit.Run, row, map[string]string{"occurrence": occurrence})
	})
	return occurrence, err
}

// notFound says of which job there is no schedule.
func notFound(name string, err error) error {
	if errors.Is(err, schedule.ErrNotFound) {
		return fmt.Errorf("%w: job %q", ErrNotFound, name)
	}
	return err
}
