package longrun_test

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/longrun"
)

// toldOf is what an observer was told.
type toldOf struct {
	mu  sync.Mutex
	all []string
}

func (o *toldOf) note(words ...string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.all = append(o.all, strings.Join(words, " "))
}

func (o *toldOf) has(want ...string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Equal(o.all, want)
}

func TestAnObserverIsToldOfLongRuns(t *testing.T) {
	eachServer(t, 30*time.Second, longrun.Options{}, func(t *testing.T, r *testRig) {
		var o toldOf
		agent := r.agent("agent-2", longrun.Options{Observer: &longrun.Observer{
			Calling: func(check prescient.FutureJob) { o.note("calling", check.EntityKey) },
			Ended: func(check prescient.FutureJob, outcome prescient.Outcome) {
				if r.Count("SELECT COUNT(*) FROM p_job_history WHERE entity_key = ? AND outcome = ?", check.EntityKey, outcome) != 1 {
					t.Errorf("told of %s before it is committed", check.EntityKey)
				}
				o.note(string(outcome), check.EntityKey)
			},
		}})
		registry := prescient.NewRegistry()
		r.Must(agent.Register(registry, "export", r.called, prescient.Guards{MaxErrors: 1}))
		r.insert("11:59:30", "a", "12:00")
		r.slotOf(registry, "agent-2", "12:00:00")
		r.answers("a", "12:00:10", prescient.Answer{Err: errors.New("not yet")})
		want := []string{"calling a"}
		if !o.has(want...) {
			t.Errorf("told of %q; want %q", o.all, want)
		}
		r.slotOf(registry, "agent-2", "12:00:30")
		r.answers("a", "12:00:40", prescient.Answer{})
		want = append(want, "calling a", "done a")
		r.Eventually("it is told of the end", func() bool { return o.has(want...) })
		r.insert("12:01:30", "b", "12:02")
		r.slotOf(registry, "agent-2", "12:02:00")
		r.answers("b", "12:02:10", prescient.Answer{Err: prescient.Final(errors.New("never"))})
		want = append(want, "calling b", "failed b")
		r.Eventually("it is told of the failure", func() bool { return o.has(want...) })
	})
}
