package longrun_test

import (
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/longrun"
	"prescient/prescient/longrun/wakeup"
)

func TestARunIsClaimedThoughOthersSayAgainAndAgainThatTheyHaveItUnderAHigherToken(t *testing.T) {
	runs(t, func(t *testing.T, r *testRig) {
		r.create("11:59:00", heavy("a", longrun.Forbid))
		r.slot("12:00:00")
		says := wakeup.Message{Kind: wakeup.Has, From: "ghost", Agent: "ghost", Pool: "heavy", JobExec: "export", Key: r.pendingAt("12:00").Key(),
			Token: 1 << 62, Until: time.Now().Add(24 * time.Hour)}
		rumours := new(wakeup.Memory)
		r.at("12:00:02")
		r.serving("agent-2", longrun.Options{Pools: map[string]int{"heavy": 2}, WakeUp: rumours})
		r.Eventually("a is called", func() bool {
			rumours.Send(says)
			return r.isRunning("a 12:00:00")
		})
		rumours.Send(says)
		r.answers("a 12:00:00", "12:00:20", prescient.Answer{})
		r.wantOutcome("a 12:00:00", "done")
		r.Balanced()
	})
}

func TestARunWhoseTokenWentBackIsClaimedByAgentsThatKnewTheOther(t *testing.T) {
	runs(t, func(t *testing.T, r *testRig) {
		r.create("11:59:00", heavy("a", longrun.Forbid))
		r.slot("12:00:00")
		r.at("12:00:02")
		r.Exec("UPDATE p_long_run SET token = 1 << 62, agent = 'agent-3', allocated_until = '2026-11-20 12:00:40'")
		runner := r.serving("agent-2", ofHeavy)
		looks := runner.Looks()
		r.Eventually("agent-2 knows it", func() bool { return runner.Looks() > looks+1 })
		// Another server takes over that lacks the commit of that claim.
		r.Exec("UPDATE p_long_run SET token = 7, agent = '', allocated_until = '2026-11-20 12:00:00'")
		r.running("a 12:00:00")
		r.answers("a 12:00:00", "12:00:20", prescient.Answer{})
		r.wantOutcome("a 12:00:00", "done")
	})
}
