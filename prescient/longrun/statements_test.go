package longrun_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/rig"
	"prescient/prescient/longrun"
)

// stage is an agent of the pool heavy whose statements are counted. Its runs return once they are let go.
type stage struct {
	hooks rig.Hooks
	goes  chan struct{}
	let   func()
}

// agentOfStatements serves the pool.
func (r *testRig) agentOfStatements(clock string) *stage {
	r.T.Helper()
	s := &stage{goes: make(chan struct{})}
	s.let = sync.OnceFunc(func() { close(s.goes) })
	agent := r.hookedAgent(clock, &s.hooks, longrun.Options{Pools: map[string]int{"heavy": 50}}, prescient.Guards{}, func() { <-s.goes })
	s.sent() // what New has asked
	stop := r.serves(agent)
	r.T.Cleanup(func() {
		s.let()
		stop()
	})
	return s
}

// hookedAgent is an agent of the pool heavy, agent-2, whose statements go by hooks. Its runs do something, and are done.
func (r *testRig) hookedAgent(clock string, hooks *rig.Hooks, o longrun.Options, guards prescient.Guards, do func()) *longrun.Runner {
	r.T.Helper()
	o.Prefix, o.Dialect, o.Name, o.Rules = "p_", r.Setting, "agent-2", r.schedules
	agent, err := longrun.New(r.T.Context(), r.HookedAs("worker", rig.At(clock), hooks), o)
	r.Must(err)
	r.Must(agent.RegisterIn("heavy", prescient.NewRegistry(), "heavy-export", func(context.Context, *longrun.Run) (*time.Time, error) {
		do()
		return nil, nil
	}, guards))
	return agent
}

// serves has an agent serve its pools until stop, which waits for its calls.
func (r *testRig) serves(agent *longrun.Runner) (stop func()) {
	ctx, cancel := context.WithCancel(r.T.Context())
	served := make(chan struct{})
	go func() {
		defer close(served)
		agent.Serve(ctx)
	}()
	return func() {
		cancel()
		<-served
		r.Must(agent.Drain(context.Background()))
	}
}

// sent are the statements since it was asked last, but for looks for runs, renewals, and the ends of connections.
func (s *stage) sent() (sent []string) {
	s.hooks.Mu.Lock()
	defer s.hooks.Mu.Unlock()
	for _, statement := range s.hooks.Log {
		if statement != "CLOSE" && !strings.Contains(statement, "FROM DUAL") && !strings.Contains(statement, "INTERVAL ? MICROSECOND") && !strings.Contains(statement, "run.allocated_until, job.next_check_at") {
			sent = append(sent, statement)
		}
	}
	s.hooks.Log = nil
	return sent
}

// What starts together is claimed by four transactions at most, and mostly by one.
func TestStatementsOfARun(t *testing.T) {
	const toStart, toEnd = 7, 8 // with BEGIN and COMMIT
	for _, n := range []int{1, 50} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			eachServer(t, 30*time.Second, longrun.Options{}, func(t *testing.T, r *testRig) {
				r.Must(r.runner.RegisterIn("heavy", r.registry, "heavy-export", r.called, prescient.Guards{}))
				for i := range n {
					r.Put(r.AppAt(rig.At("11:59:00")), prescient.NewJob{Entity: rig.Order(fmt.Sprint(i)), JobExec: "heavy-export", DueAt: rig.At("12:00:00")})
				}
				r.slot("12:00:00")
				s := r.agentOfStatements("12:00:02")
				r.Eventually("they run", func() bool { return r.Count("SELECT COUNT(*) FROM p_long_run WHERE agent = 'agent-2'") == n })
				starts := s.sent()
				if most := toStart * min(n, 4); len(starts) > most {
					t.Errorf("%d statements start %d runs; want %d at most: %v", len(starts), n, most, kinds(starts))
				}
				s.let()
				r.Eventually("they have ended", func() bool { return r.Count(rig.CountEnded) == n })
				r.Eventually("that is answered", func() bool {
					ends := s.hooks.Count("COMMIT")
					return ends >= n
				})
				if ends := s.sent(); len(ends) > n*toEnd && !retried(ends) {
					t.Errorf("%d statements end %d runs; want %d: %v", len(ends), n, n*toEnd, kinds(ends))
				}
				r.Balanced()
			})
		})
	}
}

// kinds counts statements by their first words.
func kinds(statements []string) map[string]int {
	counts := make(map[string]int)
	for _, statement := range statements {
		words := strings.Fields(statement)
		counts[strings.Join(words[:min(len(words), 5)], " ")]++
	}
	return counts
}

// retried says whether a transaction was tried again, as where ends meet in the gaps of an index.
func retried(statements []string) bool {
	begun, committed := 0, 0
	for _, statement := range statements {
		switch statement {
		case "BEGIN":
			begun++
		case "COMMIT":
			committed++
		}
	}
	return begun > committed
}
