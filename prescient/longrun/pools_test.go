package longrun_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/rig"
	"prescient/prescient/localserver/servertest"
	"prescient/prescient/longrun"
	"prescient/prescient/longrun/wakeup"
	"prescient/prescient/schedule"
)

// serving is an agent that claims runs.
func (r *testRig) serving(name string, o longrun.Options) *longrun.Runner {
	r.T.Helper()
	runner := r.agent(name, o)
	r.Must(runner.Register(prescient.NewRegistry(), "export", r.called, prescient.Guards{MaxErrors: 2}))
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan struct{})
	go func() {
		defer close(served)
		runner.Serve(ctx)
	}()
	r.T.Cleanup(func() {
		stop()
		<-served
	})
	return runner
}

// heavy is a schedule of the pool heavy, once a minute.
func heavy(id string, overlap longrun.Overlap) schedule.Schedule {
	s := long(id, overlap)
	s.Pool = "heavy"
	return s
}

var ofHeavy = longrun.Options{Pools: map[string]int{"heavy": 2}}

// wantAgent waits until an agent has the run of a check.
func (r *testRig) wantAgent(key, agent string) {
	r.T.Helper()
	r.Eventually(key+" is "+agent+"'s", func() bool {
		return r.Count("SELECT COUNT(*) FROM p_long_run run JOIN p_future_job job USING (job_key) WHERE job.entity_key = ? AND run.agent = ? AND run.called_at IS NOT NULL", key, agent) == 1
	})
}

func TestARunOfAPoolIsOfferedByASlotRunAndClaimedByAnAgentOfThePool(t *testing.T) {
	runs(t, func(t *testing.T, r *testRig) {
		r.create("11:59:00", heavy("a", longrun.Forbid))
		r.slot("12:00:00") // of agent-1, which has a place and serves no pool
		states, err := r.schedules.LongRuns(t.Context(), r.As("operator", rig.At("12:00:01")), "a", 10)
		r.Must(err)
		if len(states) != 1 || states[0].Phase != longrun.Offered || states[0].Pool != "heavy" || states[0].Agent != "" || states[0].StartedAt != nil {
			t.Errorf("%+v", states)
		}
		prepared := servertest.Open(t, servertest.WithParams(r.Account("operator"), rig.FixedClock(rig.At("12:00:01"))), "interpolateParams=false") // as an app's own pool may be
		if again, err := r.schedules.LongRuns(t.Context(), prepared, "a", 10); err != nil || len(again) != len(states) {
			t.Errorf("by a prepared statement: %+v, %v", again, err)
		}
		r.serving("agent-3", longrun.Options{Pools: map[string]int{"eu": 2}})
		r.at("12:00:02")
		r.serving("agent-2", ofHeavy)
		r.running("a 12:00:00")
		r.wantAgent("a", "agent-2")
		if job := r.pendingAt("12:00"); !job.NextCheckAt.Equal(rig.At("12:01:30")) {
			t.Errorf("%+v; want it after the lease", job)
		}
		r.answers("a 12:00:00", "12:00:20", prescient.Answer{})
		ended := r.History()
		if len(ended) != 1 || ended[0].Outcome != prescient.Done || ended[0].Worker != "agent-2" || !ended[0].Slot.Equal(rig.At("12:00")) {
			t.Errorf("%+v", ended)
		}
		r.wantTimes("a", "12:01:00", "12:00:02")
		r.Balanced()
	})
}

// pendingAt is the pending check of the run that is due at a time.
func (r *testRig) pendingAt(due string) prescient.FutureJob {
	r.T.Helper()
	for _, job := range r.Pending() {
		if job.JobExec == "export" && job.DueAt.Equal(rig.At(due)) {
			return job
		}
	}
	r.T.Fatalf("no run of %s is pending: %+v", due, r.Pending())
	return prescient.FutureJob{}
}

