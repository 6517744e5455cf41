// Package reserved has the entity names that belong to rooms of the library, under which apps insert and cancel nothing, and what these rooms want of
// their checks of whoever calls them.
package reserved

import (
	"fmt"
	"strings"

	"prescient/prescient"
)

// TimerExec is the job_exec of the timers of schedules.
const TimerExec = "schedule.fire"

// StepsExec is the job_exec of the runs of jobs, and JobPrefix how the ids of their schedules begin.
const (
	StepsExec = "steps.run"
	JobPrefix = "job/"
)

// Room is a room of the library that keeps rows of its own. Whoever has none of these cannot name one.
type Room struct{ name string }

// Name is the entity name of its rows.
func (r Room) Name() string { return r.name }

// Schedule is the room of schedules, whose timers and runs are checks.
func Schedule() Room { return Room{prescient.ScheduleEntity} }

// Jobs is the room of jobs of steps, whose runs are those of schedules that it makes.
func Jobs() Room { return Room{prescient.ScheduleEntity} }

// Bulk is the room of bulk runs, which keeps no checks of its own.
func Bulk() Room { return Room{} }

// Rules is the room of rules, which keeps no checks of its own.
func Rules() Room { return Room{} }

// Outbox is the room of events, which keeps no checks.
func Outbox() Room { return Room{} }

// PlaceOf is where in a sharded keyspace lies what is of a schedule, by its id: with its timer.
func PlaceOf(schedule string) prescient.KeyspaceID {
	return prescient.Entity{Name: prescient.ScheduleEntity, Key: schedule}.KeyspaceID()
}

// Refuse returns an error that wraps prescient.ErrInvalid for an entity whose rows belong to a room.
func Refuse(e prescient.Entity) error {
	if e.Name != prescient.ScheduleEntity {
		return nil
	}
	return fmt.Errorf("%w: entity %s: the name %s is kept for schedules, which have commands and functions of their own", prescient.ErrInvalid, e, e.Name)
}

// RefuseNew is Refuse for what is to be created: no such name in another spelling either, which people would take for it. What is there
// under one can be read, moved and cancelled.
func RefuseNew(e prescient.Entity) error {
	if e.Name != prescient.ScheduleEntity && strings.EqualFold(e.Name, prescient.ScheduleEntity) {
		return fmt.Errorf("%w: entity %s: the name %s is kept for schedules, in any spelling", prescient.ErrInvalid, e, prescient.ScheduleEntity)
	}
	return Refuse(e)
}

// IsTimer says whether a row is the timer of a schedule, which its own room alone makes.
func IsTimer(job prescient.FutureJob) bool {
	return job.EntityName == prescient.ScheduleEntity && job.JobExec == TimerExec
}
