package steps

import (
	"errors"

	"github.com/rs/zerolog"

	"prescient/prescient"
	"prescient/prescient/audit"
	"prescient/prescient/client"
	"prescient/prescient/internal/reserved"
	"prescient/prescient/internal/store"
	"prescient/prescient/longrun"
	"prescient/prescient/schedule"
)

// Errors of the methods; nothing was written then.
var (
	// ErrExists is returned by Create for a name that is taken by another definition.
	ErrExists = errors.New("another job has this name")
	// ErrNotFound is returned where there is no job, or no shared step, of a name.
	ErrNotFound = errors.New("no such job or step")
	// ErrStale is returned where somebody has changed what is to be changed since it was read.
	ErrStale = errors.New("changed meanwhile")
	// ErrInUse is returned by DeleteStep for a step that jobs have.
	ErrInUse = errors.New("jobs have this step")
	// ErrUnreadable is returned for a definition that plain SQL has written, and that is none. Update or PutStep puts another in its
	// place, and Delete deletes it.
	ErrUnreadable = errors.New("the tables hold no valid definition")
)

// Options are for New; the zero value is usable.
type Options struct {
	// Guards are those of the worker beside it: of them a step heeds Timeout, MaxChecks and Concurrency, where its job_exec has no others.
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
	lanes    lanes
}

// New returns the jobs of the installation that a client works on.
func New(c *client.Client, o Options) *Jobs {
	o.Guards = o.Guards.Or(prescient.DefaultGuards())
	own := c.Own(reserved.Jobs())
	return &Jobs{own: own, tables: own.Tables(), schedules: schedule.New(c).OfJobs(reserved.Jobs()), audit: audit.On(own.Tables()), options: o}
}