func TestARunWhosePoolNobodyServesWaitsInItsPlaceAndExpires(t *testing.T) {
	runs(t, func(t *testing.T, r *testRig) {
		s := heavy("a", longrun.Forbid)
		s.ExpiresAfter, s.Crontabs = 5*time.Minute, []string{"0 12 * * *"}
		r.create("11:59:00", s)
		r.serving("agent-2", longrun.Options{})
		r.slot("12:00:00")
		place := r.text("SELECT CAST(allocated_until AS CHAR) FROM p_long_run")
		for _, clock := range []string{"12:01:30", "12:03:00", "12:04:30"} {
			r.slot(clock)
			if job := r.pendingAt("12:00"); !job.NextCheckAt.Equal(rig.At(clock).Add(90 * time.Second)) {
				t.Errorf("at %s it waits for %s", clock, job.NextCheckAt)
			}
		}
		if got := r.text("SELECT CAST(allocated_until AS CHAR) FROM p_long_run WHERE agent = '' AND pool = 'heavy'"); got != place {
			t.Errorf("it was offered at %s, and has the place of %s", place, got)
		}
		r.slot("12:06:00")
		r.wantOutcome("a 12:00:00", "expired")
		r.Balanced()
	})
}

func (r *testRig) text(query string, args ...any) (text string) {
	r.T.Helper()
	r.Must(r.Root.QueryRow(query, args...).Scan(&text))
	return text
}

func TestEachOfManyRunsIsClaimedOnceByAgentsThatShareAPool(t *testing.T) {
	runs(t, func(t *testing.T, r *testRig) {
		const n = 40
		for i := range n {
			s := heavy(fmt.Sprint("a", i), longrun.Forbid)
			s.Crontabs = []string{"0 12 * * *"}
			r.create("11:59:00", s)
		}
		r.slot("12:00:00")
		r.at("12:00:02")
		agents := []*longrun.Runner{
			r.serving("agent-2", longrun.Options{Pools: map[string]int{"heavy": n}}), r.serving("agent-3", longrun.Options{Pools: map[string]int{"heavy": n}}),
			r.serving("agent-4", longrun.Options{Pools: map[string]int{"heavy": n / 8}})}
		for i := range n {
			r.running(fmt.Sprintf("a%d 12:00:00", i))
		}
		if sum := agents[0].Running() + agents[1].Running() + agents[2].Running(); sum != n {
			t.Errorf("%d are called; want %d", sum, n)
		}
		if agents[2].Running() > n/8 {
			t.Errorf("%d of %d places are taken", agents[2].Running(), n/8)
		}
		t.Logf("dealt out: %d, %d, %d", agents[0].Running(), agents[1].Running(), agents[2].Running())
		for i := range n {
			r.answers(fmt.Sprintf("a%d 12:00:00", i), "12:00:10", prescient.Answer{})
		}
		if done := r.Count("SELECT COUNT(*) FROM p_job_history WHERE outcome = 'done'"); done != n {
			t.Errorf("%d are done", done)
		}
		r.Balanced()
	})
}

func TestWhatAnAgentHandsOnAnotherGoesOnWithInASecond(t *testing.T) {
	for name, pool := range map[string]string{"of a pool": "heavy", "of no pool": ""} {
		t.Run(name, func(t *testing.T) {
			runs(t, func(t *testing.T, r *testRig) {
				s := heavy("a", longrun.Forbid)
				s.Pool = pool
				r.create("11:59:00", s)
				first := r.serving("agent-2", ofHeavy)
				if pool == "" { // the slot run has agent-1 start it, which hands it on
					first = r.runner
				}
				r.slot("12:00:00")
				r.at("12:00:02")
				call := r.forget("a 12:00:00")
				third := r.serving("agent-3", ofHeavy)
				r.Eventually("it has seen that there is a run", func() bool { return third.Looks() > 0 })
				drained := make(chan error, 1)
				go func() { drained <- first.Drain(t.Context()) }()
				r.Eventually("the agent stops", func() bool { return errors.Is(call.run.Save(t.Context(), []byte("half")), longrun.ErrHandOn) })
				call.answer <- prescient.Answer{Err: longrun.ErrHandOn}
				r.Must(<-drained)
				began := time.Now()
				r.at("12:00:04")
				again := r.running("a 12:00:00")
				if took := time.Since(began); took > 20*time.Second { // a second, on a machine that has nothing else to do; a lease does not lapse by a clock that stands
					t.Errorf("another goes on after %s", took)
				}
				if string(again.run.Checkpoint()) != "half" || again.run.Takeovers() != 0 {
					t.Errorf("%q, %d", again.run.Checkpoint(), again.run.Takeovers())
				}
				r.answers("a 12:00:00", "12:00:20", prescient.Answer{})
				r.wantOutcome("a 12:00:00", "done")
				r.Balanced()
			})
		})
	}
}

