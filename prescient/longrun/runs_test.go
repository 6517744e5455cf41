package longrun_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/rig"
	"prescient/prescient/longrun"
	"prescient/prescient/schedule"
	"prescient/prescient/worker"
)

// On slots of half a minute, with leases of a minute.
func runs(t *testing.T, test func(t *testing.T, r *testRig)) {
	eachServer(t, 30*time.Second, longrun.Options{}, test)
}

// another is an agent that has a place of its own, with what its worker needs to start runs; its calls are among those of the rig.
func (r *testRig) another(name string) *prescient.Registry {
	r.T.Helper()
	registry := prescient.NewRegistry()
	r.Must(r.schedules.Register(registry))
	r.Must(r.agent(name, longrun.Options{}).Register(registry, "export", r.called, prescient.Guards{MaxErrors: 2}))
	return registry
}

// slotOf runs the slot of a time with the worker of an agent.
func (r *testRig) slotOf(registry *prescient.Registry, name, clock string) {
	r.T.Helper()
	r.at(clock)
	r.RunAt(rig.At(clock), registry, worker.Options{Name: name})
}

// forget has the rig expect another call of a check.
func (r *testRig) forget(name string) *call {
	r.T.Helper()
	c := r.running(name)
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.calls, name)
	return c
}

func TestALongRunOutlivesItsSlotAndEndsOnce(t *testing.T) {
	runs(t, func(t *testing.T, r *testRig) {
		r.insert("11:59:30", "a", "12:00")
		figures := r.slot("12:00:00")
		if figures.PutOff != 1 || figures.Done != 0 {
			t.Errorf("%+v", figures)
		}
		r.running("a")
		if job := r.One(); !job.NextCheckAt.Equal(rig.At("12:01:30")) || job.CheckCount != 0 || !job.DueAt.Equal(rig.At("12:00")) {
			t.Errorf("%+v; want it after the lease, as it was", job)
		}
		r.Exec("UPDATE p_long_run SET allocated_until = '2026-11-20 12:02:20'") // it was renewed
		r.slot("12:01:30")
		if job := r.One(); !job.NextCheckAt.Equal(rig.At("12:02:30")) {
			t.Errorf("%+v; want it after the lease", job)
		}
		r.answers("a", "12:02:10", prescient.Answer{})
		ended := r.History()
		if len(ended) != 1 || ended[0].Outcome != prescient.Done || !ended[0].Slot.Equal(rig.At("12:00")) || ended[0].Worker != "agent-1" ||
			!ended[0].EndedAt.Equal(rig.At("12:02:10")) || ended[0].StartedAt == nil || !ended[0].StartedAt.Truncate(time.Minute).Equal(rig.At("12:00")) || ended[0].CheckCount != 0 {
			t.Errorf("%+v", ended)
		}
		r.Balanced()
	})
}

func TestAnAnswerOfALongRunCountsAsThatOfAnyCheck(t *testing.T) {
	runs(t, func(t *testing.T, r *testRig) {
		r.insert("11:59:30", "a", "12:00")
		r.slot("12:00:00")
		r.answers("a", "12:00:40", prescient.Answer{Next: prescient.At(rig.At("12:05"))})
		if job := r.One(); !job.NextCheckAt.Equal(rig.At("12:05")) || !job.DueAt.Equal(rig.At("12:05")) || job.CheckCount != 1 {
			t.Errorf("%+v", job)
		}
		r.slot("12:05:00")
		r.answers("a", "12:05:10", prescient.Answer{Err: errors.New("no luck")})
		if job := r.One(); !job.NextCheckAt.Equal(rig.At("12:05:30")) || job.ErrorCount != 1 || job.LastError != "no luck" || job.CheckCount != 1 {
			t.Errorf("%+v", job)
		}
		for _, clock := range []string{"12:05:30", "12:06:30"} {
			r.slot(clock)
			r.answers("a", clock, prescient.Answer{Err: errors.New("no luck")})
		}
		r.wantOutcome("a", "failed")
		r.Balanced()
	})
}

func TestALapsedRunIsTakenOverFromItsCheckpoint(t *testing.T) {
	runs(t, func(t *testing.T, r *testRig) {
		r.insert("11:59:30", "a", "12:00")
		r.slot("12:00:00")
		first := r.forget("a")
		r.Must(first.run.Save(t.Context(), []byte("half")))
		other := r.another("agent-2")
		r.slotOf(other, "agent-2", "12:01:30") // the first let it lapse
		second := r.running("a")
		if string(second.run.Checkpoint()) != "half" || second.run.Takeovers() != 1 {
			t.Errorf("%q, %d", second.run.Checkpoint(), second.run.Takeovers())
		}
		if err := first.run.Save(t.Context(), []byte("late")); !errors.Is(err, longrun.ErrLost) {
			t.Errorf("saved by an agent that lost the run: %v", err)
		}
		if cause := context.Cause(first.ctx); !errors.Is(cause, longrun.ErrLost) {
			t.Errorf("its call goes on: %v", cause)
		}
		r.answers("a", "12:01:40", prescient.Answer{})
		if ended := r.History(); len(ended) != 1 || ended[0].Worker != "agent-2" || ended[0].Outcome != prescient.Done {
			t.Errorf("%+v", ended)
		}
		r.Balanced()
	})
}

