package steps

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"prescient/prescient"
	"prescient/prescient/longrun"
)

// The methods of an error are the step's own, and may panic as well.
func TestAnErrorOfAStepThatPanicsIsAPanicOfTheStep(t *testing.T) {
	a := guarded(t.Context(), 0, func(context.Context) answered { return answered{err: (*nilError)(nil)} })
	if _, o := (state{}).advance(Step{Name: "s"}, 0, a, time.Now()); !errors.Is(a.err, prescient.ErrPanic) || o.result != ResultFailed {
		t.Errorf("%v: %+v", a.err, o)
	}
	for _, is := range []error{prescient.ErrFinal, longrun.ErrHandOn, longrun.ErrLost} {
		a := guarded(t.Context(), 0, func(context.Context) answered { return answered{err: fmt.Errorf("x: %w", is)} })
		if !errors.Is(a.err, is) {
			t.Errorf("%v is no %v", a.err, is)
		}
	}
}

// nilError has a text only where it is not nil.
type nilError struct{ text string }

func (e *nilError) Error() string { return e.text }

// A command that ignores TERM has half a minute until it is killed: the next step is not to be called beside it.
func TestACallWhoseTimeIsOverIsWaitedForBeforeItIsAbandoned(t *testing.T) {
	for name, test := range map[string]struct {
		after time.Duration // the end of its context
		took  time.Duration
		says  string
	}{
		"one that needs half a minute to end": {35 * time.Second, 45 * time.Second, "it took longer than 10s: killed"},
		"one that does not end":               {time.Hour, 50 * time.Second, "ignored the end of its context"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				a := guarded(t.Context(), 10*time.Second, func(ctx context.Context) answered {
					<-ctx.Done()
					time.Sleep(test.after)
					return answered{err: errors.New("killed")}
				})
				if took := time.Since(began); took != test.took || !errors.Is(a.err, prescient.ErrTimeout) || !strings.Contains(a.err.Error(), test.says) {
					t.Errorf("after %s: %v", took, a.err)
				}
				time.Sleep(2 * time.Hour) // until the call is over
			})
		})
	}
}
