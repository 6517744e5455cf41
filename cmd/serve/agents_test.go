package serve_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"prescient/cmd"
	"prescient/cmd/internal/rig"
	"prescient/prescient/agent"
)

// agents are those that the command agents lists.
func agents(r *rig.Rig) (list []agent.Known) {
	r.Helper()
	for line := range strings.Lines(r.OK("agents", "--json")) {
		var one agent.Known
		r.Must(json.Unmarshal([]byte(line), &one))
		list = append(list, one)
	}
	return list
}

func TestAProcessIsAmongTheAgentsUntilItHasStopped(t *testing.T) {
	rig.EachFlavour(t, func(r *rig.Rig) {
		called, release := make(chan struct{}), make(chan struct{})
		var once sync.Once
		c := &rig.Calls{Gate: func(ctx context.Context, _ string, _ int) {
			once.Do(func() { close(called) })
			select {
			case <-release:
			case <-ctx.Done():
			}
		}}
		start := r.Starter(c)
		if said := r.OK("agents"); !strings.Contains(said, "There is no agent") {
			r.Errorf("before there is one: %s", said)
		}
		r.Variables["PRESCIENT_WORKER_POOLS"] = "heavy=4,eu=2"
		r.Variables["PRESCIENT_METRICS_LISTEN"] = "127.0.0.1:0"
		p := start("a")
		address := p.Address(r.T)
		rig.Eventually(r.T, "it is listed", func() bool { return len(agents(r)) == 1 })
		if a := agents(r)[0]; a.Name != "a" || a.State != agent.Live || a.PID != uint32(p.Process.Pid) || a.Version == "" || a.Assignment != "every slot" ||
			a.Pools["heavy"] != 4 || a.Pools["eu"] != 2 || a.Concurrency != 8 {
			r.Errorf("%+v", a)
		}
		for _, word := range []string{"agent", "serves", "every slot", "eu=2,heavy=4", "live"} {
			if said := r.OK("agents"); !strings.Contains(said, word) {
				r.Errorf("%q is missing in\n%s", word, said)
			}
		}
		if _, text := rig.Get(r.T, "http://"+address+"/metrics"); !strings.Contains(text, `prescient_agents{kind="work",state="live"} 1`) || !strings.Contains(text, "prescient_busy_ratio 0") {
			r.Errorf("the metrics do not tell of it")
		}
		for _, metric := range []string{"running", "waiting", "waiting_seconds"} {
			if _, text := rig.Get(r.T, "http://"+address+"/metrics"); !strings.Contains(text, "prescient_long_runs_"+metric+`{pool="heavy"} 0`) {
				r.Errorf("the metrics do not tell what of heavy is %s", metric)
			}
		}
		if said := strings.Fields(r.OK("agents", "--pools")); !slices.Equal(said[len(said)-5:], []string{"heavy", "1", "4", "0", "0"}) {
			r.Errorf("of pools it says %q", said)
		}
		r.Fill(1, time.Second)
		r.Await(called)
		r.Must(p.Process.Signal(syscall.SIGTERM))
		rig.Eventually(r.T, "it is listed as one that stops", func() bool { return agents(r)[0].State == agent.Stopping })
		close(release)
		p.Ends(r.T, cmd.ExitOK)
		if left := agents(r); len(left) != 0 {
			r.Errorf("%+v is left", left)
		}
	})
}

func TestTwoProcessesOfOneNameAreBothListedAndOneThatWasKilledStays(t *testing.T) {
	rig.EachFlavour(t, func(r *rig.Rig) {
		start := r.Starter(&rig.Calls{Gate: func(context.Context, string, int) {}})
		first, second := start("a"), start("a")
		rig.Eventually(r.T, "both are listed", func() bool { return len(agents(r)) == 2 })
		if got := r.Execute("doctor", "--only", "agents"); !strings.Contains(got.Out, "warn  agents.names: Several agents have one name: a is process") {
			r.Errorf("%v", got)
		}
		r.Must(first.Process.Signal(syscall.SIGKILL))
		first.Ends(r.T, -1)
		r.Must(second.Process.Signal(syscall.SIGTERM))
		second.Ends(r.T, cmd.ExitOK)
		left := agents(r)
		if len(left) != 1 || left[0].PID != uint32(first.Process.Pid) {
			r.Fatalf("%+v", left)
		}
		if _, err := r.DB.Exec("UPDATE agent SET seen_at = seen_at - INTERVAL 61 SECOND"); err != nil {
			r.Fatal(err)
		}
		if state := agents(r)[0].State; state != agent.Dead {
			r.Errorf("it is %s", state)
		}
		if got := r.Execute("doctor", "--only", "agents"); !strings.Contains(got.Out, "warn  agents.slots: No live agent serves any slot. The last was a, dead") {
			r.Errorf("%v", got)
		}
	})
}

func TestAgentsAreWatchedUntilInterrupted(t *testing.T) {
	rig.EachFlavour(t, func(r *rig.Rig) {
		r.Migrate()
		r.Watch("There is no agent", 2, "agents", "--watch").Wants(r.T, cmd.ExitOK)
	})
}
