package longrun_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/rig"
	"prescient/prescient/longrun"
)

// lateAgent serves a pool with some runs, and gets the answer to the first COMMIT of a claim once the lease is over: another may have them by then.
type lateAgent struct {
	lapsed chan struct{} // closed then
	calls  atomic.Int32
	stop   func()
}

func (r *testRig) lateAgent(runs int) *lateAgent {
	r.T.Helper()
	const lease = 2 * time.Second
	r.Must(r.runner.RegisterIn("heavy", r.registry, "heavy-export", r.called, prescient.Guards{}))
	for i := range runs {
		r.Put(r.AppAt(rig.At("11:59:00")), prescient.NewJob{Entity: rig.Order(fmt.Sprint(i)), JobExec: "heavy-export", DueAt: rig.At("12:00:00")})
	}
	r.slot("12:00:00")
	var hooks rig.Hooks
	a := &lateAgent{lapsed: make(chan struct{})}
	agent := r.hookedAgent("12:00:02", &hooks, longrun.Options{Pools: map[string]int{"heavy": runs}, Lease: lease}, prescient.Guards{MaxErrors: 5},
		func() { a.calls.Add(1) })
	late := sync.OnceFunc(func() {
		<-time.After(lease + lease/8)
		close(a.lapsed)
	})
	hooks.OnAnswer(func(statement string) error {
		hooks.Mu.Lock()
		claimed := slices.ContainsFunc(hooks.Log, func(sent string) bool { return strings.Contains(sent, "INTO p_long_run") })
		hooks.Mu.Unlock()
		if statement == "COMMIT" && claimed {
			late()
		}
		return nil
	})
	a.stop = sync.OnceFunc(r.serves(agent))
	r.T.Cleanup(a.stop)
	return a
}

func TestARunWhoseClaimIsAnsweredAfterItsLeaseIsNotCalled(t *testing.T) {
	eachServer(t, 30*time.Second, longrun.Options{}, func(t *testing.T, r *testRig) {
		a := r.lateAgent(1)
		<-a.lapsed
		a.stop()
		if n := a.calls.Load(); n != 0 {
			t.Errorf("it was called %d times", n)
		}
		if n := r.Count("SELECT COUNT(*) FROM p_long_run WHERE agent = 'agent-2' AND ended_at IS NULL"); n != 1 {
			t.Errorf("%d runs were claimed, and lapse; want 1", n)
		}
	})
}

func TestRunsWhoseClaimIsAnsweredAfterTheirLeaseAreClaimedAgain(t *testing.T) {
	eachServer(t, 30*time.Second, longrun.Options{}, func(t *testing.T, r *testRig) {
		const runs = 30
		a := r.lateAgent(runs)
		<-a.lapsed
		r.Eventually("all have been called", func() bool {
			r.Exec("UPDATE p_long_run SET allocated_until = ? WHERE agent = 'agent-2' AND ended_at IS NULL", rig.At("12:00:01"))
			return r.Count(rig.CountEnded) == runs
		})
	})
}
