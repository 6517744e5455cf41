package ops

import (
	"context"
	"slices"
	"time"

	"prescient/prescient"
	"prescient/prescient/audit"
	"prescient/prescient/client"
	"prescient/prescient/longrun"
)

// LifeAsked names an entity.
type LifeAsked struct {
	Entity string    `query:"entity" required:"true" doc:"Whose checks: name/key, as in order/42."`
	Before time.Time `query:"before" doc:"Only what ended or was done before this time."`
	Limit  int       `query:"limit" default:"100" minimum:"1" maximum:"1000" doc:"How many rows each list has at most; a list ends early where its payloads come to 4 MB."`
}

// Life is all that is known of an entity; what is over has the newest first.
type Life struct {
	Pending     []prescient.FutureJob `json:"pending" doc:"Checks that are pending, in the order in which they come due."`
	PendingMore bool                  `json:"pending_more" doc:"There are more: checks.pending has all."`
	Runs        []longrun.State       `json:"runs" doc:"Long runs of its checks that did not end."`
	Ended       []client.Ended        `json:"ended" doc:"Checks that ended."`
	EndedNext   string                `json:"ended_next" doc:"The cursor with which checks.ended goes on for this entity; empty where this is all."`
	Audit       []AuditEntry          `json:"audit" doc:"What people did to its checks, and programs in their name."`
	AuditMore   bool                  `json:"audit_more" doc:"There are more: ask again, before the last of these."`
}

// GetLife tells the life of an entity.
var GetLife = query("checks.life", Viewer, "Tell the whole life of an entity: its pending and ended checks, its runs, and who changed what.", func(ctx context.Context, q asked, in LifeAsked) (life Life, err error) {
	e, err := prescient.ParseEntity(in.Entity)
	if err != nil {
		return life, err
	}
	if err := checkTimes(in.Before); err != nil {
		return life, err
	}
	bare := !q.by.Role.May(Operator)
	pending, err := sizedPage(client.ListFilter{Entity: e, Limit: in.Limit + 1, Bare: bare}, jobBytes, func(f client.ListFilter) ([]prescient.FutureJob, error) { return q.client.Pending(ctx, q.db, f) })
	if err != nil {
		return life, err
	}
	life.Pending, life.PendingMore = pending.Rows, pending.Next != ""
	ends, err := sizedPage(client.ListFilter{Entity: e, Before: in.Before, Limit: in.Limit + 1, Bare: bare}, endBytes, func(f client.ListFilter) ([]client.Ended, error) { return q.client.History(ctx, q.db, f) })
	if err != nil {
		return life, err
	}
	life.Ended, life.EndedNext = ends.Rows, ends.Next
	runs, err := longrun.List(ctx, q.db, q.tables, e, in.Limit)
	if err != nil {
		return life, err
	}
	life.Runs = append([]longrun.State{}, runs...)
	checks, err := q.checksOf(ctx, e, life)
	if err != nil {
		return life, err
	}
	entries, err := q.audit.ListOf(ctx, q.db, audit.Check, checks, audit.Filter{Until: in.Before, Limit: in.Limit + 1, Bare: bare})
	if err != nil {
		return life, err
	}
	if e.Name == prescient.ScheduleEntity {
		of, err := q.audit.List(ctx, q.db, audit.Filter{Kind: audit.Schedule, ID: e.Key, Until: in.Before, Limit: in.Limit + 1, Bare: bare})
		if err != nil {
			return life, err
		}
		entries = append(entries, of...)
		slices.SortStableFunc(entries, func(a, b audit.Stored) int { return b.At.Compare(a.At) })
	}
	life.AuditMore = len(entries) > in.Limit
	life.Audit = entriesOf(entries[:min(len(entries), in.Limit)])
	return life, nil
})

// checksOf are the ids of the checks of an entity, as the audit has them: also of those that a life leaves out, as many as are asked for at a time.
func (q asked) checksOf(ctx context.Context, e prescient.Entity, life Life) (ids []string, err error) {
	pending, ended := life.Pending, life.Ended
	all := client.ListFilter{Entity: e, Limit: audit.MaxObjects, Bare: true}
	if life.PendingMore {
		if pending, err = q.client.Pending(ctx, q.db, all); err != nil {
			return nil, err
		}
	}
	if life.EndedNext != "" {
		if ended, err = q.client.History(ctx, q.db, all); err != nil {
			return nil, err
		}
	}
	for _, job := range pending {
		ids = append(ids, audit.CheckID(e, job.JobExec, job.Tag))
	}
	for _, end := range ended {
		ids = append(ids, audit.CheckID(e, end.JobExec, end.Tag))
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	return ids[:min(len(ids), audit.MaxObjects)], nil
}
