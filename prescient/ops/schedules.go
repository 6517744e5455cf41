package ops

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"prescient/prescient"
	"prescient/prescient/client"
	"prescient/prescient/longrun"
	"prescient/prescient/ops/definition"
	"prescient/prescient/schedule"
)

// SchedulesAsked narrows a list of schedules. What is not given does not narrow it.
type SchedulesAsked struct {
	Owner    string `query:"owner" doc:"Only those of this owner: name/key, as in customer/42."`
	Troubled bool   `query:"troubled" doc:"Only those that were disabled since they are no good."`
	Paused   bool   `query:"paused" doc:"Only those that do not fire: a person paused them, or they have no more occurrences."`
	Search   string `query:"search" maxLength:"200" doc:"Only those with this text in the id, the job_exec, the topic or the owner, in upper or lower case."`
	Last     bool   `query:"last" doc:"With how the last run of each has ended: of 200 at most."`
	Paging
}

// has says whether a schedule is one of those that are searched for.
func (a SchedulesAsked) has(s schedule.Stored) bool {
	if a.Paused && s.Enabled {
		return false
	}
	return a.Search == "" || definition.HasText(a.Search, s.ID, s.JobExec, s.Topic, s.Owner.String())
}

// ListSchedules lists schedules.
var ListSchedules = query("schedules.list", Viewer, "List schedules in the order of their ids, without their payloads. A page of a search may be shorter than its limit.", func(ctx context.Context, q asked, in SchedulesAsked) (Page[Schedule], error) {
	found, next, err := q.matching(ctx, q.db, in)
	if err != nil {
		return Page[Schedule]{}, err
	}
	rows, err := q.withNext(ctx, found...)
	if err == nil && in.Last {
		err = q.addLast(ctx, rows)
	}
	return Page[Schedule]{Rows: rows, Next: next}, err
})

// matching reads a page of the schedules that match.
func (o *Ops) matching(ctx context.Context, db prescient.DB, in SchedulesAsked) (found []schedule.Stored, next string, err error) {
	f := schedule.Filter{Troubled: in.Troubled}
	if err := errors.Join(prescient.ValidText("cursor", in.After, 1000), prescient.ValidText("search", in.Search, 200)); err != nil {
		return nil, "", err
	}
	if in.Owner != "" {
		if f.Owner, err = prescient.ParseEntity(in.Owner); err != nil {
			return nil, "", err
		}
	}
	return definition.Search(ctx, in.After, in.Limit, in.Search != "" || in.Paused, in.has, func(s schedule.Stored) string { return s.ID }, func(after string, limit int) ([]schedule.Stored, error) {
		f.After, f.Limit = after, limit
		return o.schedules.List(ctx, db, f)
	})
}

// withNext are schedules with what their timers wait for.
func (q asked) withNext(ctx context.Context, found ...schedule.Stored) ([]Schedule, error) {
	ids := make([]string, len(found))
	for i, one := range found {
		ids[i] = one.ID
	}
	due, err := q.schedules.Timers(ctx, q.db, ids...)
	rows := make([]Schedule, len(found))
	for i, one := range found {
		rows[i] = scheduleOf(one, due[one.ID])
	}
	return rows, err
}

// addLast adds how the last runs of schedules have ended. Events have no runs.
func (q asked) addLast(ctx context.Context, rows []Schedule) error {
	var run []prescient.Entity
	for _, one := range rows {
		if one.JobExec != "" {
			run = append(run, prescient.Entity{Name: prescient.ScheduleEntity, Key: one.ID})
		}
	}
	last, err := q.client.LastEnds(ctx, q.db, run, schedule.TimerExec) // each change of a schedule ends its timer
	for i, one := range rows {
		if end, found := last[prescient.Entity{Name: prescient.ScheduleEntity, Key: one.ID}]; found {
			rows[i].Last = &end
		}
	}
	return err
}

// ScheduleAsked names a schedule.
type ScheduleAsked struct {
	ID string `json:"id" query:"id" required:"true" doc:"The id of the schedule."`
}

// GetSchedule returns a schedule.
var GetSchedule = query("schedules.get", Viewer, "Get a schedule.", func(ctx context.Context, q asked, in ScheduleAsked) (Schedule, error) {
	one, err := q.schedule(ctx, in.ID)
	if err != nil {
		return Schedule{}, err
	}
	rows, err := q.withNext(ctx, one)
	return rows[0], err
})

