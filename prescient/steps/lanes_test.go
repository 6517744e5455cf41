package steps_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/rig"
	"prescient/prescient/steps"
)

// narrow are two jobs, of which each begins with the same job_exec.
func (r *testRig) narrow() {
	r.T.Helper()
	for _, name := range []string{"x", "y"} {
		r.create(job(func(j *steps.Job) {
			j.Name, j.Crontabs, j.Steps = name, []string{"@hourly"}, []steps.Step{{Name: "narrow", JobExec: "narrow"}, {Name: "last", JobExec: "two"}}
		}))
	}
}

func (r *testRig) narrowAgent(name string) *agent {
	r.T.Helper()
	a := r.agent(name)
	r.Must(a.registry.Register("narrow", a.called, prescient.Guards{Timeout: time.Minute, Concurrency: 1}))
	return a
}

func TestNoMoreStepsAreCalledAtATimeThanTheirJobExecAllows(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *testRig) {
		r.narrow()
		r.narrowAgent("a").slot("12:00:00")
		first := r.running("narrow")
		second := map[string]string{"x": "y", "y": "x"}[first.job.EntityKey]
		r.wantLogOf(second, "12:00 v1 a running")
		r.wantLogOf(first.job.EntityKey, "12:00 v1 a running", "  1 narrow 1 a called")
		first.answer <- prescient.Answer{}
		next := r.running("narrow")
		if next.job.EntityKey != second {
			t.Errorf("the one of %s is called again", next.job.EntityKey)
		}
		next.answer <- prescient.Answer{}
		for range 2 {
			r.answers("last", prescient.Answer{})
		}
		for _, name := range []string{"x", "y"} {
			r.wantLogOf(name, "12:00 v1 a done", "  1 narrow 1 a done", "  2 last 1 a done")
		}
		r.Balanced()
	})
}

// What waits for its turn, or for its next try, is handed on before what is called has ended.
func TestAnAgentThatStopsHandsOnWhatWaits(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *testRig) {
		r.narrow()
		r.create(job(func(j *steps.Job) {
			j.Crontabs, j.Steps = []string{"@hourly"}, []steps.Step{{Name: "again", JobExec: "one", Retries: 1, RetryWait: time.Hour}}
		}))
		a := r.narrowAgent("a")
		a.slot("12:00:00")
		called := r.running("narrow")
		waits := map[string]string{"x": "y", "y": "x"}[called.job.EntityKey]
		r.answers("again", prescient.Answer{Err: errors.New("no luck")})
		r.wantLogOf("nightly", "12:00 v1 a running", "  1 again 1 a failed")
		r.wantLogOf(waits, "12:00 v1 a running")
		drained := make(chan error)
		go func() { drained <- a.runner.Drain(context.Background()) }()
		r.wantLogOf("nightly", "12:00 v1 a handed on", "  1 again 1 a failed")
		r.wantLogOf(waits, "12:00 v1 a handed on")
		r.wantLogOf(called.job.EntityKey, "12:00 v1 a running", "  1 narrow 1 a called")
		called.answer <- prescient.Answer{}
		r.Must(<-drained)
		b := r.narrowAgent("b")
		b.slot("12:00:30")
		r.answers("narrow", prescient.Answer{})
		r.answers("last", prescient.Answer{})
		r.answers("last", prescient.Answer{})
		r.wantLogOf(waits, "12:00 v1 b done", "  1 narrow 1 b done", "  2 last 1 b done")
		r.wantLogOf("nightly", "12:00 v1 b running", "  1 again 1 a failed") // for most of an hour still
	})
}

// The time at which a step is tried again is the database's: an agent whose own clock is wrong, as all are here, keeps it.
func TestAStepIsTriedAgainByTheClockOfTheDatabase(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *testRig) {
		r.create(job(func(j *steps.Job) {
			j.Crontabs, j.Steps = []string{"@hourly"}, []steps.Step{{Name: "again", JobExec: "one", Retries: 1, RetryWait: time.Minute}}
		}))
		r.agent("a").slot("12:00:00")
		r.answers("again", prescient.Answer{Err: errors.New("no luck")})
		r.wantLog("12:00 v1 a running", "  1 again 1 a failed")
		r.agent("b").slot("12:01:30") // the first one is gone, and the time is over
		r.answers("again", prescient.Answer{})
		r.wantLog("12:00 v1 b done", "  1 again 1 a failed", "  1 again 2 b done")
		runs, err := r.jobs.Runs(t.Context(), r.operator(), steps.RunFilter{Steps: true})
		r.Must(err)
		if due := runs[0].Steps[1].ScheduledAt; due.Before(rig.At("12:01")) || due.After(rig.At("12:01:30")) {
			t.Errorf("it was to be called at %s", due)
		}
	})
}
