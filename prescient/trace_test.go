package prescient_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"prescient/prescient"
)

const trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

func TestAContextIsInTheTraceOfATraceparent(t *testing.T) {
	ctx := prescient.InTrace(t.Context(), trace)
	for _, wrong := range []string{"", "00", strings.ToUpper(trace), trace + "-x", "01" + trace[2:], " " + trace, strings.ReplaceAll(trace, "0", "g"), trace + "\n",
		"00-" + strings.Repeat("0", 32) + trace[35:], trace[:36] + strings.Repeat("0", 16) + "-01"} {
		if got := prescient.TraceOf(prescient.InTrace(ctx, wrong)); got != trace {
			t.Errorf("after %q it is in %q", wrong, got)
		}
		if got := prescient.TraceOf(prescient.InTrace(t.Context(), wrong)); got != "" {
			t.Errorf("%q is taken for a trace", got)
		}
	}
}

func TestACheckIsInsertedInATraceOrInNone(t *testing.T) {
	job := prescient.NewJob{Entity: prescient.Entity{Name: "order", Key: "1"}, JobExec: "check", DueAt: time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)}
	for text, ok := range map[string]bool{"": true, trace: true, "x": false, trace + " ": false} {
		job.Trace = text
		if err := job.Validate(); (err == nil) != ok || err != nil && !errors.Is(err, prescient.ErrInvalid) {
			t.Errorf("%q: %v", text, err)
		}
	}
}
