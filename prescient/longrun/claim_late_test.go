package longrun_test

import (
	"context"
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

// Another may have the run by then.
func TestARunWhoseClaimIsAnsweredAfterItsLeaseIsNotCalled(t *testing.T) {
	const lease = 2 * time.Second
	eachServer(t, 30*time.Second, longrun.Options{}, func(t *testing.T, r *testRig) {
		r.Must(r.runner.RegisterIn("heavy", r.registry, "heavy-export", r.called, prescient.Guards{}))
		r.Put(r.AppAt(rig.At("11:59:00")), prescient.NewJob{Entity: rig.Order("a"), JobExec: "heavy-export", DueAt: rig.At("12:00:00")})
		r.slot("12:00:00")
		var hooks rig.Hooks
		agent, err := longrun.New(t.Context(), r.HookedAs("worker", rig.At("12:00:02"), &hooks), longrun.Options{Prefix: "p_", Dialect: r.Setting, Name: "agent-2",
			Rules: r.schedules, Pools: map[string]int{"heavy": 1}, Lease: lease})
		r.Must(err)
		var calls atomic.Int32
		r.Must(agent.RegisterIn("heavy", prescient.NewRegistry(), "heavy-export", func(context.Context, *longrun.Run) (*time.Time, error) {
			calls.Add(1)
			return nil, nil
		}, prescient.Guards{}))
		lapsed := make(chan struct{})
		late := sync.OnceFunc(func() {
			<-time.After(lease + lease/8)
			close(lapsed)
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
		ctx, stop := context.WithCancel(t.Context())
		served := make(chan struct{})
		go func() {
			defer close(served)
			agent.Serve(ctx)
		}()
		<-lapsed
		stop()
		<-served
		r.Must(agent.Drain(context.Background()))
		if n := calls.Load(); n != 0 {
			t.Errorf("it was called %d times", n)
		}
		if n := r.Count("SELECT COUNT(*) FROM p_long_run WHERE agent = 'agent-2' AND ended_at IS NULL"); n != 1 {
			t.Errorf("%d runs were claimed, and lapse; want 1", n)
		}
	})
}
