package ops

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
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

// ScheduleVersion is a definition that a schedule has, or had.
type ScheduleVersion struct {
	definition.Schedule
	Version       uint64     `json:"version,string" doc:"The last that the schedule had with this definition: a pause and a resume make one, too."`
	CreatedAt     time.Time  `json:"created_at" doc:"When the schedule was created: one of its id that was deleted had versions of its own."`
	EndedAt       *time.Time `json:"ended_at,omitempty" doc:"When another took its place, or the schedule was deleted; it is so now where there is none."`
	PayloadBytes  int        `json:"payload_bytes,omitempty" doc:"How long the payload is; for operators."`
	PayloadSHA256 string     `json:"payload_sha256,omitempty" doc:"Of a payload that is longer than 4 kB, which a list leaves out; for operators."`
}

func versionOf(v schedule.Version) ScheduleVersion {
	return ScheduleVersion{definition.OfSchedule(v.Schedule), v.Version, v.CreatedAt, timeOrNil(v.EndedAt), v.Bytes, hex.EncodeToString(v.Digest)}
}

// longPayload is how long a payload is that a list leaves out.
const longPayload = 4 << 10

// ListScheduleVersions lists the versions of a schedule.
var ListScheduleVersions = query("schedules.versions", Viewer, "List the versions of a schedule, the latest first: what it is, and the last 50 that it was; also of one that was deleted.", func(ctx context.Context, q asked, in ScheduleAsked) (Page[ScheduleVersion], error) {
	found, err := q.schedules.Versions(ctx, q.db, in.ID, q.by.Role.May(Operator))
	if err != nil {
		return Page[ScheduleVersion]{}, err
	}
	is, err := q.schedule(ctx, in.ID)
	if err != nil && (len(found) == 0 || !errors.Is(err, schedule.ErrNotFound)) {
		return Page[ScheduleVersion]{}, err
	}
	rows := []ScheduleVersion{}
	if err == nil {
		v := schedule.Version{Schedule: is.Schedule, Version: is.Version, CreatedAt: is.CreatedAt, Bytes: len(is.Payload)}
		if v.Bytes > longPayload {
			digest := sha256.Sum256(v.Payload)
			v.Payload, v.Digest = nil, digest[:]
		}
		rows = append(rows, versionOf(v))
	}
	for _, v := range found {
		rows = append(rows, versionOf(v))
	}
	return Page[ScheduleVersion]{Rows: rows}, nil
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
var GetScheduleVersion = query("schedules.version", Viewer, "Get what a schedule was with a version; for operators with its payload.", func(ctx context.Context, q asked, in ScheduleVersionAsked) (ScheduleVersion, error) {
	if err := checkTimes(in.Of); err != nil {
		return ScheduleVersion{}, err
	}
	v, err := q.schedules.GetVersion(ctx, q.db, in.ID, in.which(), q.by.Role.May(Operator))
	return versionOf(v), err
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
