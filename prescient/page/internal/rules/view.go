package rules

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"prescient/prescient"
	"prescient/prescient/audit"
	"prescient/prescient/ops"
	"prescient/prescient/ops/ruled"
	"prescient/prescient/page/internal/front"
	"prescient/prescient/page/internal/look"
	"prescient/prescient/rule"
	"prescient/prescient/rulebook"
)

const (
	// rowsShown is how many rules a list has, pendingShown how many pending checks stand at a rule, and versionsShown how many versions.
	rowsShown, pendingShown, versionsShown = 50, 20, 20
	// walkedAgain is how soon it is worth looking again where what is pending is being moved.
	walkedAgain = 5 * time.Second
)

// listSeen is what the template gets.
type listSeen struct {
	Search   string
	Rows     []ruled.Rule
	Next     []string // the query of the next page
	Operator bool
}

func showRules(ctx context.Context, a front.Asked) (front.Shown, error) {
	is := listSeen{Search: strings.TrimSpace(a.Text("search")), Operator: a.Operator()}
	page, err := ops.ListRules.Do(ctx, a.Ops, a.By, ops.RulesAsked{Search: is.Search, Paging: ops.Paging{After: a.Text("after"), Limit: rowsShown}})
	if err != nil {
		return front.Shown{}, err
	}
	if is.Rows = page.Rows; page.Next != "" {
		is.Next = a.With("after", page.Next)
	}
	return front.Shown{Data: is, Again: time.Minute}, nil
}

// oneSeen is what the template gets.
type oneSeen struct {
	ops.Clock
	Is       ruled.Rule
	Gone     bool // it was deleted
	Fields   []look.Field
	Pending  []prescient.FutureJob
	Reached  *time.Time // as far as it was looked for them
	More     bool
	Versions []version
	Try      []string // the query of trying it
	Operator bool
}

// version is what a rule says or said, and who made it say so.
type version struct {
	ruled.Version
	By      *ops.AuditEntry
	Changes []look.Change
}

// bare is a caller who is shown no payloads.
func bare(by ops.Caller) ops.Caller {
	by.Role = ops.Viewer
	return by
}

func showRule(ctx context.Context, a front.Asked) (front.Shown, error) {
	is, named := oneSeen{Operator: a.Operator()}, ruled.Named{Name: a.Text("name")}
	var gone, err error
	if is.Clock, err = ops.GetClock.Do(ctx, a.Ops, a.By, struct{}{}); err != nil {
		return front.Shown{}, err
	}
	is.Is, gone = ops.GetRule.Do(ctx, a.Ops, a.By, named)
	if is.Gone = errors.Is(gone, rulebook.ErrNotFound); gone != nil && !is.Gone {
		return front.Shown{}, gone
	}
	if is.Versions, err = versionsOf(ctx, a, named); err != nil {
		return front.Shown{}, err
	}
	if is.Gone {
		if len(is.Versions) == 0 {
			return front.Shown{}, gone
		}
		is.Is = ruled.Rule{Definition: is.Versions[0].Definition, State: rule.Deleted}
	}
	is.Fields = fieldsOf(is.Is.Definition, is.Operator)
	is.Try = []string{"occasion", is.Is.Occasion, "delay", look.Span(is.Is.DelayMS), "spread", look.Span(is.Is.SpreadMS)}
	pending, err := ops.ListPending.Do(ctx, a.Ops, bare(a.By), ops.ListAsked{Narrowed: ops.Narrowed{JobExec: is.Is.JobExec, Tag: rule.TagOf(named.Name)}, Paging: ops.Paging{Limit: pendingShown}})
	if err != nil {
		return front.Shown{}, err
	}
	is.Pending, is.Reached, is.More = pending.Rows, pending.Reached, pending.Next != ""
	again := front.UntilSlot(is.Now, is.Resolution())
	if is.Is.Walk.Behind {
		again = walkedAgain
	}
	return front.Shown{Title: "Rule " + named.Name, Data: is, Again: again}, nil
}

// versionsOf reads the last versions of a rule, and who made them.
func versionsOf(ctx context.Context, a front.Asked, named ruled.Named) (all []version, err error) {
	page, err := ops.ListRuleVersions.Do(ctx, a.Ops, a.By, ruled.VersionsAsked{Named: named, Limit: versionsShown + 1})
	if err != nil {
		return nil, err
	}
	entries, err := ops.ListAudit.Do(ctx, a.Ops, bare(a.By), ops.AuditAsked{Kind: string(audit.Rule), ID: named.Name, Paging: ops.Paging{Limit: versionsShown}})
	if err != nil {
		return nil, err
	}
	for i, v := range page.Rows[:min(len(page.Rows), versionsShown)] {
		one := version{Version: v}
		for j, e := range entries.Rows {
			if e.Version == uint64(v.Version) {
				one.By = &entries.Rows[j]
			}
		}
		var before []look.Field
		if i+1 < len(page.Rows) {
			before = versionFields(page.Rows[i+1], a.Operator())
		}
		one.Changes = look.Changes(before, versionFields(v, a.Operator()))
		all = append(all, one)
	}
	return all, nil
}

// versionFields are those of a version, with its state.
func versionFields(v ruled.Version, operator bool) []look.Field {
	return append([]look.Field{{Name: "State", Text: string(v.State)}}, fieldsOf(v.Definition, operator)...)
}

// help says what the fields of a rule are for.
var help = map[string]string{
	"Occasion":        "What an app reports, such as order.placed. It makes the check.",
	"Runs":            "The job_exec of the check.",
	"Delay":           "How long after the occasion the check is due, as in 90s, 3h or 2d.",
	"Spread":          "It is due somewhere in so much more time, always at the same place: what happens at once is not checked at once.",
	"Of use for":      "How long after it is due the check is of use; later it expires uncalled.",
	"A further one":   "What a further occasion does to a check that is pending: keep it, replace it, or move it where that is earlier or later.",
	"Ended by":        "The occasions that end the check, such as order.shipped.",
	"Payload":         "A JSON object, into which the data of an occasion are merged.",
	"Calls at most":   "A guard of its own: none with -1. That of the job_exec by default.",
	"Errors in a row": "The same of errors in a row.",
	"What is pending": "Checks that earlier versions made, were never called and that nobody has moved otherwise.",
}

func fieldOf(name, text string) look.Field {
	return look.Field{Name: name, Text: text, Help: help[name]}
}

// fieldsOf are those of a rule, with the payload for operators.
func fieldsOf(d ruled.Definition, operator bool) []look.Field {
	or := func(text, usual string) string {
		if text == "" {
			return usual
		}
		return text
	}
	guard := func(n int) string {
		switch n {
		case 0:
			return "by default"
		case prescient.None:
			return "no bound"
		}
		return strconv.Itoa(n)
	}
	all := []look.Field{fieldOf("Occasion", d.Occasion), fieldOf("Runs", d.JobExec), fieldOf("Delay", or(look.Span(d.DelayMS), "none")), fieldOf("Spread", or(look.Span(d.SpreadMS), "none")),
		fieldOf("Of use for", or(look.Span(d.ExpiresAfterMS), "ever")), fieldOf("A further one", or(d.OnPending, string(prescient.Keep))), fieldOf("Ended by", or(strings.Join(d.Ends, ", "), "nothing")),
		fieldOf("Calls at most", guard(d.MaxChecks)), fieldOf("Errors in a row", guard(d.MaxErrors))}
	if operator {
		all = append(all, fieldOf("Payload", or(look.Begin(string(d.Payload)), "none")))
	}
	return all
}
