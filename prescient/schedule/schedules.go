package schedule

import (
	"errors"
	"fmt"
	"strings"

	"prescient/prescient/audit"
	"prescient/prescient/client"
	"prescient/prescient/event"
	"prescient/prescient/internal/reserved"
	"prescient/prescient/internal/store"
	"prescient/prescient/schedule/timeline"
)

// ErrExists is returned by Create for an id that is taken by another definition; nothing was written.
var ErrExists = errors.New("another schedule has this id")

// ErrNotFound is returned where there is no schedule of an id; nothing was written.
var ErrNotFound = errors.New("no such schedule")

// ErrStale is returned by UpdateFrom where somebody has changed the schedule since it was read.
var ErrStale = errors.New("the schedule was changed meanwhile")

// ErrOfJob is returned for the schedule of a job of steps, which is changed with its job alone.
var ErrOfJob = errors.New("the schedule belongs to a job")

// TimerExec is the job_exec of timers, which [Schedules.Register] registers.
const TimerExec = reserved.TimerExec

// Schedules are those of one installation. It is for concurrent use.
//
// Its methods take the caller's handle, as those of a client.Client do: mostly the transaction of the domain event. On a pool each
// is a transaction of its own. After an error nothing of it is written, though the caller may commit all the same.
//
// Each change leaves its entry in the audit, on the same transaction: package audit says how to add who makes it and why.
type Schedules struct {
	own    client.Own
	tables *store.Tables
	log    audit.Log
	events *event.Outbox
	bounds bounds
	zones  timeline.Zones // nil for those of this machine
	ofJobs bool           // it is for the schedules of jobs, and for no others
	onSent func(heartbeat string)
}

// New returns the schedules of the installation that a client works on.
func New(c *client.Client) *Schedules {
	own := c.Own(reserved.Schedule())
	return &Schedules{own: own, tables: own.Tables(), log: audit.On(own.Tables()), events: event.New(c).OfSchedules(), bounds: bounds{sent: maxSent, bytes: maxSentBytes}}
}

// OfJobs returns the schedules of jobs of steps, which only their room changes. Their changes leave alone what has begun: a run that is
// under way goes on.
func (s *Schedules) OfJobs(reserved.Room) *Schedules {
	other := *s
	other.ofJobs = true
	return &other
}

// mine refuses a schedule of a job, unless it is the room of jobs that asks; which asks for no others.
func (s *Schedules) mine(some ...Schedule) error {
	for _, one := range some {
		switch is := one.JobExec == reserved.StepsExec; {
		case is && !s.ofJobs:
			return fmt.Errorf("%w: %q runs job_exec %s; change or delete the job instead (job edit, job delete)", ErrOfJob, one.ID, one.JobExec)
		case !is && s.ofJobs:
			return fmt.Errorf("%w: %q, which belongs to no job", ErrExists, one.ID)
		}
	}
	return nil
}

// stored refuses a schedule that is there as mine does. One that runs the job_exec of jobs, and has no id of theirs, is no job's: plain SQL has
// written it, and it can be changed and deleted here.
func (s *Schedules) stored(one Schedule) error {
	if !s.ofJobs && one.JobExec == reserved.StepsExec && !strings.HasPrefix(one.ID, reserved.JobPrefix) {
		return nil
	}
	return s.mine(one)
}

// OnSent has a function told of the heartbeats of schedules whose timers have put events into the outbox, once that is committed. It is to be
// quick, and to be set before workers run.
func (s *Schedules) OnSent(tell func(heartbeat string)) { s.onSent = tell }

// Outbox is the one into which schedules put their events: a forwarder that is given it learns of them at once.
func (s *Schedules) Outbox() *event.Outbox { return s.events }

// What a call for timers sends at most, beside the event or run of each that is due first. What is left over goes on in the next open
// slot: a call that took longer than timerTimeout would be made again for ever.
const (
	maxSent      = 10_000   // events and runs
	maxSentBytes = 64 << 20 // of payloads
)

// bounds are what a call sends at most.
type bounds struct{ sent, bytes int }
