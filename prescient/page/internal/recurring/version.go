package recurring

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"prescient/prescient"
	"prescient/prescient/audit"
	"prescient/prescient/ops"
	"prescient/prescient/ops/definition"
	"prescient/prescient/page/internal/front"
)

// state is a schedule as the audit has it: durations are in seconds.
type state struct {
	Crontabs      []string        `json:"crontabs"`
	Zone          string          `json:"zone"`
	JobExec       string          `json:"job_exec"`
	Topic         string          `json:"topic"`
	Owner         string          `json:"owner"`
	Payload       json.RawMessage `json:"payload"`
	CatchUp       string          `json:"catch_up"`
	CatchUpWithin int64           `json:"catch_up_within"`
	ExpiresAfter  int64           `json:"expires_after"`
	Jitter        int64           `json:"jitter"`
	MayCoalesce   bool            `json:"may_coalesce"`
	Long          bool            `json:"long"`
	Overlap       string          `json:"overlap"`
	Tolerance     int64           `json:"tolerance"`
	Quota         *int64          `json:"quota"`
	Pool          string          `json:"pool"`
	Heartbeat     string          `json:"heartbeat"`
	Enabled       *bool           `json:"enabled"`
	Bytes         int             `json:"bytes"` // of a state that was too long to be kept
}

// defined is a definition that the audit has; NotKept says that its payload was kept as a digest alone: nothing but its length is known.
type defined struct {
	definition.Schedule
	NotKept int
}

// payload is how the audit has one that is no text.
type payload struct {
	Base64 *string `json:"base64"`
	Bytes  int     `json:"bytes"`
}

// readState reads a definition of the audit; nil where the entry has none, as that of a pause. Entries may have been written by anybody who may insert them.
func readState(id string, raw json.RawMessage) *defined {
	var s state
	if len(raw) == 0 || json.Unmarshal(raw, &s) != nil || len(s.Crontabs) == 0 {
		return nil
	}
	d := defined{Schedule: definition.Schedule{ID: id, JobExec: s.JobExec, Topic: s.Topic, Owner: s.Owner, Long: s.Long}}
	d.Timing = definition.Timing{Crontabs: s.Crontabs, Zone: s.Zone, CatchUp: s.CatchUp, CatchUpWithinMS: 1000 * s.CatchUpWithin, ExpiresAfterMS: 1000 * s.ExpiresAfter, JitterMS: 1000 * s.Jitter,
		MayCoalesce: s.MayCoalesce, Overlap: s.Overlap, ToleranceMS: 1000 * s.Tolerance, Pool: s.Pool, Heartbeat: s.Heartbeat}
	if s.Quota != nil {
		d.QuotaMS, d.NoQuota = 1000**s.Quota, *s.Quota == 0
	}
	var text string
	var other payload
	switch {
	case len(s.Payload) == 0 || string(s.Payload) == "null":
	case json.Unmarshal(s.Payload, &text) == nil:
		d.Payload = &text
	case json.Unmarshal(s.Payload, &other) == nil && other.Base64 != nil:
		d.PayloadBase64 = *other.Base64
	default:
		d.NotKept = max(1, other.Bytes)
	}
	return &d
}

// fields are those of the definition, for a comparison with another that has the payload is.
func (d defined) fields(is definition.Schedule) []field {
	if d.NotKept > 0 {
		d.Payload, d.PayloadBase64 = is.Payload, is.PayloadBase64
	}
	return scheduleFields(d.Schedule, true)
}

// version is an entry of the audit, as a view shows it.
type version struct {
	ops.AuditEntry
	// Changes are what was changed, for operators; Switched says that it was only paused or resumed.
	Changes []change
	// Back says that one may go back to it.
	Back bool
}

// versionsShown is how many entries of the audit stand on a page.
const versionsShown = 20

