package check

import (
	"encoding/json"
	"fmt"
	"time"

	"prescient/prescient"
	"prescient/prescient/page/internal/look"
)

// guards are those of a job_exec, as workers tell of them.
type guards struct {
	MaxChecks    int   `json:"max_checks"`
	MaxErrors    int   `json:"max_errors"`
	ExpiresAfter int64 `json:"expires_after_ms"`
	Endless      bool  `json:"endless"`
}

func readGuards(text json.RawMessage) (*guards, error) {
	var g guards
	if err := json.Unmarshal(text, &g); err != nil {
		return nil, fmt.Errorf("reading the guards of a job_exec: %w", err)
	}
	return &g, nil
}

// ahead is what is known of what is to become of a pending check.
type ahead struct {
	now time.Time
	// guards are nil where no worker has told of the job_exec.
	guards *guards
	// paused is the pause that holds for it, nil for none; under says that a long run of it is under way.
	paused *prescient.Paused
	under  bool
}

// next says what happens next to a check.
func (a ahead) next(job prescient.FutureJob) string {
	at := "At " + look.Stamp(job.NextCheckAt) + " (" + look.Relative(job.NextCheckAt, a.now) + ")"
	if !job.NextCheckAt.After(a.now) {
		at = "Its slot came at " + look.Stamp(job.NextCheckAt) + " (" + look.Relative(job.NextCheckAt, a.now) + "): as soon as a worker takes it"
	}
	expiry := a.expiry(job)
	switch {
	case a.under:
		return "Its long run is under way."
	case !expiry.IsZero() && !expiry.After(job.NextCheckAt):
		return at + " it ends as expired, without a call: it expires at " + look.Stamp(expiry) + "."
	case a.paused != nil:
		return at + " it is put off to the next slot, as " + pausedText(*a.paused) + ", until the pause is lifted."
	case a.guards == nil:
		return at + " it is put off, unless a worker knows " + job.JobExec + " by then: none has told of it."
	}
	text := fmt.Sprintf("%s %s is called for the %s time", at, job.JobExec, ordinal(job.CheckCount+1))
	if job.ErrorCount > 0 {
		text += ", after " + look.Counted(int64(job.ErrorCount), "error", "errors") + " in a row"
	}
	text += "." + a.bounds(job)
	if !expiry.IsZero() {
		text += " Where it is not called before " + look.Stamp(expiry) + ", it ends as expired."
	}
	return text
}

// bounds says how often a check may go on by its guards.
func (a ahead) bounds(job prescient.FutureJob) string {
	g := a.guards
	if g.Endless {
		return " It goes on without end."
	}
	var text string
	switch left := g.MaxChecks - job.CheckCount; {
	case g.MaxChecks == prescient.None || left <= 0:
		text = " It may not ask for another time."
	default:
		text = " It may ask for another time " + times(left) + "."
	}
	switch left := g.MaxErrors - job.ErrorCount; {
	case g.MaxErrors == prescient.None || left <= 0:
		return text + " With an error it ends as failed."
	default:
		return text + " After an error it is called again, " + times(left) + " at most."
	}
}

// expiry is when a check expires; zero for never.
func (a ahead) expiry(job prescient.FutureJob) time.Time {
	var g prescient.Guards
	if a.guards != nil {
		g.ExpiresAfter, g.Endless = time.Duration(a.guards.ExpiresAfter)*time.Millisecond, a.guards.Endless
	}
	return prescient.Expiry(job, g)
}

func pausedText(p prescient.Paused) string {
	text := p.JobExec + " is paused"
	if p.JobExec == prescient.AllExecs {
		text = "everything is paused"
	}
	if p.By != "" {
		text += " by " + p.By
	}
	if p.Reason != "" {
		text += " (" + p.Reason + ")"
	}
	return text
}

func times(n int) string {
	switch n {
	case 1:
		return "once"
	case 2:
		return "twice"
	}
	return fmt.Sprintf("%d times", n)
}

func ordinal(n int) string {
	if words := []string{"", "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"}; n > 0 && n < len(words) {
		return words[n]
	}
	switch {
	case n%100/10 == 1:
		return fmt.Sprintf("%dth", n)
	case n%10 == 1:
		return fmt.Sprintf("%dst", n)
	case n%10 == 2:
		return fmt.Sprintf("%dnd", n)
	case n%10 == 3:
		return fmt.Sprintf("%drd", n)
	}
	return fmt.Sprintf("%dth", n)
}