func TestARunOfADeadAgentIsClaimedOnceItsLeaseIsOver(t *testing.T) {
	runs(t, func(t *testing.T, r *testRig) {
		r.create("11:59:00", heavy("a", longrun.Forbid))
		r.slot("12:00:00")
		r.at("12:00:02")
		r.serving("agent-2", ofHeavy)
		dead := r.forget("a 12:00:00")
		r.Must(dead.run.Save(t.Context(), []byte("half")))
		r.Exec("UPDATE p_long_run SET agent = 'dead'") // its process was killed, as far as the table knows
		third := r.serving("agent-3", ofHeavy)
		looks := third.Looks()
		r.Eventually("it looks", func() bool { return third.Looks() > looks+1 })
		if r.isRunning("a 12:00:00") {
			t.Fatal("it was claimed while its lease lived")
		}
		r.at("12:01:10")
		again := r.running("a 12:00:00")
		if string(again.run.Checkpoint()) != "half" || again.run.Takeovers() != 1 {
			t.Errorf("%q, %d", again.run.Checkpoint(), again.run.Takeovers())
		}
		if err := dead.run.Save(t.Context(), []byte("late")); !errors.Is(err, longrun.ErrLost) {
			t.Errorf("saved by an agent that lost the run: %v", err)
		}
		r.answers("a 12:00:00", "12:01:20", prescient.Answer{})
		r.wantOutcome("a 12:00:00", "done")
	})
}

// claimedAnew says that an agent goes on with a run of a pool which the table says another one has had, as it was left, and how often it was taken over.
func claimedAnew(t *testing.T, left, clock string, takeovers int) {
	runs(t, func(t *testing.T, r *testRig) {
		r.create("11:59:00", heavy("a", longrun.Forbid))
		r.slot("12:00:00")
		r.Exec("UPDATE p_long_run SET agent = 'dead', token = token + 7, " + left)
		r.at(clock)
		r.serving("agent-2", ofHeavy)
		if run := r.running("a 12:00:00").run; run.Takeovers() != takeovers {
			t.Errorf("it was taken over %d times; want %d", run.Takeovers(), takeovers)
		}
	})
}

// It was never called before.
func TestARunWhoseClaimerDiesBeforeItStartsIsClaimedByAnother(t *testing.T) {
	claimedAnew(t, "allocated_until = '2026-11-20 12:01:00'", "12:01:01", 0)
}

// The clock of the server was put back by hours, and the agent died: another goes on, of a pool or of none, and does not wait for those hours.
func TestALeaseThatEndsFurtherAheadThanAnyCanIsNobodys(t *testing.T) {
	claimedAnew(t, "started_at = '2026-11-20 12:00:00', allocated_until = '2026-11-20 15:00:00'", "12:00:02", 1)
}