// schedule is a schedule as the caller may see it.
func (q asked) schedule(ctx context.Context, id string) (schedule.Stored, error) {
	if q.by.Role.May(Operator) {
		return q.schedules.Get(ctx, q.db, id)
	}
	found, err := q.schedules.Find(ctx, q.db, id)
	if err == nil && len(found) == 0 {
		err = fmt.Errorf("%w: %q", schedule.ErrNotFound, id)
	}
	if err != nil {
		return schedule.Stored{}, err
	}
	return found[0], nil
}

// Created says whether a deed made something.
type Created struct {
	Created bool `json:"created" doc:"It was not there, and is now; else it was there with the same definition."`
}

// CreateSchedule adds a schedule.
var CreateSchedule = deed("schedules.create", Operator, "Add a schedule, which fires from now on.", func(ctx context.Context, d doing, in definition.Schedule) (Created, error) {
	s, err := in.Defined()
	if err != nil {
		return Created{}, err
	}
	created, err := d.schedules.Create(ctx, d.tx, s)
	return Created{created}, err
})

// Changed says whether a deed changed something.
type Changed struct {
	Changed bool `json:"changed" doc:"False where all was so already."`
}

// ScheduleUpdate is another definition of a schedule.
type ScheduleUpdate struct {
	definition.Schedule
	Version uint64 `json:"version,string" required:"false" doc:"Refuse it where the schedule has another version by now."`
}

// UpdateSchedule puts another definition in the place of a schedule's.
var UpdateSchedule = deed("schedules.update", Operator, "Put another definition in the place of a schedule's: all of it, also its payload.", func(ctx context.Context, d doing, in ScheduleUpdate) (Changed, error) {
	s, err := in.Defined()
	if err != nil {
		return Changed{}, err
	}
	changed, err := d.schedules.UpdateFrom(ctx, d.tx, s, in.Version)
	return Changed{changed}, err
})

// SchedulesChosen says which schedules.
type SchedulesChosen struct {
	IDs   []string `json:"ids,omitempty" maxItems:"1000" doc:"Their ids. One that is not there is no error."`
	Owner string   `json:"owner,omitempty" doc:"Instead of ids: all of this owner."`
}

// DeleteSchedules deletes schedules.
var DeleteSchedules = deed("schedules.delete", Operator, "Delete schedules with their timers and runs; it says how many there were.", func(ctx context.Context, d doing, in SchedulesChosen) (Counted, error) {
	if (len(in.IDs) == 0) == (in.Owner == "") {
		return Counted{}, fmt.Errorf("%w: give ids, or an owner", prescient.ErrInvalid)
	}
	if in.Owner == "" {
		n, err := d.schedules.Delete(ctx, d.tx, in.IDs...)
		return Counted{n}, err
	}
	owner, err := prescient.ParseEntity(in.Owner)
	if err != nil {
		return Counted{}, err
	}
	n, err := d.schedules.DeleteOwner(ctx, d.tx, owner)
	return Counted{n}, err
})

// PauseSchedule stops a schedule.
var PauseSchedule = deed("schedules.pause", Operator, "Stop a schedule until it is resumed.", func(ctx context.Context, d doing, in ScheduleAsked) (Changed, error) {
	changed, err := d.schedules.Pause(ctx, d.tx, in.ID)
	return Changed{changed}, err
})

// ResumeSchedule lets a schedule fire again.
var ResumeSchedule = deed("schedules.resume", Operator, "Let a schedule fire again, from now on.", func(ctx context.Context, d doing, in ScheduleAsked) (Changed, error) {
	changed, err := d.schedules.Resume(ctx, d.tx, in.ID)
	return Changed{changed}, err
})

// Begun names a run that was asked for.
type Begun struct {
	Run string `json:"run" doc:"The id of the run, or of the event."`
}

// RunSchedule runs a schedule once.
var RunSchedule = deed("schedules.run_now", Operator, "Run a schedule once in the next open slot, or send its event; also one that is paused.", func(ctx context.Context, d doing, in ScheduleAsked) (Begun, error) {
	run, err := d.schedules.RunNow(ctx, d.tx, in.ID)
	return Begun{run}, err
})

