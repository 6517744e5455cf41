package rules

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"prescient/prescient"
	"prescient/prescient/ops"
	"prescient/prescient/ops/ruled"
	"prescient/prescient/page/internal/front"
	"prescient/prescient/page/internal/look"
	"prescient/prescient/rule"
	"prescient/prescient/rulebook"
)

// formFields are the names of the values of the form of a rule that is there.
var formFields = []string{"filled", "version", "delay", "spread", "expires_after", "on_pending", "ends", "payload", "max_checks", "max_errors", "older"}

// form is what stands in it, for its template.
type form struct {
	// New says that there is no such rule yet.
	New                         bool
	Name, Occasion, JobExec     string
	Version                     uint64
	Delay, Spread, ExpiresAfter string
	OnPending, Ends, Payload    string
	MaxChecks, MaxErrors        string
	Older                       string
	Help                        map[string]string
}

// formOf is the form of a definition.
func formOf(d ruled.Definition) form {
	number := func(n int) string {
		if n == 0 {
			return ""
		}
		return strconv.Itoa(n)
	}
	return form{Name: d.Name, Occasion: d.Occasion, JobExec: d.JobExec, Delay: look.Span(d.DelayMS), Spread: look.Span(d.SpreadMS), ExpiresAfter: look.Span(d.ExpiresAfterMS), OnPending: d.OnPending,
		Ends: strings.Join(d.Ends, "\n"), Payload: string(d.Payload), MaxChecks: number(d.MaxChecks), MaxErrors: number(d.MaxErrors)}
}

// filledIn is the form as it was sent.
func filledIn(q *front.Query) form {
	return form{Name: strings.TrimSpace(q.Text("name")), Occasion: strings.TrimSpace(q.Text("occasion")), JobExec: strings.TrimSpace(q.Text("job_exec")), Version: q.Number("version"), Delay: q.Text("delay"),
		Spread: q.Text("spread"), ExpiresAfter: q.Text("expires_after"), OnPending: q.Text("on_pending"), Ends: q.Text("ends"), Payload: strings.TrimSpace(q.Text("payload")), MaxChecks: q.Text("max_checks"),
		MaxErrors: q.Text("max_errors"), Older: q.Text("older")}
}

// definition is what the form says. The error wraps prescient.ErrInvalid.
func (f form) definition() (ruled.Definition, error) {
	d := ruled.Definition{Name: f.Name, Occasion: f.Occasion, JobExec: f.JobExec, OnPending: f.OnPending, Ends: strings.FieldsFunc(f.Ends, func(r rune) bool { return strings.ContainsRune(", \t\r\n", r) })}
	if len(d.Ends) == 0 {
		d.Ends = nil
	}
	if f.Payload != "" {
		d.Payload = json.RawMessage(f.Payload)
	}
	var wrong []error
	span := func(to *int64, what, text string) {
		ms, err := look.ReadSpan(what, text)
		*to, wrong = ms, append(wrong, err)
	}
	span(&d.DelayMS, "delay", f.Delay)
	span(&d.SpreadMS, "spread", f.Spread)
	span(&d.ExpiresAfterMS, "of use for", f.ExpiresAfter)
	number := func(to *int, what, text string) {
		if text = strings.TrimSpace(text); text == "" {
			return
		}
		n, err := strconv.Atoi(text)
		if err != nil {
			wrong = append(wrong, fmt.Errorf("%w: %s %.40q: a number is allowed, or nothing", prescient.ErrInvalid, what, text))
		}
		*to = n
	}
	number(&d.MaxChecks, "calls at most", f.MaxChecks)
	number(&d.MaxErrors, "errors in a row", f.MaxErrors)
	if err := errors.Join(wrong...); err != nil {
		return d, err
	}
	return d, d.Defined().Validate()
}

// askNew shows the form of a rule that is not there yet, or that of one like another.
func askNew(ctx context.Context, a front.Asked) (front.Shown, error) {
	var f form
	switch {
	case a.Has("filled"):
		f = filledIn(a.Query)
	case a.Has("like"):
		is, err := ops.GetRule.Do(ctx, a.Ops, a.By, ruled.Named{Name: a.Text("like")})
		if err != nil {
			return front.Shown{}, err
		}
		f = formOf(is.Definition)
	}
	f.New, f.Help = true, help
	return front.Shown{Data: f}, nil
}