func TestAnEndOfALostRunIsNotCommitted(t *testing.T) {
	runs(t, func(t *testing.T, r *testRig) {
		r.insert("11:59:30", "a", "12:00")
		r.slot("12:00:00")
		first := r.forget("a")
		other := r.another("agent-2")
		r.slotOf(other, "agent-2", "12:01:30")
		r.running("a")
		first.answer <- prescient.Answer{} // frozen past its lease, and woken
		r.Eventually("the first agent is rid of it", func() bool { return r.runner.Running() == 0 })
		if n := r.Count(rig.CountEnded); n != 0 {
			t.Errorf("%d ended", n)
		}
		r.answers("a", "12:01:40", prescient.Answer{})
		if ended := r.History(); len(ended) != 1 || ended[0].Worker != "agent-2" {
			t.Errorf("%+v", ended)
		}
	})
}

func TestARunThatLapsesAgainAndAgainEndsAsCrashed(t *testing.T) {
	runs(t, func(t *testing.T, r *testRig) {
		r.insert("11:59:30", "a", "12:00")
		r.slot("12:00:00")
		for i, clock := range []string{"12:01:30", "12:03:00"} {
			r.forget("a")
			r.slotOf(r.another("agent-"+string(rune('2'+i))), "agent-"+string(rune('2'+i)), clock)
		}
		r.running("a")
		r.slotOf(r.another("agent-9"), "agent-9", "12:04:30")
		r.wantOutcome("a", "crashed")
		r.Balanced()
	})
}

func TestAnAgentThatStopsHandsItsRunsOn(t *testing.T) {
	runs(t, func(t *testing.T, r *testRig) {
		r.insert("11:59:30", "a", "12:00")
		r.slot("12:00:00")
		first := r.forget("a")
		r.at("12:00:10")
		drained := make(chan error, 1)
		go func() { drained <- r.runner.Drain(t.Context()) }()
		r.Eventually("the agent stops", func() bool { return errors.Is(first.run.Save(t.Context(), []byte("half")), longrun.ErrHandOn) })
		first.answer <- prescient.Answer{Err: longrun.ErrHandOn}
		r.Must(<-drained)
		if job := r.One(); !job.NextCheckAt.Equal(rig.At("12:00:30")) || job.ErrorCount != 0 {
			t.Errorf("%+v; want it in the next slot", job)
		}
		r.slotOf(r.another("agent-2"), "agent-2", "12:00:30")
		second := r.running("a")
		if string(second.run.Checkpoint()) != "half" || second.run.Takeovers() != 0 {
			t.Errorf("%q, %d", second.run.Checkpoint(), second.run.Takeovers())
		}
		r.answers("a", "12:00:40", prescient.Answer{})
		r.wantOutcome("a", "done")
	})
}

func TestAnAgentThatIsHeldHandsItsRunsOnAndStartsSomeOnceItGoesOn(t *testing.T) {
	runs(t, func(t *testing.T, r *testRig) {
		r.insert("11:59:30", "a", "12:00")
		r.slot("12:00:00")
		first := r.forget("a")
		r.at("12:00:10")
		held := make(chan error, 1)
		go func() { held <- r.runner.Hold(t.Context()) }()
		r.Eventually("the agent hands on", func() bool { return errors.Is(first.run.Save(t.Context(), []byte("half")), longrun.ErrHandOn) })
		first.answer <- prescient.Answer{Err: longrun.ErrHandOn}
		r.Must(<-held)
		r.Must(r.runner.Hold(t.Context())) // once more, with nothing to hand on
		r.slot("12:00:30")
		if n := r.runner.Running(); n != 0 || len(r.Pending()) != 1 {
			t.Errorf("%d runs are called while the agent is held, %+v", n, r.Pending())
		}
		r.runner.GoOn()
		r.slot("12:01:00")
		second := r.running("a")
		if string(second.run.Checkpoint()) != "half" || second.run.Stopping() {
			t.Errorf("%q", second.run.Checkpoint())
		}
		r.answers("a", "12:01:10", prescient.Answer{})
		r.wantOutcome("a", "done")
	})
}

