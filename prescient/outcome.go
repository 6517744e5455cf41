package prescient

import (
	"fmt"
	"strings"
)

// Outcome is how a check ended; job_history.outcome holds it.
type Outcome string

// The outcomes.
const (
	// Done: the job_exec answered nil.
	Done Outcome = "done"
	// Cancelled: the app cancelled it.
	Cancelled Outcome = "cancelled"
	// MaxChecks: it returned one time more than the max_checks guard allows.
	MaxChecks Outcome = "max_checks"
	// PastReturn: it returned a time that is not after its own slot.
	PastReturn Outcome = "past_return"
	// BeyondHorizon: it returned a time beyond the horizon guard.
	BeyondHorizon Outcome = "beyond_horizon"
	// Failed: one error in a row more than the max_errors guard allows, or one that is Final.
	Failed Outcome = "failed"
	// TimedOut: as Failed, and the last of the errors was a timeout.
	TimedOut Outcome = "timed_out"
	// Crashed: it killed its worker, alone, after its bucket had been taken over twice.
	Crashed Outcome = "crashed"
	// Expired: it was not called before it expired. See [Expiry].
	Expired Outcome = "expired"
	// Superseded: another took its place before it was called, or while it was. The app did that, as with Cancelled.
	Superseded Outcome = "superseded"
	// Missed: a run of a schedule that was not called in time.
	Missed Outcome = "missed"
	// TooSoon: a run of a schedule that came too soon after the one before it, and was not called.
	TooSoon Outcome = "too_soon"
	// Overlapped: a run of a schedule that was not called, since the one before it was not over.
	Overlapped Outcome = "overlapped"
	// Quota: a long run that was ended when it had taken all the time that one may have. That is no error.
	Quota Outcome = "quota"
)

// Outcomes lists every outcome in the order of the column.
func Outcomes() []Outcome {
	return []Outcome{Done, Cancelled, MaxChecks, PastReturn, BeyondHorizon, Failed, TimedOut, Crashed,
		Expired, Superseded, Missed, TooSoon, Overlapped, Quota}
}

// ByApp says whether an app put an end to the check, and no slot run.
func (o Outcome) ByApp() bool { return o == Cancelled || o == Superseded }

// ParseOutcome reads the name of an outcome. The error wraps ErrInvalid.
func ParseOutcome(text string) (Outcome, error) {
	names := make([]string, 0, len(Outcomes()))
	for _, o := range Outcomes() {
		if text == string(o) {
			return o, nil
		}
		names = append(names, string(o))
	}
	return "", fmt.Errorf("%w: outcome %q: %s are allowed", ErrInvalid, text, strings.Join(names, ", "))
}
