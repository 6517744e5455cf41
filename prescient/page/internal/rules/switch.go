package rules

import (
	"context"
	"strings"
	"time"

	"prescient/prescient/ops"
	"prescient/prescient/ops/ruled"
	"prescient/prescient/page/internal/front"
	"prescient/prescient/page/internal/look"
	"prescient/prescient/rulebook"
)

// endingSeen is what the templates of deeds get that may end what is pending.
type endingSeen struct {
	Is    ruled.Rule
	End   bool
	Would rulebook.Preview
}

// askEnding shows a rule that is to be switched off or deleted, and what of it is pending.
func askEnding(ctx context.Context, a front.Asked) (front.Shown, error) {
	named := ruled.Named{Name: a.Text("name")}
	seen := endingSeen{End: a.Has("end")}
	var err error
	if seen.Is, err = ops.GetRule.Do(ctx, a.Ops, bare(a.By), named); err != nil {
		return front.Shown{}, err
	}
	seen.Would, err = ops.PreviewRule.Do(ctx, a.Ops, a.By, ruled.Previewed{Named: named, End: true})
	return front.Shown{Data: seen}, err
}

func switching(d front.Doing) ruled.Switching {
	return ruled.Switching{Named: ruled.Named{Name: d.Text("name")}, End: d.Has("end")}
}

func pause(ctx context.Context, d front.Doing) (front.Done, error) {
	did, err := ops.PauseRule.Do(ctx, d.Ops, d.By, switching(d))
	return doneTo(d.Text("name"), did.Changed), err
}

func remove(ctx context.Context, d front.Doing) (front.Done, error) {
	did, err := ops.DeleteRule.Do(ctx, d.Ops, d.By, switching(d))
	return front.Done{Path: "/rules", Count: did.Count}, err
}

// askResume shows a rule that is to be switched on.
func askResume(ctx context.Context, a front.Asked) (front.Shown, error) {
	is, err := ops.GetRule.Do(ctx, a.Ops, bare(a.By), ruled.Named{Name: a.Text("name")})
	return front.Shown{Data: endingSeen{Is: is}}, err
}

func resume(ctx context.Context, d front.Doing) (front.Done, error) {
	did, err := ops.ResumeRule.Do(ctx, d.Ops, d.By, ruled.Named{Name: d.Text("name")})
	return doneTo(d.Text("name"), did.Changed), err
}

// trySeen is what the template gets.
type trySeen struct {
	Occasion, Delay, Spread string
	From, Before            time.Time
	Asked                   bool
	Is                      rulebook.Tried
}

// showTry says what a rule would have made of what happened.
func showTry(ctx context.Context, a front.Asked) (front.Shown, error) {
	seen := trySeen{Occasion: strings.TrimSpace(a.Text("occasion")), Delay: a.Text("delay"), Spread: a.Text("spread"), From: a.Time("from"), Before: a.Time("before")}
	if err := a.Err(); err != nil || seen.Occasion == "" {
		return front.Shown{Data: seen}, err
	}
	asked := ruled.Tried{Occasion: seen.Occasion, From: seen.From, Before: seen.Before}
	var err error
	if asked.DelayMS, err = look.ReadSpan("delay", seen.Delay); err != nil {
		return front.Shown{}, err
	}
	if asked.SpreadMS, err = look.ReadSpan("spread", seen.Spread); err != nil {
		return front.Shown{}, err
	}
	seen.Asked = true
	seen.Is, err = ops.TryRule.Do(ctx, a.Ops, a.By, asked)
	return front.Shown{Data: seen}, err
}