func TestAPoolHasPlacesOfItsOwn(t *testing.T) {
	runs(t, func(t *testing.T, r *testRig) {
		for _, id := range []string{"a", "b"} {
			s := heavy(id, longrun.Forbid)
			s.Crontabs = []string{"0 12 * * *"}
			r.create("11:59:00", s)
		}
		r.slot("12:00:00")
		r.at("12:00:02")
		agent := r.serving("agent-2", longrun.Options{Pools: map[string]int{"heavy": 1}})
		r.Eventually("one starts", func() bool { return agent.Running() == 1 })
		looks := agent.Looks()
		r.Eventually("it looks again", func() bool { return agent.Looks() > looks+1 })
		first, second := "a", "b"
		if r.isRunning("b 12:00:00") {
			first, second = second, first
		}
		if r.isRunning(second + " 12:00:00") {
			t.Fatal("two in one place")
		}
		r.answers(first+" 12:00:00", "12:00:20", prescient.Answer{})
		r.at("12:00:21")
		r.running(second + " 12:00:00")
	})
}

func TestARunThatIsOfferedAndCancelledIsNotCalled(t *testing.T) {
	runs(t, func(t *testing.T, r *testRig) {
		r.Must(r.runner.RegisterIn("heavy", r.registry, "heavy-export", r.called, prescient.Guards{}))
		for _, key := range []string{"a", "b"} {
			_, err := r.Client.Insert(t.Context(), r.AppAt(rig.At("11:59:30")), prescient.NewJob{Entity: prescient.Entity{Name: "report", Key: key}, JobExec: "heavy-export", DueAt: rig.At("12:00")})
			r.Must(err)
		}
		r.slot("12:00:00")
		for _, key := range []string{"a", "b"} {
			_, err := r.Client.Cancel(t.Context(), r.AppAt(rig.At("12:00:01")), prescient.Entity{Name: "report", Key: key})
			r.Must(err)
		}
		// The key of one is pending again, and its time has not come.
		_, err := r.Client.Insert(t.Context(), r.AppAt(rig.At("12:00:01")), prescient.NewJob{Entity: prescient.Entity{Name: "report", Key: "b"}, JobExec: "heavy-export", DueAt: rig.At("13:00")})
		r.Must(err)
		r.at("12:00:02")
		runner := r.agent("agent-2", ofHeavy)
		r.Must(runner.RegisterIn("heavy", prescient.NewRegistry(), "heavy-export", r.called, prescient.Guards{}))
		ctx, stop := context.WithCancel(context.Background())
		defer stop()
		go runner.Serve(ctx)
		r.Eventually("both rows end", func() bool {
			return r.Count("SELECT COUNT(*) FROM p_long_run WHERE outcome = 'cancelled' AND ended_at IS NOT NULL AND allocated_until IS NULL") == 2
		})
		if r.isRunning("a") || r.isRunning("b") {
			t.Error("it was called")
		}
		if job := r.One(); !job.NextCheckAt.Equal(rig.At("13:00")) {
			t.Errorf("%+v", job)
		}
		for _, clock := range []string{"13:00:00", "13:00:02"} {
			r.at(clock)
		}
		r.slot("13:00:00")
		r.at("13:00:02")
		r.running("b")
	})
}

func TestARunOfAPausedJobExecIsGivenBack(t *testing.T) {
	runs(t, func(t *testing.T, r *testRig) {
		r.create("11:59:00", heavy("a", longrun.Forbid))
		r.slot("12:00:00")
		r.Exec("INSERT INTO p_job_pause (job_exec) VALUES ('export')")
		r.at("12:00:02")
		r.serving("agent-2", ofHeavy)
		r.Eventually("it was given back", func() bool {
			return r.Count("SELECT COUNT(*) FROM p_long_run WHERE agent = '' AND allocated_until > '2026-11-20 12:00:30' AND started_at IS NULL") == 1
		})
		r.Exec("DELETE FROM p_job_pause")
		r.at("12:01:10")
		r.running("a 12:00:00")
	})
}

