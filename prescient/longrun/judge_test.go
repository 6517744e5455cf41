package longrun

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/caught"
)

// What the error of a call says of another try counts, unless the call was ended from without.
func TestWhatTheErrorOfACallComesTo(t *testing.T) {
	e := &exec{Runner: &Runner{draining: true}}
	final, again := prescient.Final(errors.New("no such report")), fmt.Errorf("busy: %w", prescient.Retry(time.Hour))
	late := fmt.Errorf("%w: it took longer than 1s", prescient.ErrTimeout)
	for _, test := range []struct {
		name  string
		err   error
		why   error // its context ended; nil where it did not
		want  prescient.Answer
		final bool
		in    time.Duration
	}{
		{"an error", late, nil, prescient.Answer{Err: late}, false, 0},
		{"a final one", final, nil, prescient.Answer{Err: final}, true, 0},
		{"a retry", again, nil, prescient.Answer{Err: again}, false, time.Hour},
		{"a final one of an agent that stops", final, ErrHandOn, prescient.Answer{Cause: prescient.CauseWaits}, false, 0},
		{"that of a save, taken for final", prescient.Final(ErrHandOn), nil, prescient.Answer{Cause: prescient.CauseWaits}, false, 0},
		{"a final one, too late", final, late, prescient.Answer{Err: late}, false, 0},
		{"a retry, too late", again, late, prescient.Answer{Err: late}, false, 0},
		{"a final one after the quota", final, ErrQuota, prescient.Answer{Cause: prescient.CauseEnds, Outcome: prescient.Quota, Err: quotaError(0)}, false, 0},
	} {
		ctx, cancel := context.WithCancelCause(t.Context())
		if test.why != nil {
			cancel(test.why)
		}
		got := e.judge(ctx, new(Run), prescient.Answer{Err: caught.Quoted(test.err, ErrHandOn)})
		if got.Cause != test.want.Cause || got.Outcome != test.want.Outcome || fmt.Sprint(got.Err) != fmt.Sprint(test.want.Err) {
			t.Errorf("%s: %+v; want %+v", test.name, got, test.want)
		}
		if in, _ := prescient.RetryIn(got.Err); errors.Is(got.Err, prescient.ErrFinal) != test.final || in != test.in {
			t.Errorf("%s: final %t, to be tried again in %s", test.name, errors.Is(got.Err, prescient.ErrFinal), in)
		}
		cancel(nil)
	}
}
