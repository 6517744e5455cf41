package recurring

import (
	"errors"
	"strings"

	"prescient/prescient/ops/definition"
	"prescient/prescient/page/internal/front"
	"prescient/prescient/page/internal/look"
)

// timingNames are the names of the values of a timing in a form.
var timingNames = []string{"crontabs", "zone", "catch_up", "catch_up_within", "expires_after", "jitter", "may_coalesce", "overlap", "tolerance", "quota", "no_quota", "pool", "heartbeat"}

// timingForm is what stands in a form of when something fires, and of what becomes of its occurrences.
type timingForm struct {
	Crontabs         string
	Zone             string
	CatchUp          string
	CatchUpWithin    string
	ExpiresAfter     string
	Jitter           string
	MayCoalesce      bool
	Overlap          string
	Tolerance, Quota string
	NoQuota          bool
	Pool, Heartbeat  string
}

// timingFormOf is the form of a timing.
func timingFormOf(t definition.Timing) timingForm {
	return timingForm{Crontabs: strings.Join(t.Crontabs, "\n"), Zone: t.Zone, CatchUp: t.CatchUp, CatchUpWithin: look.Span(t.CatchUpWithinMS), ExpiresAfter: look.Span(t.ExpiresAfterMS), Jitter: look.Span(t.JitterMS),
		MayCoalesce: t.MayCoalesce, Overlap: t.Overlap, Tolerance: look.Span(t.ToleranceMS), Quota: look.Span(t.QuotaMS), NoQuota: t.NoQuota, Pool: t.Pool, Heartbeat: t.Heartbeat}
}

// timingFilledIn is the form as it was sent.
func timingFilledIn(q *front.Query) timingForm {
	return timingForm{Crontabs: q.Text("crontabs"), Zone: q.Text("zone"), CatchUp: q.Text("catch_up"), CatchUpWithin: q.Text("catch_up_within"), ExpiresAfter: q.Text("expires_after"), Jitter: q.Text("jitter"),
		MayCoalesce: q.Has("may_coalesce"), Overlap: q.Text("overlap"), Tolerance: q.Text("tolerance"), Quota: q.Text("quota"), NoQuota: q.Has("no_quota"), Pool: q.Text("pool"), Heartbeat: q.Text("heartbeat")}
}

// timing is what the form says; what is for long runs only where it has some. The error wraps prescient.ErrInvalid.
func (f timingForm) timing(long bool) (definition.Timing, error) {
	t := definition.Timing{Zone: strings.TrimSpace(f.Zone), CatchUp: f.CatchUp, MayCoalesce: f.MayCoalesce, Heartbeat: strings.TrimSpace(f.Heartbeat)}
	for line := range strings.Lines(lines(f.Crontabs)) {
		if line = strings.TrimSpace(line); line != "" {
			t.Crontabs = append(t.Crontabs, line)
		}
	}
	var wrong []error
	read := func(to *int64, what, text string) {
		ms, err := look.ReadSpan(what, text)
		*to, wrong = ms, append(wrong, err)
	}
	read(&t.CatchUpWithinMS, "catch-up window", f.CatchUpWithin)
	read(&t.ExpiresAfterMS, "of use for", f.ExpiresAfter)
	read(&t.JitterMS, "jitter", f.Jitter)
	if long {
		t.Overlap, t.Pool, t.NoQuota = f.Overlap, strings.TrimSpace(f.Pool), f.NoQuota
		read(&t.ToleranceMS, "tolerance", f.Tolerance)
		read(&t.QuotaMS, "quota", f.Quota)
	}
	return t, errors.Join(wrong...)
}
