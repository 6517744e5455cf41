package steps

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"prescient/prescient"
)

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
