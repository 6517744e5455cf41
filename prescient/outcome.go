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
	// Failed: one error in a row more than the max_errors guard allows.
	Failed Outcome = "failed"
	// TimedOut: as Failed, and the last of the errors was a timeout.
	TimedOut Outcome = "timed_out"
	// Crashed: it killed its worker, alone, after its bucket had been taken over twice.
	Crashed Outcome = "crashed"
)

// Outcomes lists every outcome in the order of the column.
func Outcomes() []Outcome {
	return []Outcome{Done, Cancelled, MaxChecks, PastReturn, BeyondHorizon, Failed, TimedOut, Crashed}
}

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
