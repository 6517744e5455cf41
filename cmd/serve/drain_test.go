package serve_test

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"prescient/cmd"
	"prescient/cmd/internal/rig"
	"prescient/prescient/agent"
	"prescient/prescient/longrun"
)

// heard waits for what agents hear with their next heartbeats.
func heard(r *rig.Rig, what string, is func() bool) {
	r.Helper()
	for until := time.Now().Add(2 * agent.Every); !is(); time.Sleep(200 * time.Millisecond) {
		if time.Now().After(until) {
			r.Fatalf("%s: not within %s", what, 2*agent.Every)
		}
	}
}

// stateOf is the state of an agent; empty where it is not listed.
func stateOf(r *rig.Rig, name string) agent.State {
	r.Helper()
	for _, a := range agents(r) {
		if a.Name == name {
			return a.State
		}
	}
	return ""
}

func TestAWorkerThatIsDrainedTakesNothingNewUntilThatIsTakenBack(t *testing.T) {
	rig.EachFlavour(t, func(r *rig.Rig) {
		c := &rig.Calls{Gate: func(context.Context, string, int) {}}
		start := r.Starter(c)
		r.Variables["PRESCIENT_METRICS_LISTEN"] = "127.0.0.1:0"
		a, b := start("a"), start("b")
		address := a.Address(r.T)
		rig.Eventually(r.T, "both are listed", func() bool { return len(agents(r)) == 2 })
		r.Execute("agents", "drain", "nobody").Wants(r.T, cmd.ExitNotFound, `"nobody"`)
		for _, name := range []string{"a", "b"} {
			r.Says(r.OK("agents", "drain", name, "--person", "ada", "--reason", "a new kernel"), "drained 1")
		}
		r.Says(r.OK("agents"), "live, to drain by ada since 2")
		heard(r, "both drain", func() bool { return stateOf(r, "a") == agent.Draining && stateOf(r, "b") == agent.Draining })
		a.Says(r.T, "drained: what ran has ended or was handed on")
		r.Says(r.OK("agents"), "draining by ada since 2")
		if got := r.Execute("doctor", "--only", "agents"); got.Code != cmd.ExitWarn || !strings.Contains(got.Out, "To take nothing new were told a by ada since") {
			r.Errorf("%v", got)
		}
		r.Fill(1, time.Second)
		time.Sleep(4 * time.Second)
		if n := c.Of("a") + c.Of("b"); n != 0 {
			r.Errorf("%d calls while both drain", n)
		}
		if got, _ := rig.Get(r.T, "http://"+address+"/healthz"); got != http.StatusOK {
			r.Errorf("%d: one that drains is well", got)
		}
		r.Must(b.Process.Signal(syscall.SIGTERM))
		b.Ends(r.T, cmd.ExitOK)
		r.Says(r.OK("agents", "undrain", "a"), "undrained 1")
		heard(r, "a works again", func() bool { return stateOf(r, "a") == agent.Live && c.Of("a") == 1 })
		r.Says(r.OK("audit", "--kind", "agent"), "undrain", "drain", "a new kernel")
		if _, text := rig.Get(r.T, "http://"+address+"/metrics"); !strings.Contains(text, `prescient_agents{kind="work",state="draining"} 0`) {
			r.Errorf("the metrics do not tell of what drains")
		}
		r.Must(a.Process.Signal(syscall.SIGTERM))
		a.Ends(r.T, cmd.ExitOK)
	})
}

func TestAWorkerThatIsDrainedHandsItsLongRunsOn(t *testing.T) {
	rig.EachFlavour(t, func(r *rig.Rig) {
		called := make(chan struct{})
		var once sync.Once
		var mu sync.Mutex
		var began []string
		exports(r, func(ctx context.Context, run *longrun.Run) (*time.Time, error) {
			mu.Lock()
			began = append(began, string(run.Checkpoint()))
			first := len(began) == 1
			mu.Unlock()
			for first {
				if err := run.Save(ctx, []byte("half")); err != nil {
					return nil, err
				}
				once.Do(func() { close(called) })
				time.Sleep(100 * time.Millisecond)
			}
			return nil, nil
		})
		r.Variables["PRESCIENT_WORKER_NAME"] = "a"
		ctx, stop := context.WithCancel(r.Context())
		defer stop()
		ended := make(chan rig.Result, 1)
		go func() { ended <- rig.Execute(ctx, r.Options, r.EnvironmentOf([]string{"work"}), "", "work") }()
		r.Await(called)
		r.OK("agents", "drain", "a")
		heard(r, "it drains", func() bool { return stateOf(r, "a") == agent.Draining })
		rig.Eventually(r.T, "its run is handed on", func() bool {
			return r.Count("SELECT COUNT(*) FROM long_run WHERE agent = '' AND allocated_until IS NOT NULL") == 1
		})
		r.OK("agents", "undrain", "a")
		heard(r, "it goes on", func() bool { return r.Count("SELECT COUNT(*) FROM job_history WHERE outcome = 'done'") == 1 })
		mu.Lock()
		defer mu.Unlock()
		if len(began) != 2 || began[1] != "half" {
			r.Errorf("calls began at %q", began)
		}
		stop()
		(<-ended).Wants(r.T, cmd.ExitOK, "draining")
	})
}
