package ops

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"prescient/prescient"
	"prescient/prescient/audit"
)

// AuditAsked narrows a list of the audit. What is not given does not narrow it.
type AuditAsked struct {
	Kind    string    `query:"kind" doc:"Only of this kind, such as schedule, job_exec or check."`
	ID      string    `query:"id" doc:"Only of the object with this id, such as digest/7; of a check 'order/42 order-unshipped'."`
	Person  string    `query:"person" doc:"Only by this person."`
	Account string    `query:"account" doc:"Only by this account of the database: app, or app@10.0.0.7."`
	Verb    string    `query:"verb" doc:"Only what was done so: create, update, delete, pause, resume, run, cancel."`
	From    time.Time `query:"from" doc:"Only at this time or later."`
	Before  time.Time `query:"before" doc:"Only before this time."`
	Paging
}

// AuditEntry is an entry of the audit.
type AuditEntry struct {
	At          time.Time       `json:"at"`
	Kind        audit.Kind      `json:"kind"`
	ID          string          `json:"id"`
	Verb        string          `json:"verb"`
	Version     uint64          `json:"version,string" doc:"That of the object after the change; 0 where it has none."`
	Incarnation *time.Time      `json:"incarnation,omitempty"`
	Account     string          `json:"account"`
	Person      string          `json:"person,omitempty"`
	Host        string          `json:"host"`
	Program     string          `json:"program"`
	Command     string          `json:"command,omitempty"`
	Reason      string          `json:"reason,omitempty"`
	Before      json.RawMessage `json:"before,omitempty" doc:"How the object was; for operators."`
	After       json.RawMessage `json:"after,omitempty" doc:"How the object is; for operators."`
	Pruned      bool            `json:"pruned,omitempty" doc:"Entries of earlier versions of the object were pruned."`

	cursor string
}

// Cursor is the place of the entry in the list.
func (e AuditEntry) Cursor() string { return e.cursor }

// ListAudit lists who changed what.
var ListAudit = query("audit.list", Viewer, "List who changed what, when and why, the latest first. A page may be shorter than its limit.", func(ctx context.Context, q asked, in AuditAsked) (Page[AuditEntry], error) {
	f := audit.Filter{Kind: audit.Kind(in.Kind), ID: in.ID, Person: in.Person, Account: in.Account, Verb: in.Verb, Since: in.From, Until: in.Before, After: in.After,
		Limit: in.Limit + 1, Within: q.options.Search, Bare: !q.by.Role.May(Operator)}
	if f.Kind != "" && !slices.Contains(audit.Kinds(), f.Kind) {
		return Page[AuditEntry]{}, fmt.Errorf("%w: kind %.40q: %v are allowed", prescient.ErrInvalid, f.Kind, audit.Kinds())
	}
	if err := checkTimes(in.From, in.Before); err != nil {
		return Page[AuditEntry]{}, err
	}
	found, err := q.audit.List(ctx, q.db, f)
	return page(entriesOf(found), in.Limit, err)
})

func entriesOf(found []audit.Stored) []AuditEntry {
	return rowsOf(found, func(e audit.Stored) AuditEntry {
		return AuditEntry{e.At, e.Kind, e.ID, e.Verb, e.Version, e.Incarnation, e.Account, e.Person, e.Host, e.Program, e.Command, e.Reason, e.Before, e.After, e.Pruned, e.Cursor()}
	})
}
