package check

import (
	"errors"
	"fmt"
	"testing"

	"prescient/prescient"
	"prescient/prescient/internal/caught"
	"prescient/prescient/internal/rig"
	"prescient/prescient/worker/books"
)

func TestEveryRowThatIsNotSettledHasATrouble(t *testing.T) {
	wrapped := fmt.Errorf("asking the carrier: %w", prescient.ErrTimeout)
	for _, c := range []struct {
		name    string
		answer  Answer
		outcome prescient.Outcome
		want    books.TroubleKind
	}{
		{"done", Answer{}, prescient.Done, ""},
		{"moved", Answer{Next: prescient.At(rig.At("13:30"))}, "", ""},
		{"paused", Answer{Cause: prescient.CausePaused}, "", ""},
		{"an error that is tried again", Answer{Err: errors.New("no luck")}, "", books.TroubleError},
		{"an error that ends it", Answer{Err: errors.New("no luck")}, prescient.Failed, books.TroubleError},
		{"a timeout", Answer{Err: wrapped}, prescient.TimedOut, books.TroubleTimeout},
		{"a timeout in a transaction", Answer{Fate: Committed, Err: caught.Quoted(wrapped)}, "", books.TroubleTimeout},
		{"a panic", Answer{Err: fmt.Errorf("%w: nil map", prescient.ErrPanic)}, "", books.TroublePanic},
		{"a panic in a transaction", Answer{Fate: Committed, Err: caught.Quoted(fmt.Errorf("%w: nil map", prescient.ErrPanic))}, prescient.Failed, books.TroublePanic},
		{"nobody registered it", Answer{Cause: prescient.CauseUnregistered}, "", books.TroubleUnregistered},
		{"its calls hang", Answer{Cause: prescient.CauseAbandoned}, "", books.TroublePutOff},
		{"it killed its worker", Answer{Cause: prescient.CauseKilled}, prescient.Crashed, "crashed"},
		{"too many checks", Answer{}, prescient.MaxChecks, "max_checks"},
		{"a time in the past", Answer{}, prescient.PastReturn, "past_return"},
		{"a time too far ahead", Answer{}, prescient.BeyondHorizon, "beyond_horizon"},
	} {
		if got := c.answer.Trouble(c.outcome); got != c.want {
			t.Errorf("%s: %q; want %q", c.name, got, c.want)
		}
	}
}