func TestACancelledRunEndsAndItsAnswerIsDropped(t *testing.T) {
	runs(t, func(t *testing.T, r *testRig) {
		r.insert("11:59:30", "a", "12:00")
		r.slot("12:00:00")
		r.running("a")
		_, err := r.Client.Cancel(t.Context(), r.AppAt(rig.At("12:00:10")), prescient.Entity{Name: "report", Key: "a"})
		r.Must(err)
		r.insert("12:00:10", "a", "12:00:30") // another check of the same key
		r.slot("12:00:30")
		if job := r.One(); !job.NextCheckAt.Equal(rig.At("12:01:30")) {
			t.Errorf("%+v; want it to wait for the run of the cancelled one", job)
		}
		r.answers("a", "12:00:50", prescient.Answer{})
		if ended := r.History(); len(ended) != 1 || ended[0].Outcome != prescient.Cancelled {
			t.Errorf("%+v", ended)
		}
		r.slot("12:01:30")
		r.answers("a", "12:01:40", prescient.Answer{})
		if n := r.Count("SELECT COUNT(*) FROM p_job_history WHERE outcome = 'done'"); n != 1 || r.Count(rig.CountPending) != 0 {
			t.Errorf("%d done, %d pending", n, r.Count(rig.CountPending))
		}
		r.Balanced()
	})
}

func long(id string, overlap longrun.Overlap) schedule.Schedule {
	return schedule.Schedule{ID: id, Crontabs: []string{"@every 60s"}, JobExec: "export", Long: true, Overlap: overlap, Quota: schedule.NoQuota}
}

func TestAnOccurrenceThatMeetsALiveRunDoesAsThePolicySays(t *testing.T) {
	runs(t, func(t *testing.T, r *testRig) {
		for _, policy := range []longrun.Overlap{longrun.Allow, longrun.Forbid, longrun.Queue} {
			r.create("11:59:00", long(string(policy), policy))
		}
		for _, clock := range []string{"12:00:00", "12:00:30", "12:01:00"} {
			r.slot(clock)
		}
		r.running("allow 12:00:00")
		r.running("allow 12:01:00")
		r.wantOutcome("forbid 12:01:00", "overlapped")
		r.Exec("UPDATE p_long_run SET allocated_until = '2026-11-20 12:03:20' WHERE allocated_until IS NOT NULL") // they are renewed
		r.slot("12:02:00")
		r.wantOutcome("queue 12:02:00", "overlapped") // that of 12:01 waits
		if r.isRunning("queue 12:01:00") || r.outcomes()["queue 12:01:00"] != "" {
			t.Error("the one that waits has begun, or ended")
		}
		r.answers("queue 12:00:00", "12:02:10", prescient.Answer{})
		r.running("queue 12:01:00") // at once
		r.answers("queue 12:01:00", "12:02:20", prescient.Answer{})
		r.answers("forbid 12:00:00", "12:02:20", prescient.Answer{})
		r.wantOutcome("queue 12:01:00", "done")
		r.Balanced()
	})
}

func TestARetryThatComesWhenTheNextOccurrenceIsDueFails(t *testing.T) {
	runs(t, func(t *testing.T, r *testRig) {
		r.create("11:59:00", long("a", longrun.Forbid))
		r.slot("12:00:00")
		r.answers("a 12:00:00", "12:00:10", prescient.Answer{Err: errors.New("no luck")})
		r.slot("12:00:30") // its retry, which is no second start
		r.wantTimes("a", "12:01:00", "12:00:00")
		r.answers("a 12:00:00", "12:00:40", prescient.Answer{Err: errors.New("no luck")})
		r.wantOutcome("a 12:00:00", "failed")
		r.Balanced()
	})
}

func TestTheNextRunGoesOnFromTheCheckpointOfOneThatUsedUpItsQuota(t *testing.T) {
	runs(t, func(t *testing.T, r *testRig) {
		s := long("a", longrun.Forbid)
		s.Quota = 20 * time.Second
		r.create("11:59:00", s)
		r.slot("12:00:00")
		r.Must(r.running("a 12:00:00").run.Save(t.Context(), []byte("half")))
		r.at("12:00:20")
		r.timeIsOver()
		r.wantOutcome("a 12:00:00", "quota")
		r.slot("12:00:30")
		r.slot("12:01:00")
		if got := r.running("a 12:01:00").run.Checkpoint(); string(got) != "half" {
			t.Errorf("%q", got)
		}
		r.answers("a 12:01:00", "12:01:10", prescient.Answer{})
		r.slot("12:01:30")
		r.slot("12:02:00")
		if got := r.running("a 12:02:00").run.Checkpoint(); got != nil {
			t.Errorf("%q after one that was done", got)
		}
		if n := r.Count("SELECT COUNT(*) FROM p_long_run"); n != 1 {
			t.Errorf("%d rows; want that of the run which is under way", n)
		}
	})
}