// versionsOf reads the last versions of a schedule, which has a version now.
func versionsOf(ctx context.Context, a front.Asked, id string, now uint64, after string) (all []version, next string, err error) {
	page, err := ops.ListAudit.Do(ctx, a.Ops, a.By, ops.AuditAsked{Kind: string(audit.Schedule), ID: id, Paging: ops.Paging{After: after, Limit: versionsShown}})
	if err != nil {
		return nil, "", err
	}
	for _, e := range page.Rows {
		v := version{AuditEntry: e}
		was, is := readState(id, e.Before), readState(id, e.After)
		switch {
		case was != nil && is != nil:
			v.Changes = changes(was.keptFields(), is.keptFields())
		case is != nil:
			v.Changes = changes(nil, is.keptFields())
		case was != nil:
			v.Changes = changes(was.keptFields(), nil)
		}
		v.Back = is != nil && e.Version != now && a.Operator()
		all = append(all, v)
	}
	return all, page.Next, nil
}

// keptFields are those that the audit has of it.
func (d defined) keptFields() []field {
	if d.NotKept == 0 {
		return scheduleFields(d.Schedule, true)
	}
	return append(scheduleFields(d.Schedule, false), fieldOf("Payload", fmt.Sprintf("%d bytes, of which the audit has a digest alone", d.NotKept)))
}

// versionAt reads a version of a schedule, whose entry is of a time.
func versionAt(ctx context.Context, o *ops.Ops, by ops.Caller, id string, number uint64, at time.Time) (defined, error) {
	asked := ops.AuditAsked{Kind: string(audit.Schedule), ID: id, From: at, Before: at.Add(time.Second), Paging: ops.Paging{Limit: 1000}}
	page, err := ops.ListAudit.Do(ctx, o, by, asked)
	if err != nil {
		return defined{}, err
	}
	for _, e := range page.Rows {
		if e.Version != number {
			continue
		}
		if d := readState(id, e.After); d != nil {
			return *d, nil
		}
	}
	return defined{}, fmt.Errorf("%w: the audit has no definition of version %d of schedule %q at %s; it may be pruned", prescient.ErrInvalid, number, id, at.Format(time.RFC3339))
}

// backSeen is what the template of going back gets.
type backSeen struct {
	ID       string
	Now      uint64 // the version that there is
	Version  string
	At       time.Time
	Changes  []change
	NotKept  int
	Enabled  bool
	Ahead    ahead
	Operator bool
}

// askBack shows what going back to a version changes.
func askBack(ctx context.Context, a front.Asked) (front.Shown, error) {
	is, to, err := goingBack(ctx, a.Ops, a.By, a.Query)
	if err != nil {
		return front.Shown{}, err
	}
	seen := backSeen{ID: is.ID, Now: is.Version, Version: a.Text("version"), At: a.Time("at"), NotKept: to.NotKept, Enabled: is.Enabled,
		Changes: changes(scheduleFields(is.Schedule, true), to.fields(is.Schedule))}
	seen.Ahead, err = aheadOf(ctx, a, to.Timing, is.ID, is.CreatedAt)
	return front.Shown{Title: "Go back to version " + seen.Version, Data: seen}, err
}

// goingBack reads a schedule, and the version to go back to.
func goingBack(ctx context.Context, o *ops.Ops, by ops.Caller, q *front.Query) (is ops.Schedule, to defined, err error) {
	number, at := q.Number("version"), q.Time("at")
	if err := q.Err(); err != nil {
		return is, to, err
	}
	if is, err = ops.GetSchedule.Do(ctx, o, by, ops.ScheduleAsked{ID: q.Text("id")}); err != nil {
		return is, to, err
	}
	to, err = versionAt(ctx, o, by, is.ID, number, at)
	return is, to, err
}

// goBack makes a version the definition of a schedule again, by a change that has a version of its own.
func goBack(ctx context.Context, d front.Doing) (front.Done, error) {
	is, to, err := goingBack(ctx, d.Ops, d.By, d.Query)
	if err != nil {
		return front.Done{}, err
	}
	if to.NotKept > 0 {
		to.Payload, to.PayloadBase64 = is.Payload, is.PayloadBase64
	}
	seen := d.Number("seen")
	if err := d.Err(); err != nil {
		return front.Done{}, err
	}
	did, err := ops.UpdateSchedule.Do(ctx, d.Ops, d.By, ops.ScheduleUpdate{Schedule: to.Schedule, Version: seen})
	return front.Done{Path: "/schedule", Query: []string{"id", is.ID}, Count: count(did.Changed)}, err
}

func count(is bool) int {
	if is {
		return 1
	}
	return 0
}
