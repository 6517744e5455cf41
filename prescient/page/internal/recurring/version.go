package recurring

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"prescient/prescient/audit"
	"prescient/prescient/ops"
	"prescient/prescient/ops/definition"
	"prescient/prescient/page/internal/front"
	"prescient/prescient/page/internal/look"
	"prescient/prescient/schedule"
)

// version is a definition that a schedule has or had, as a view shows it.
type version struct {
	definition.ScheduleVersion
	// By is the entry of the audit that made it; nil where that was pruned, or nobody wrote one.
	By *ops.AuditEntry
	// Changes are what is not as in the version before it.
	Changes []look.Change
	// Back is the address of going back to it, in pairs; nil for the one that it has.
	Back []string
	// Earlier says that it is one of a schedule of this id that was deleted.
	Earlier bool
}

// entriesLooked is how many entries of the audit are looked at for who made the versions.
const entriesLooked = 500

// versionsOf reads the versions of a schedule, and who made them.
func versionsOf(ctx context.Context, a front.Asked, is ops.Schedule) (all []version, err error) {
	page, err := ops.ListScheduleVersions.Do(ctx, a.Ops, a.By, ops.ScheduleAsked{ID: is.ID})
	if err != nil {
		return nil, err
	}
	entries, err := ops.ListAudit.Do(ctx, a.Ops, bare(a.By), ops.AuditAsked{Kind: string(audit.Schedule), ID: is.ID, Paging: ops.Paging{Limit: entriesLooked}})
	if err != nil {
		return nil, err
	}
	for i, v := range page.Rows {
		one := version{ScheduleVersion: v, Earlier: !v.CreatedAt.Equal(is.CreatedAt)}
		var before []look.Field
		after := uint64(0)
		if i+1 < len(page.Rows) {
			older := page.Rows[i+1]
			before = versionFields(older, a.Operator())
			if older.CreatedAt.Equal(v.CreatedAt) {
				after = older.Version
			}
		}
		one.Changes = look.Changes(before, versionFields(v, a.Operator()))
		one.By = madeBy(entries.Rows, v, after)
		if v.EndedAt != nil {
			one.Back = []string{"id", is.ID, "version", strconv.FormatUint(v.Version, 10)}
			if one.Earlier {
				one.Back = append(one.Back, "of", v.CreatedAt.UTC().Format("2006-01-02T15:04:05.999999Z"))
			}
		}
		all = append(all, one)
	}
	return all, nil
}

// verbsOfDefinitions are those of entries that define something: accept and refuse are what a timer does with what plain SQL has inserted.
var verbsOfDefinitions = []string{audit.Create, audit.Update, "accept", "refuse"}

// madeBy is the entry of the change that made a version: the one with a definition behind the version before it.
func madeBy(entries []ops.AuditEntry, v definition.ScheduleVersion, before uint64) *ops.AuditEntry {
	i := slices.IndexFunc(entries, func(e ops.AuditEntry) bool {
		return e.Incarnation != nil && e.Incarnation.Equal(v.CreatedAt) && e.Version > before && e.Version <= v.Version && slices.Contains(verbsOfDefinitions, e.Verb)
	})
	if i < 0 {
		return nil
	}
	return &entries[i]
}

// versionFields are the fields of a version of a list, which leaves out long payloads.
func versionFields(v definition.ScheduleVersion, operator bool) []look.Field {
	if v.PayloadSHA256 == "" {
		return scheduleFields(v.Schedule, operator)
	}
	return append(scheduleFields(v.Schedule, false), fieldOf("Payload", fmt.Sprintf("%d bytes, SHA-256 %s", v.PayloadBytes, v.PayloadSHA256)))
}

// backSeen is what the template of going back gets.
type backSeen struct {
	Is, To  definition.ScheduleVersion
	Enabled bool
	Changes []look.Change
	Ahead   ahead
}

// askBack shows what going back to a version changes.
func askBack(ctx context.Context, a front.Asked) (front.Shown, error) {
	asked := backAsked(a.Query)
	if err := a.Err(); err != nil {
		return front.Shown{}, err
	}
	is, err := ops.GetSchedule.Do(ctx, a.Ops, a.By, asked.ScheduleAsked)
	deleted := errors.Is(err, schedule.ErrNotFound)
	if err != nil && !deleted {
		return front.Shown{}, err
	}
	to, err := ops.GetScheduleVersion.Do(ctx, a.Ops, a.By, asked)
	if err != nil {
		return front.Shown{}, err
	}
	seen := backSeen{Is: definition.ScheduleVersion{Schedule: is.Schedule, Version: is.Version}, To: to, Enabled: is.Enabled, Changes: look.Changes(scheduleFields(is.Schedule, true), scheduleFields(to.Schedule, true))}
	made := is.CreatedAt
	if deleted {
		seen.Changes, made = look.Changes(nil, scheduleFields(to.Schedule, true)), a.Now
	}
	seen.Ahead, err = aheadOf(ctx, a, to.Timing, to.ID, made)
	return front.Shown{Title: fmt.Sprintf("Go back to version %d", to.Version), Data: seen}, err
}

func backAsked(q *front.Query) ops.ScheduleVersionAsked {
	return ops.ScheduleVersionAsked{ScheduleAsked: ops.ScheduleAsked{ID: q.Text("id")}, Version: q.Number("version"), Of: q.Time("of")}
}

// goBack makes a version the definition of a schedule again, by a change that has a version of its own.
func goBack(ctx context.Context, d front.Doing) (front.Done, error) {
	asked := ops.ScheduleGoingBack{ScheduleVersionAsked: backAsked(d.Query), Seen: d.Number("seen")}
	if err := d.Err(); err != nil {
		return front.Done{}, err
	}
	did, err := ops.GoBackSchedule.Do(ctx, d.Ops, d.By, asked)
	return front.Done{Path: "/schedule", Query: []string{"id", asked.ID}, Count: count(did.Changed)}, err
}

func count(is bool) int {
	if is {
		return 1
	}
	return 0
}