// Planned says for when the timer of a schedule waits.
type Planned struct {
	Was *time.Time `json:"was,omitempty" doc:"For when it waited, where there was one."`
	Is  *time.Time `json:"is,omitempty" doc:"For when it waits; none where the schedule is paused."`
}

// Changed says whether the timer waits for another time now.
func (p Planned) Changed() bool {
	return p.Is != nil && (p.Was == nil || !p.Was.Equal(*p.Is))
}

// PlanSchedule puts a timer right.
var PlanSchedule = deed("schedules.plan_anew", Operator, "Put the timer of a schedule to the time that its crontabs mean by the time zones of this machine, as after an update of them; one that was deleted is made anew.", func(ctx context.Context, d doing, in ScheduleAsked) (out Planned, err error) {
	was, is, err := d.schedules.PlanAnew(ctx, d.tx, in.ID)
	if !was.IsZero() {
		out.Was = &was
	}
	if !is.IsZero() {
		out.Is = &is
	}
	return out, err
})

// ScheduleRunsAsked says of which runs.
type ScheduleRunsAsked struct {
	ScheduleAsked
	Paging
}

// ScheduleRuns are what there is of a schedule's runs.
type ScheduleRuns struct {
	Timer   *prescient.FutureJob  `json:"timer,omitempty" doc:"The row that waits for the next occurrence, where there is one."`
	Waiting []prescient.FutureJob `json:"waiting" doc:"Runs that wait, up to 1,000, the next first."`
	Long    []longrun.State       `json:"long" doc:"Long runs that did not end, up to 1,000, the latest first."`
	Ended   Page[client.Ended]    `json:"ended" doc:"Runs that ended, the latest first; a page may be shorter than its limit."`
}

// mostRuns is how many runs of a schedule are listed that did not end.
const mostRuns = 1000

// ListScheduleRuns lists the runs of a schedule.
var ListScheduleRuns = query("schedules.runs", Viewer, "List the runs of a schedule: those that wait, those under way, and a page of those that ended.", func(ctx context.Context, q asked, in ScheduleRunsAsked) (out ScheduleRuns, err error) {
	if _, err := q.schedule(ctx, in.ID); err != nil {
		return out, err
	}
	f := client.ListFilter{Entity: prescient.Entity{Name: prescient.ScheduleEntity, Key: in.ID}, Limit: mostRuns + 1, Bare: !q.by.Role.May(Operator)}
	rows, err := q.client.Pending(ctx, q.db, f)
	if err != nil {
		return out, err
	}
	if i := slices.IndexFunc(rows, isTimer); i >= 0 {
		out.Timer = &rows[i]
	}
	out.Waiting = []prescient.FutureJob{}
	for _, row := range rows[:min(len(rows), mostRuns)] {
		if !isTimer(row) {
			out.Waiting = append(out.Waiting, row)
		}
	}
	if out.Long, err = q.schedules.LongRuns(ctx, q.db, in.ID, mostRuns); err != nil {
		return out, err
	}
	if out.Long == nil {
		out.Long = []longrun.State{}
	}
	f.After, f.Limit = in.After, in.Limit+1
	ended, err := q.client.History(ctx, q.db, f)
	if out.Ended, err = page(ended, in.Limit, err); err != nil {
		return out, err
	}
	out.Ended.Rows = slices.DeleteFunc(out.Ended.Rows, func(e client.Ended) bool { return isTimer(e.FutureJob) }) // each change ends one
	return out, nil
})

func isTimer(row prescient.FutureJob) bool { return row.JobExec == schedule.TimerExec }

// Schedule is a schedule that is there.
type Schedule struct {
	definition.Schedule
	Version uint64 `json:"version,string" doc:"Rises with every change; 0 is that of one that plain SQL inserted, until its timer was called."`
	definition.Switch
	CreatedAt time.Time     `json:"created_at"`
	UpdatedAt time.Time     `json:"updated_at"`
	Last      *client.Ended `json:"last,omitempty" doc:"The last run that has ended, where a list is asked for that."`
}

// Cursor is the place of the schedule in a list.
func (s Schedule) Cursor() string { return s.ID }

func scheduleOf(s schedule.Stored, next time.Time) Schedule {
	return Schedule{Schedule: definition.OfSchedule(s.Schedule), Version: s.Version, Switch: definition.SwitchOf(s, next), CreatedAt: s.CreatedAt, UpdatedAt: s.UpdatedAt}
}
