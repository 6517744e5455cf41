package changes

import (
	"context"
	"strings"
	"time"

	"prescient/prescient/audit"
	"prescient/prescient/ops"
	"prescient/prescient/page/internal/front"
)

// auditSeen is what the template gets.
type auditSeen struct {
	Asked    ops.AuditAsked
	Kinds    []audit.Kind
	Entries  []entry
	Next     []string // the query of the next page
	Reached  *time.Time
	Operator bool
}

// entry is one of the audit, with what changed.
type entry struct {
	ops.AuditEntry
	Changes []change
	More    int    // changes that are not shown
	Page    *where // of what it is about, where there is one
}

// where is the address of a page.
type where struct {
	Path  string
	Query []string
}

// pageOf is the page of what an entry is about; nil where there is none. That of a schedule, a job or a rule that was deleted has what it was.
func pageOf(e ops.AuditEntry) *where {
	name, ofJob := strings.CutPrefix(e.ID, "job/")
	switch {
	case e.Kind == audit.Job, e.Kind == audit.Schedule && ofJob:
		return &where{"/job", []string{"name", name}}
	case e.Kind == audit.Schedule:
		return &where{"/schedule", []string{"id", e.ID}}
	case e.Kind == audit.Rule:
		return &where{"/rule", []string{"name", e.ID}}
	}
	return nil
}

// rowsShown is how many entries a page has.
const rowsShown = 50

func showAudit(ctx context.Context, a front.Asked) (front.Shown, error) {
	is := auditSeen{Kinds: audit.Kinds(), Operator: a.Operator()}
	is.Asked = ops.AuditAsked{Kind: a.Text("kind"), ID: a.Text("id"), Person: a.Text("person"), Account: a.Text("account"), Verb: a.Text("verb"), From: a.Time("from"), Before: a.Time("before"),
		Paging: ops.Paging{After: a.Text("after"), Limit: rowsShown}}
	if err := a.Err(); err != nil {
		return front.Shown{}, err
	}
	page, err := ops.ListAudit.Do(ctx, a.Ops, a.By, is.Asked)
	if err != nil {
		return front.Shown{}, err
	}
	for _, e := range page.Rows {
		one := entry{AuditEntry: e, Page: pageOf(e)}
		one.Changes, one.More = between(e.Before, e.After)
		is.Entries = append(is.Entries, one)
	}
	is.Reached = page.Reached
	if page.Next != "" {
		is.Next = a.With("after", page.Next)
	}
	return front.Shown{Data: is}, nil
}
