package schedule

import (
	"context"
	"math"
	"time"

	"prescient/prescient"
	"prescient/prescient/audit"
)

// The verbs of schedules alone.
const (
	verbAccept = "accept" // by its timer, of one that plain SQL inserted
	verbRefuse = "refuse" // by its timer, of one that is no good
	verbPlan   = "plan"   // by PlanAnew: the timer waits for another time
	verbEnd    = "end"    // by its timer, of one that has no more occurrences
)

// byTimer is the door of what timers do.
const byTimer = "timer"

// state is a schedule as it stands in the audit. The procedure delete_schedules writes the columns as they are, by the same names.
// Durations are in seconds.
type state struct {
	Crontabs      []string `json:"crontabs"`
	Zone          string   `json:"zone"`
	JobExec       string   `json:"job_exec,omitempty"`
	Topic         string   `json:"topic,omitempty"`
	Owner         string   `json:"owner,omitempty"`
	Payload       any      `json:"payload,omitempty"`
	CatchUp       CatchUp  `json:"catch_up"`
	CatchUpWithin int64    `json:"catch_up_within,omitempty"`
	ExpiresAfter  int64    `json:"expires_after,omitempty"`
	Jitter        int64    `json:"jitter,omitempty"`
	MayCoalesce   bool     `json:"may_coalesce,omitempty"`
	Long          bool     `json:"long,omitempty"`
	Overlap       string   `json:"overlap,omitempty"`
	Tolerance     int64    `json:"tolerance,omitempty"`
	Quota         *int64   `json:"quota,omitempty"` // 0 for none
	Pool          string   `json:"pool,omitempty"`
	Heartbeat     string   `json:"heartbeat,omitempty"`
	switched
}

// switched is whether a schedule fires, and why not, where no person said so.
type switched struct {
	Enabled        bool   `json:"enabled"`
	DisabledReason string `json:"disabled_reason,omitempty"`
}

func stateOf(s Schedule, enabled bool) state {
	seconds := func(d time.Duration) int64 { return int64(d / time.Second) }
	as := state{Crontabs: s.Crontabs, Zone: s.Zone, JobExec: s.JobExec, Topic: s.Topic, Payload: audit.Bounded(s.Payload), CatchUp: s.CatchUp,
		CatchUpWithin: seconds(s.CatchUpWithin), ExpiresAfter: seconds(s.ExpiresAfter), Jitter: seconds(s.Jitter), MayCoalesce: s.MayCoalesce,
		Long: s.Long, Overlap: string(s.Overlap), Tolerance: seconds(s.Tolerance), Pool: s.Pool, Heartbeat: s.Heartbeat, switched: switched{Enabled: enabled}}
	if s.Owner != (prescient.Entity{}) {
		as.Owner = s.Owner.String()
	}
	if s.Quota != 0 {
		quota := seconds(max(s.Quota, 0))
		as.Quota = &quota
	}
	return as
}

// stateOfStored is the state of a schedule that was read by toCompare, or with its payload.
func stateOfStored(s Stored) state {
	as := stateOf(s.Schedule, s.Enabled)
	as.DisabledReason = s.DisabledReason
	if s.size > MaxShort && len(s.Payload) != s.size {
		as.Payload = audit.Digest(s.size, s.Payload)
	}
	return as
}

func entryOf(id, verb string) audit.Entry {
	return audit.Entry{Kind: audit.Schedule, ID: id, Verb: verb}
}

// madeBy is the entry of a change that made a version of a schedule.
func madeBy(one Stored, verb string, version uint64) audit.Entry {
	e := entryOf(one.ID, verb)
	e.Version, e.Incarnation = version, one.CreatedAt
	return e
}

// recordCreated writes the audit of schedules that were made at a time.
func (s *Schedules) recordCreated(ctx context.Context, db prescient.DB, some []Schedule, enabled bool, now time.Time) error {
	entries := make([]audit.Entry, len(some))
	for i, one := range some {
		entries[i] = entryOf(one.ID, audit.Create)
		entries[i].Version, entries[i].Incarnation, entries[i].After = 1, now, stateOf(one.withDefaults(), enabled)
	}
	return s.log.Record(ctx, db, entries...)
}

// recordDeleted writes the audit of schedules that were deleted, and were read by toCompare.
func (s *Schedules) recordDeleted(ctx context.Context, db prescient.DB, some []Stored) error {
	entries := make([]audit.Entry, len(some))
	for i, one := range some {
		entries[i] = madeBy(one, audit.Delete, one.Version+1)
		entries[i].Before = stateOfStored(one)
	}
	return s.log.Record(ctx, db, entries...)
}

// recordSwitched writes the audit of a schedule that was paused or resumed.
func (s *Schedules) recordSwitched(ctx context.Context, db prescient.DB, old Stored, verb string) error {
	e := madeBy(old, verb, nextVersion(old.Version))
	e.Before, e.After = switched{old.Enabled, old.DisabledReason}, switched{Enabled: !old.Enabled}
	return s.log.Record(ctx, db, e)
}

// recordRun writes the audit of a run by hand.
func (s *Schedules) recordRun(ctx context.Context, db prescient.DB, one Stored, occurrence string) error {
	e := entryOf(one.ID, audit.Run)
	e.Version, e.After = one.Version, map[string]string{"occurrence": occurrence}
	return s.log.Record(ctx, db, e)
}

// nextVersion is that of a schedule after a change: as the statements that change one have it, which count to the highest that the table
// holds.
func nextVersion(version uint64) uint64 { return min(version, math.MaxUint32-1) + 1 }
