package ops

import (
	"context"
	"errors"
	"time"

	"prescient/prescient/ops/definition"
	"prescient/prescient/schedule"
)

// PreviewSchedule says when crontabs fire.
var PreviewSchedule = query("schedules.preview", Viewer, "Say when crontabs fire next.", func(ctx context.Context, q asked, in definition.Previewed) (out definition.Preview, err error) {
	from := in.From
	if from.IsZero() {
		if from, err = q.client.Now(ctx, q.db); err != nil {
			return out, err
		}
	}
	if err := checkTimes(in.From, in.MadeAt); err != nil {
		return out, err
	}
	return in.Preview(ctx, q.tables.Grid, from)
})

// ListScheduleVersions lists the versions of a schedule.
var ListScheduleVersions = query("schedules.versions", Viewer, "List the versions of a schedule, the latest first: what it is, and the last 50 that it was; also of one that was deleted.", func(ctx context.Context, q asked, in ScheduleAsked) (Page[definition.ScheduleVersion], error) {
	found, err := q.schedules.Versions(ctx, q.db, in.ID, q.by.Role.May(Operator))
	if err != nil {
		return Page[definition.ScheduleVersion]{}, err
	}
	is, err := q.schedule(ctx, in.ID)
	if err != nil && (len(found) == 0 || !errors.Is(err, schedule.ErrNotFound)) {
		return Page[definition.ScheduleVersion]{}, err
	}
	rows := []definition.ScheduleVersion{}
	if err == nil {
		rows = append(rows, definition.OfVersion(schedule.Version{Schedule: is.Schedule, Version: is.Version, CreatedAt: is.CreatedAt, Bytes: len(is.Payload)}).Listed())
	}
	for _, v := range found {
		rows = append(rows, definition.OfVersion(v))
	}
	return Page[definition.ScheduleVersion]{Rows: rows}, nil
})

// ScheduleVersionAsked names a version of a schedule.
type ScheduleVersionAsked struct {
	ScheduleAsked
	Version uint64    `json:"version,string" query:"version" required:"true" doc:"Which."`
	Of      time.Time `json:"of,omitzero" query:"of" doc:"The created_at of the schedule, where one of its id that was deleted is meant."`
}

func (a ScheduleVersionAsked) which() schedule.Which {
	return schedule.Which{Version: a.Version, CreatedAt: a.Of}
}

// GetScheduleVersion returns a version of a schedule.
var GetScheduleVersion = query("schedules.version", Viewer, "Get what a schedule was with a version; for operators with its payload.", func(ctx context.Context, q asked, in ScheduleVersionAsked) (definition.ScheduleVersion, error) {
	if err := checkTimes(in.Of); err != nil {
		return definition.ScheduleVersion{}, err
	}
	v, err := q.schedules.GetVersion(ctx, q.db, in.ID, in.which(), q.by.Role.May(Operator))
	return definition.OfVersion(v), err
})

// ScheduleGoingBack says to which version of a schedule to go back.
type ScheduleGoingBack struct {
	ScheduleVersionAsked
	Seen uint64 `json:"seen,string" required:"false" doc:"Refuse it where the schedule has another version than this by now."`
}

// GoBackSchedule makes a version of a schedule its definition again.
var GoBackSchedule = deed("schedules.back", Operator, "Make a version of a schedule its definition again, also its payload. One that was deleted is created again.", func(ctx context.Context, d doing, in ScheduleGoingBack) (Changed, error) {
	if err := checkTimes(in.Of); err != nil {
		return Changed{}, err
	}
	changed, err := d.schedules.GoBack(ctx, d.tx, in.ID, in.which(), in.Seen)
	return Changed{changed}, err
})

// JobGoingBack says to which version of a job to go back.
type JobGoingBack struct {
	JobNamed
	Version uint64 `json:"version,string" required:"true" minimum:"1" doc:"Which."`
	Seen    uint64 `json:"seen,string" required:"false" doc:"Refuse it where the job has another version than this by now."`
}

// GoBackJob makes a version of a job its definition again.
var GoBackJob = deed("jobs.back", Operator, "Make a version of a job its definition again; shared steps stay as they are. One that was deleted is created again.", func(ctx context.Context, d doing, in JobGoingBack) (Changed, error) {
	changed, err := d.jobs.GoBack(ctx, d.tx, in.Name, in.Version, in.Seen)
	return Changed{changed}, err
})