// An occurrence that waited, and ended without a start, has no checkpoint of its own: that of the run before it stays.
func TestOneThatNeverStartedHidesNoCheckpoint(t *testing.T) {
	eachServer(t, 30*time.Second, longrun.Options{Capacity: 1}, func(t *testing.T, r *testRig) {
		s := long("a", longrun.Queue)
		s.Quota = 20 * time.Second
		r.create("11:59:00", s)
		r.insert("11:59:00", "b", "11:59:30")
		r.slot("11:59:30")
		r.slot("12:00:00")
		r.answers("b", "12:00:50", prescient.Answer{})
		r.Must(r.running("a 12:00:00").run.Save(t.Context(), []byte("half")))
		r.slot("12:00:30")
		second := r.another("agent-2")
		r.slotOf(second, "agent-2", "12:01:00") // that of 12:01 waits
		r.at("12:01:10")
		r.timeIsOver()
		r.wantOutcome("a 12:00:00", "quota")
		r.slotOf(second, "agent-2", "12:01:30")
		r.wantOutcome("a 12:01:00", "too_soon") // 40 s after the start of the one before it
		r.slot("12:02:00")
		if got := r.running("a 12:02:00").run.Checkpoint(); string(got) != "half" {
			t.Errorf("it goes on from %q", got)
		}
		r.answers("a 12:02:00", "12:02:10", prescient.Answer{})
	})
}

// Its agent is gone, so that its end and the next start are one transaction.
func TestTheNextRunGoesOnFromTheCheckpointOfOneThatItsOwnStartEnded(t *testing.T) {
	runs(t, func(t *testing.T, r *testRig) {
		s := long("a", longrun.Forbid)
		s.Quota = 90 * time.Second
		r.create("11:59:00", s)
		r.slot("12:00:00")
		r.Must(r.running("a 12:00:00").run.Save(t.Context(), []byte("half")))
		r.slot("12:00:30")
		r.Exec("UPDATE p_long_run SET allocated_until = '2026-11-20 12:01:50'") // it was renewed, for the last time
		r.slot("12:01:00")
		r.slot("12:01:30")
		r.slotOf(r.another("agent-2"), "agent-2", "12:02:00")
		r.wantOutcome("a 12:00:00", "quota")
		if got := r.running("a 12:02:00").run.Checkpoint(); string(got) != "half" {
			t.Errorf("it goes on from %q", got)
		}
		r.answers("a 12:02:00", "12:02:10", prescient.Answer{})
	})
}

// Of a job_exec that never ends, such as one that consumes a queue: whoever cancels its check, and inserts it again, begins nothing anew.
func TestAnEndlessRunGoesOnFromTheCheckpointOfACancelledOne(t *testing.T) {
	runs(t, func(t *testing.T, r *testRig) {
		r.Must(r.runner.Register(r.registry, "queue", r.called, prescient.Guards{Endless: true}))
		insert := func(clock, due string) {
			_, err := r.Client.Insert(t.Context(), r.AppAt(rig.At(clock)), prescient.NewJob{Entity: prescient.Entity{Name: "report", Key: "a"}, JobExec: "queue", DueAt: rig.At(due)})
			r.Must(err)
		}
		insert("11:59:30", "12:00")
		r.slot("12:00:00")
		r.Must(r.running("a").run.Save(t.Context(), []byte("half")))
		_, err := r.Client.Cancel(t.Context(), r.AppAt(rig.At("12:00:10")), prescient.Entity{Name: "report", Key: "a"})
		r.Must(err)
		r.answers("a", "12:00:20", prescient.Answer{})
		insert("12:00:20", "12:00:30")
		r.slot("12:00:30")
		if got := r.running("a").run.Checkpoint(); string(got) != "half" {
			t.Errorf("it goes on from %q", got)
		}
		r.answers("a", "12:00:40", prescient.Answer{})
	})
}

func TestACheckpointIsBounded(t *testing.T) {
	runs(t, func(t *testing.T, r *testRig) {
		r.insert("11:59:30", "a", "12:00")
		r.slot("12:00:00")
		run := r.running("a").run
		r.Must(run.Save(t.Context(), slices.Repeat([]byte{'x'}, longrun.MaxCheckpoint)))
		if err := run.Save(t.Context(), slices.Repeat([]byte{'x'}, longrun.MaxCheckpoint+1)); !errors.Is(err, longrun.ErrCheckpoint) {
			t.Errorf("%v", err)
		}
		r.answers("a", "12:00:10", prescient.Answer{})
	})
}