// askEdit shows the form of a rule.
func askEdit(ctx context.Context, a front.Asked) (front.Shown, error) {
	is, err := ops.GetRule.Do(ctx, a.Ops, a.By, ruled.Named{Name: a.Text("name")})
	if err != nil {
		return front.Shown{}, err
	}
	f := formOf(is.Definition)
	if a.Has("filled") {
		f = filledIn(a.Query)
	}
	f.Name, f.Occasion, f.JobExec, f.Help = is.Name, is.Occasion, is.JobExec, help
	f.Version = uint64(is.Version) // of what is told now, should it have been refused as stale
	return front.Shown{Title: "Edit rule " + is.Name, Data: f}, nil
}

// reviewSeen is what the template of a review gets.
type reviewSeen struct {
	Name    string
	New     bool
	On      bool
	Leave   bool
	Changes []look.Change
	Would   rulebook.Preview
}

// changed is what the form of a rule that is there says, and what the rule says.
func changed(ctx context.Context, d front.Doing) (f form, to ruled.Definition, is ruled.Rule, err error) {
	f = filledIn(d.Query)
	if err = d.Err(); err != nil {
		return f, to, is, err
	}
	if is, err = ops.GetRule.Do(ctx, d.Ops, d.By, ruled.Named{Name: f.Name}); err != nil {
		return f, to, is, err
	}
	f.Occasion, f.JobExec = is.Occasion, is.JobExec
	to, err = f.definition()
	return f, to, is, err
}

// reviewEdit shows what a form changes.
func reviewEdit(ctx context.Context, d front.Doing) (front.Shown, error) {
	f, to, is, err := changed(ctx, d)
	if err == nil {
		err = front.StillIs(rulebook.ErrStale, uint64(is.Version), f.Version)
	}
	if err != nil {
		return front.Shown{}, err
	}
	seen := reviewSeen{Name: is.Name, On: is.State == rule.On, Leave: f.Older == string(rule.Leave), Changes: look.Changes(fieldsOf(is.Definition, true), fieldsOf(to, true))}
	if !seen.Leave {
		seen.Would, err = ops.PreviewRule.Do(ctx, d.Ops, d.By, ruled.Previewed{Named: ruled.Named{Name: is.Name}, DelayMS: to.DelayMS, SpreadMS: to.SpreadMS})
	}
	return front.Shown{Title: "What changes of rule " + is.Name, Data: seen}, err
}

// reviewNew shows what the form of a new rule comes to.
func reviewNew(ctx context.Context, d front.Doing) (front.Shown, error) {
	to, err := filledIn(d.Query).definition()
	if err != nil {
		return front.Shown{}, err
	}
	seen := reviewSeen{Name: to.Name, New: true, On: true, Changes: look.Changes(nil, fieldsOf(to, true))}
	seen.Would, err = ops.PreviewRule.Do(ctx, d.Ops, d.By, ruled.Previewed{Named: ruled.Named{Name: to.Name}, DelayMS: to.DelayMS, SpreadMS: to.SpreadMS})
	return front.Shown{Title: "Rule " + to.Name, Data: seen}, err
}

// create makes a rule.
func create(ctx context.Context, d front.Doing) (front.Done, error) {
	to, err := filledIn(d.Query).definition()
	if err != nil {
		return front.Done{}, err
	}
	did, err := ops.SetRule.Do(ctx, d.Ops, d.By, ruled.Setting{Definition: to, New: true})
	return doneTo(to.Name, did.Changed), err
}

// edit puts what the form says in the place of what a rule said.
func edit(ctx context.Context, d front.Doing) (front.Done, error) {
	f, to, _, err := changed(ctx, d)
	if err != nil {
		return front.Done{}, err
	}
	did, err := ops.SetRule.Do(ctx, d.Ops, d.By, ruled.Setting{Definition: to, Version: uint32(min(f.Version, math.MaxUint32)), Older: rule.Older(f.Older)})
	return doneTo(f.Name, did.Changed), err
}

// doneTo is where to go after a deed.
func doneTo(name string, changed bool) front.Done {
	done := front.Done{Path: "/rule", Query: []string{"name", name}}
	if changed {
		done.Count = 1
	}
	return done
}
