package ops

import (
	"context"
	"time"

	"prescient/prescient"
	"prescient/prescient/ops/definition"
	"prescient/prescient/ops/ruled"
	"prescient/prescient/rulebook"
)

// book are the rules as the caller may see them.
func (q asked) book() *rulebook.Book {
	if q.by.Role.May(Operator) {
		return q.rules
	}
	return q.rules.Bare()
}

// RulesAsked narrows a list of rules.
type RulesAsked struct {
	Search string `query:"search" maxLength:"200" doc:"Only those with this text in the name, the job_exec or an occasion, in upper or lower case."`
	Paging
}

// ListRules lists rules.
var ListRules = query("rules.list", Viewer, "List rules in the order of their names.", func(ctx context.Context, q asked, in RulesAsked) (Page[ruled.Rule], error) {
	if err := in.behindName(); err != nil {
		return Page[ruled.Rule]{}, err
	}
	found, next, err := definition.Search(ctx, in.After, in.Limit, in.Search != "", func(r rulebook.Stored) bool { return ruled.Has(r, in.Search) },
		func(r rulebook.Stored) string { return r.Rule.Name }, func(after string, limit int) ([]rulebook.Stored, error) {
			return q.book().List(ctx, q.db, after, limit)
		})
	return Page[ruled.Rule]{Rows: rowsOf(found, ruled.Stored), Next: next}, err
})

// GetRule returns a rule.
var GetRule = query("rules.get", Viewer, "Get a rule, and how far what is pending follows it.", func(ctx context.Context, q asked, in ruled.Named) (ruled.Rule, error) {
	r, err := q.book().Get(ctx, q.db, in.Name)
	return ruled.Stored(r), err
})

// ListRuleVersions lists the versions of a rule.
var ListRuleVersions = query("rules.versions", Viewer, "List the versions of a rule, the latest first, also of one that was deleted.", func(ctx context.Context, q asked, in ruled.VersionsAsked) (Page[ruled.Version], error) {
	found, err := q.book().Versions(ctx, q.db, in.Name, in.Before, in.Limit)
	return Page[ruled.Version]{Rows: rowsOf(found, ruled.OfVersion)}, err
})

// PreviewRule says what a change of a rule would do to what is pending.
var PreviewRule = shared(query("rules.preview", Operator, "Say how many pending checks a change of a rule would move or end, and show a few. It looks for 5 seconds.", func(ctx context.Context, q asked, in ruled.Previewed) (rulebook.Preview, error) {
	return in.Preview(ctx, q.rules, q.db, 5*time.Second)
}))

// TryRule says what a rule would have made of what happened.
var TryRule = shared(lasting(time.Minute, query("rules.try", Operator, "Say what a rule would have made of what happened, by the checks of the rule of the same occasion with the longest delay. It looks for 20 seconds.", func(ctx context.Context, q asked, in ruled.Tried) (rulebook.Tried, error) {
	from, before, err := q.span(ctx, in.From, in.Before, 7*24*time.Hour)
	if err != nil {
		return rulebook.Tried{}, err
	}
	return q.rules.Try(ctx, q.db, in.Rule(), from, before, 20*time.Second)
})))

// SetRule makes or changes a rule.
var SetRule = deed("rules.set", Operator, "Make a rule, or put what it says in the place of what it said: all of it, also its payload. What is pending is moved by and by.", func(ctx context.Context, d doing, in ruled.Setting) (ruled.Set, error) {
	return in.Set(ctx, d.rules, d.tx)
})

// PauseRule switches a rule off.
var PauseRule = deed("rules.pause", Operator, "Switch a rule off until it is resumed: it makes no more checks.", func(ctx context.Context, d doing, in ruled.Switching) (Changed, error) {
	changed, err := d.rules.Pause(ctx, d.tx, in.Name, in.Older())
	return Changed{changed}, err
})

// ResumeRule switches a rule on.
var ResumeRule = deed("rules.resume", Operator, "Switch a rule on again. What happened meanwhile makes no checks.", func(ctx context.Context, d doing, in ruled.Named) (Changed, error) {
	changed, err := d.rules.Resume(ctx, d.tx, in.Name)
	return Changed{changed}, err
})

// DeleteRule deletes a rule.
var DeleteRule = deed("rules.delete", Operator, "Delete a rule. Its versions stay, and go on where a rule of the name is made again.", func(ctx context.Context, d doing, in ruled.Switching) (Counted, error) {
	return Counted{1}, d.rules.Delete(ctx, d.tx, in.Name, in.Older())
})

// Reported is what an occasion did.
type Reported struct {
	Checks map[string]Placed `json:"checks" doc:"What became of the check of each rule that makes one of it, by the rules' names."`
	Ended  int               `json:"ended" doc:"How many pending checks it ended."`
}

// ReportOccasion reports an occasion.
var ReportOccasion = deed("rules.report", Operator, "Report an occasion, as an app does: rules have their checks ended and made, all of it or nothing. Of one that no rule knows nothing comes.", func(ctx context.Context, d doing, in ruled.Reporting) (out Reported, err error) {
	e, err := prescient.ParseEntity(in.Entity)
	if err == nil && in.At.IsZero() {
		in.At, err = d.client.Now(ctx, d.tx)
	}
	if err != nil {
		return out, err
	}
	did, err := d.client.Happened(ctx, d.tx, in.Occasion, e, in.At, definition.Given(in.Data))
	out = Reported{make(map[string]Placed, len(did.Checks)), did.Ended}
	for name, one := range did.Checks {
		out.Checks[name] = placed(one)
	}
	return out, err
})