// Two programs share a pool. Hundreds of runs of one, whose agents are gone, are not in the way of the other.
func TestRunsThatAnAgentCannotCallAreNotInTheWayOfThoseThatItCan(t *testing.T) {
	runs(t, func(t *testing.T, r *testRig) {
		var checks, waiting []string
		for i := range 600 {
			e := prescient.Entity{Name: "order", Key: fmt.Sprint(i)}
			key := prescient.KeyOf(e, "elsewhere", "")
			checks = append(checks, fmt.Sprintf("('order', '%s', 'elsewhere', '2026-11-20 11:50', X'%X', '2026-11-20 11:50', '2026-11-20 13:00', 1)", e.Key, key[:]))
			waiting = append(waiting, fmt.Sprintf("(X'%X', 'heavy', '', 1, '2026-11-20 11:50', '2026-11-20 11:50', '2026-11-20 11:50', '2026-11-20 11:50', 0)", key[:]))
		}
		r.Exec("INSERT INTO p_future_job (entity_name, entity_key, job_exec, due_at, job_key, first_check_at, next_check_at, revision) VALUES " + strings.Join(checks, ","))
		r.Exec("INSERT INTO p_long_run (job_key, pool, agent, token, allocated_until, slot, due_at, inserted_at, check_count) VALUES " + strings.Join(waiting, ","))
		r.create("11:59:00", heavy("a", longrun.Forbid))
		r.slot("12:00:00")
		r.at("12:00:02")
		r.serving("agent-2", ofHeavy)
		r.running("a 12:00:00")
	})
}

func TestThePoolOfAScheduleGoesBeforeThatOfTheJobExecAndMayChange(t *testing.T) {
	runs(t, func(t *testing.T, r *testRig) {
		s := heavy("a", longrun.Forbid)
		s.Pool = "eu"
		r.create("11:59:00", s)
		r.slot("12:00:00")
		r.Exec("UPDATE p_schedule SET pool = 'heavy'") // while its run is offered to eu
		r.at("12:00:02")
		r.serving("agent-2", longrun.Options{Pools: map[string]int{"eu": 1}})
		r.Eventually("it is offered to heavy", func() bool {
			return r.Count("SELECT COUNT(*) FROM p_long_run WHERE pool = 'heavy' AND agent = '' AND started_at IS NULL") == 1
		})
		r.at("12:00:04")
		r.serving("agent-3", ofHeavy)
		r.running("a 12:00:00")
		r.wantAgent("a", "agent-3")
	})
}

func TestWithAWakeUpAgentsKnowAtOnce(t *testing.T) {
	runs(t, func(t *testing.T, r *testRig) {
		w := new(wakeup.Memory)
		o := longrun.Options{Pools: map[string]int{"heavy": 2}, WakeUp: w}
		for i := range 3 {
			agent := r.serving(fmt.Sprint("agent-", i+2), o)
			r.Eventually("it listens", func() bool { return agent.Looks() > 0 })
		}
		said := make(chan wakeup.Message, 1000)
		stop, err := w.Receive(func(m wakeup.Message) { said <- m })
		r.Must(err)
		defer stop()
		runner := r.agent("agent-1b", longrun.Options{WakeUp: w})
		registry := prescient.NewRegistry()
		r.Must(r.schedules.Register(registry))
		r.Must(runner.Register(registry, "export", r.called, prescient.Guards{}))
		r.create("11:59:00", heavy("a", longrun.Forbid))
		r.slotOf(registry, "agent-1b", "12:00:00")
		r.at("12:00:02")
		r.running("a 12:00:00")
		kinds := make(map[wakeup.Kind]int)
		r.Eventually("it is told who has it", func() bool {
			for len(said) > 0 {
				kinds[(<-said).Kind]++
			}
			return kinds[wakeup.Has] > 0
		})
		if kinds[wakeup.Offer] == 0 || kinds[wakeup.Claim] == 0 || kinds[wakeup.Has] != 1 {
			t.Errorf("%v", kinds)
		}
	})
}
