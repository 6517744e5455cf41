package steps_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"prescient/prescient"
	"prescient/prescient/internal/rig"
	"prescient/prescient/longrun"
	"prescient/prescient/steps"
)

func TestARunTakesItsStepsOneAfterAnother(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *testRig) {
		r.create(job(nil))
		a := r.agent("a")
		a.slot("12:00:00")
		first := r.running("first")
		if first.job.EntityName != "job" || first.job.EntityKey != "nightly" || first.job.JobExec != "one" || first.job.Payload != nil || !first.job.DueAt.Equal(rig.At("12:00")) {
			t.Errorf("%+v", first.job)
		}
		if c, is := steps.CallOf(first.ctx); !is || c.Job != "nightly" || c.Step != "first" || c.Seq != 1 || c.Version != 1 || c.Occurrence == "" {
			t.Errorf("%+v, %v", c, is)
		}
		r.wantLog("12:00 v1 a running", "  1 first 1 a called")
		first.answer <- prescient.Answer{}
		second := r.running("second")
		if string(second.job.Payload) != `{"n":1}` {
			t.Errorf("%s", second.job.Payload)
		}
		second.answer <- prescient.Answer{}
		r.answers("third", prescient.Answer{})
		r.wantLog("12:00 v1 a done", "  1 first 1 a done", "  2 second 1 a done", "  3 third 1 a done")
		runs, err := r.jobs.Runs(t.Context(), r.operator(), steps.RunFilter{Job: "nightly", Steps: true, Output: true})
		r.Must(err)
		if s := runs[0].Steps[1]; s.Output != "this is second\n" || s.OutputCut != 0 || s.JobExec != "two" || s.EndedAt == nil || s.Error != "" {
			t.Errorf("%+v", s)
		}
		if ended := r.Count("SELECT COUNT(*) FROM p_job_history WHERE job_exec = 'steps.run' AND outcome = 'done'"); ended != 1 {
			t.Errorf("%d in history", ended)
		}
	})
}

// The job of the issue: three steps on two crontabs, edited while it runs.
func TestARunKeepsTheVersionThatItBeganWith(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *testRig) {
		r.create(job(func(j *steps.Job) { j.Crontabs = []string{"0 12 * * *", "2 12 * * *"} }))
		a := r.agent("a")
		a.slot("12:00:00")
		r.answers("first", prescient.Answer{})
		second := r.running("second")
		r.at("12:00:10")
		changed, err := r.jobs.Update(t.Context(), r.app(), job(func(j *steps.Job) {
			j.Crontabs = []string{"0 12 * * *", "1 12 * * *"}
			j.Steps = []steps.Step{{Name: "third", JobExec: "two", Arguments: []byte(`"new"`)}}
		}), 1)
		r.Must(err)
		if !changed {
			t.Error("it was not changed")
		}
		second.answer <- prescient.Answer{}
		if third := r.running("third"); third.job.JobExec != "three" {
			t.Errorf("%+v", third.job)
		} else {
			third.answer <- prescient.Answer{}
		}
		old := []string{"12:00 v1 a done", "  1 first 1 a done", "  2 second 1 a done", "  3 third 1 a done"}
		r.wantLog(old...)
		a.slot("12:01:00") // by the new crontab
		if third := r.running("third"); third.job.JobExec != "two" || string(third.job.Payload) != `"new"` {
			t.Errorf("%+v", third.job)
		} else {
			third.answer <- prescient.Answer{}
		}
		r.wantLog(append([]string{"12:01 v2 a done", "  1 third 1 a done"}, old...)...)
		a.slot("12:02:00") // the old crontab is gone
		r.wantLog(append([]string{"12:01 v2 a done", "  1 third 1 a done"}, old...)...)
		r.Balanced()
	})
}

func TestWhatComesAfterAFailure(t *testing.T) {
	broken := prescient.Answer{Err: errors.New("no luck")}
	for _, test := range []struct {
		name   string
		step   steps.Step // the second
		fails  int
		want   []string
		reason string
	}{
		{"stop", steps.Step{}, 1, []string{"12:00 v1 a failed", "  1 first 1 a done", "  2 second 1 a failed"}, `step "second": no luck`},
		{"continue", steps.Step{OnFailure: steps.Continue}, 1, []string{"12:00 v1 a done", "  1 first 1 a done", "  2 second 1 a failed", "  3 third 1 a done"}, `step "second" failed; the run went on`},
		{"retry", steps.Step{Retries: 2, RetryWait: time.Millisecond}, 2, []string{"12:00 v1 a done", "  1 first 1 a done", "  2 second 1 a failed", "  2 second 2 a failed", "  2 second 3 a done", "  3 third 1 a done"}, ""},
		{"retry in vain", steps.Step{Retries: 1, RetryWait: time.Millisecond, OnFailure: steps.Continue}, 2, []string{"12:00 v1 a done", "  1 first 1 a done", "  2 second 1 a failed", "  2 second 2 a failed", "  3 third 1 a done"}, `step "second" failed; the run went on`},
	} {
		t.Run(test.name, func(t *testing.T) {
			eachFlavour(t, func(t *testing.T, r *testRig) {
				r.create(job(func(j *steps.Job) {
					j.Steps[1] = test.step
					j.Steps[1].Name, j.Steps[1].JobExec = "second", "two"
				}))
				r.agent("a").slot("12:00:00")
				r.answers("first", prescient.Answer{})
				for range test.fails {
					r.answers("second", broken)
				}
				if test.fails <= test.step.Retries {
					r.answers("second", prescient.Answer{})
				}
				if test.step.OnFailure == steps.Continue || test.fails <= test.step.Retries {
					r.answers("third", prescient.Answer{})
				}
				r.wantLog(test.want...)
				runs, err := r.jobs.Runs(t.Context(), r.operator(), steps.RunFilter{})
				r.Must(err)
				if runs[0].Error != test.reason {
					t.Errorf("%q; want %q", runs[0].Error, test.reason)
				}
			})
		})
	}
}

// In each step an agent goes away in the middle of the call: nobody hears of it again.
func TestARunGoesOnAtTheStepThatWasUnderWayWhenItsAgentDied(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *testRig) {
		r.create(job(func(j *steps.Job) { j.Crontabs = []string{"@hourly"} }))
		r.agent("a").slot("12:00:00")
		lost := r.running("first")
		r.at("12:01:30")
		r.wantLog("12:00 v1 a lapsed", "  1 first 1 a called")
		r.agent("b").slot("12:01:30")
		r.answers("first", prescient.Answer{})
		r.running("second")
		r.agent("c").slot("12:03:00")
		r.answers("second", prescient.Answer{})
		r.running("third")
		r.agent("d").slot("12:04:30")
		lost.answer <- prescient.Answer{} // of a call that is another's by now: nothing comes of it
		r.answers("third", prescient.Answer{})
		r.wantLog("12:00 v1 d done", "  1 first 1 a crashed", "  1 first 1 b done", "  2 second 1 b crashed", "  2 second 1 c done", "  3 third 1 c crashed", "  3 third 1 d done")
		r.Balanced()
	})
}

func TestAnAgentThatStopsHandsTheRunOnBetweenSteps(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *testRig) {
		r.create(job(func(j *steps.Job) { j.Crontabs = []string{"@hourly"} }))
		a := r.agent("a")
		a.slot("12:00:00")
		first := r.running("first")
		drained := make(chan error)
		go func() { drained <- a.runner.Drain(context.Background()) }()
		first.answer <- prescient.Answer{}
		r.Must(<-drained)
		r.wantLog("12:00 v1 a handed on", "  1 first 1 a done")
		b := r.agent("b")
		b.slot("12:00:30")
		r.running("second")
		stopping, stop := context.WithCancel(t.Context())
		go func() { drained <- b.runner.Drain(stopping) }()
		stop() // its time is over
		<-drained
		r.wantLog("12:00 v1 b handed on", "  1 first 1 a done", "  2 second 1 b handed_on")
		c := r.agent("c")
		c.slot("12:01:00")
		r.answers("second", prescient.Answer{})
		r.answers("third", prescient.Answer{})
		r.wantLog("12:00 v1 c done", "  1 first 1 a done", "  2 second 1 b handed_on", "  2 second 1 c done", "  3 third 1 c done")
	})
}

func TestAReturnedTimeHasTheStepCalledAgainThen(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *testRig) {
		r.create(job(func(j *steps.Job) { j.Crontabs = []string{"@hourly"} }))
		a := r.agent("a")
		a.slot("12:00:00")
		r.answers("first", prescient.Answer{})
		again := func(clock string) prescient.Answer { return prescient.Answer{Next: prescient.At(rig.At(clock))} }
		r.answers("second", again("12:05"))
		r.wantLog("12:00 v1 a waiting", "  1 first 1 a done", "  2 second 1 a again")
		r.at("12:01") // what was changed meanwhile is for the next run
		_, err := r.jobs.Update(t.Context(), r.app(), job(func(j *steps.Job) { j.Crontabs = []string{"30 * * * *"} }), 0)
		r.Must(err)
		a.slot("12:05:00")
		second := r.running("second")
		if second.job.CheckCount != 1 {
			t.Errorf("%+v", second.job)
		}
		second.answer <- again("12:10")
		r.wantLog("12:00 v1 a waiting", "  1 first 1 a done", "  2 second 1 a again", "  2 second 1 a again")
		a.slot("12:10:00")
		r.answers("second", again("12:15")) // one time more than it may
		r.wantLog("12:00 v1 a failed", "  1 first 1 a done", "  2 second 1 a again", "  2 second 1 a again", "  2 second 1 a failed")
		r.Balanced()
	})
}

// What a step calls may say when to try again: however long that is, others have the place meanwhile.
func TestAStepThatIsToBeTriedMuchLaterGivesItsPlaceBack(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *testRig) {
		r.create(job(func(j *steps.Job) { j.Crontabs, j.Steps[1].Retries = []string{"@hourly"}, 2 }))
		a := r.agent("a")
		a.slot("12:00:00")
		r.answers("first", prescient.Answer{})
		r.answers("second", prescient.Answer{Err: fmt.Errorf("busy: %w", prescient.Retry(10*time.Minute))})
		r.wantLog("12:00 v1 a waiting", "  1 first 1 a done", "  2 second 1 a failed")
		a.slot("12:10:30")
		second := r.running("second")
		if second.job.ErrorCount != 1 || second.job.CheckCount != 0 {
			t.Errorf("%+v", second.job)
		}
		second.answer <- prescient.Answer{}
		r.answers("third", prescient.Answer{})
		r.wantLog("12:00 v1 a done", "  1 first 1 a done", "  2 second 1 a failed", "  2 second 2 a done", "  3 third 1 a done")
		r.Balanced()
	})
}

func TestAStepWhoseJobExecNobodyHasIsTriedOnAnotherAgent(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *testRig) {
		r.create(job(func(j *steps.Job) {
			j.Crontabs, j.Steps = []string{"@hourly"}, []steps.Step{{Name: "first", JobExec: "one"}, {Name: "second", JobExec: "strange"}}
		}))
		a := r.agent("a")
		a.slot("12:00:00")
		r.answers("first", prescient.Answer{})
		r.wantLog("12:00 v1 a waiting", "  1 first 1 a done", "  2 second 1 a unregistered")
		b := r.agent("b")
		r.Must(b.registry.Register("strange", b.called, prescient.Guards{}))
		b.slot("12:00:30")
		r.answers("second", prescient.Answer{})
		r.wantLog("12:00 v1 b done", "  1 first 1 a done", "  2 second 1 a unregistered", "  2 second 1 b done")
	})
}

func TestAStepWhoseJobExecIsPausedWaits(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.OnePool)
		r.create(job(func(j *steps.Job) { j.Crontabs = []string{"@hourly"} }))
		r.Exec("INSERT INTO p_job_pause (job_exec) VALUES ('two')")
		a := r.agent("a")
		a.slot("12:00:00")
		r.answers("first", prescient.Answer{})
		r.wantLog("12:00 v1 a waiting", "  1 first 1 a done")
		a.slot("12:00:30")
		r.wantLog("12:00 v1 a waiting", "  1 first 1 a done")
		r.Exec("DELETE FROM p_job_pause")
		a.slot("12:01:00")
		r.answers("second", prescient.Answer{})
		r.answers("third", prescient.Answer{})
		r.wantLog("12:00 v1 a done", "  1 first 1 a done", "  2 second 1 a done", "  3 third 1 a done")
	})
}

// Every form of a job_exec can be a step.
func TestEveryFormOfAJobExecIsAStep(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *testRig) {
		r.create(job(func(j *steps.Job) {
			j.Crontabs, j.Steps = []string{"@hourly"}, nil
			for _, name := range []string{"batch", "tx", "tx-batch", "tx-late", "panics", "exits", "late", "long", "one"} {
				j.Steps = append(j.Steps, steps.Step{Name: name, JobExec: name, OnFailure: steps.Continue})
			}
			j.Steps[6].Timeout = 50 * time.Millisecond
		}))
		a := r.agent("a")
		puts := func(ctx context.Context, tx *sqlx.Tx, job prescient.FutureJob) error {
			_, err := tx.ExecContext(ctx, "INSERT INTO p_event_seen VALUES ('test', ?, UTC_TIMESTAMP(6))", job.Tag)
			return err
		}
		ended := make(chan bool, 1)
		r.Must(a.registry.RegisterBatch("batch", func(_ context.Context, b *prescient.Batch) error {
			b.Settle(0)
			return nil
		}, prescient.Guards{}))
		r.Must(a.registry.RegisterTx("tx", func(ctx context.Context, tx *sqlx.Tx, job prescient.FutureJob) (*time.Time, error) {
			return nil, puts(ctx, tx, job)
		}, prescient.Guards{}))
		r.Must(a.registry.RegisterTxBatch("tx-batch", func(ctx context.Context, tx *sqlx.Tx, b *prescient.Batch) error {
			b.AfterTx(func(committed bool) { ended <- committed })
			b.Settle(0)
			return puts(ctx, tx, b.Jobs()[0])
		}, prescient.Guards{}))
		r.Must(a.registry.RegisterTx("tx-late", func(ctx context.Context, tx *sqlx.Tx, job prescient.FutureJob) (*time.Time, error) {
			return prescient.At(rig.At("11:00")), puts(ctx, tx, job)
		}, prescient.Guards{}))
		r.Must(a.registry.Register("panics", func(context.Context, prescient.FutureJob) (*time.Time, error) { panic("at the disco") }, prescient.Guards{}))
		r.Must(a.registry.Register("exits", func(context.Context, prescient.FutureJob) (*time.Time, error) { runtime.Goexit(); return nil, nil }, prescient.Guards{}))
		r.Must(a.registry.Register("late", func(ctx context.Context, _ prescient.FutureJob) (*time.Time, error) { <-ctx.Done(); return nil, nil }, prescient.Guards{}))
		a.slot("12:00:00")
		long := r.running("long")
		r.Must(long.run.Save(t.Context(), []byte("half")))
		if err := long.run.Save(t.Context(), make([]byte, steps.MaxCheckpoint+1)); !errors.Is(err, longrun.ErrCheckpoint) {
			t.Error(err)
		}
		b := r.agent("b")
		b.slot("12:01:30") // the agent is gone
		long = r.running("long")
		if string(long.run.Checkpoint()) != "half" {
			t.Errorf("%q", long.run.Checkpoint())
		}
		long.answer <- prescient.Answer{}
		r.answers("one", prescient.Answer{})
		r.wantLog("12:00 v1 b done", "  1 batch 1 a done", "  2 tx 1 a done", "  3 tx-batch 1 a done", "  4 tx-late 1 a failed", "  5 panics 1 a failed",
			"  6 exits 1 a failed", "  7 late 1 a timed_out", "  8 long 1 a crashed", "  8 long 1 b done", "  9 one 1 b done")
		if n := r.Count("SELECT COUNT(*) FROM p_event_seen WHERE id IN ('tx', 'tx-batch')"); n != 2 {
			t.Errorf("%d effects", n)
		}
		if n := r.Count("SELECT COUNT(*) FROM p_event_seen"); n != 2 {
			t.Errorf("the effect of a step that failed was committed")
		}
		if !<-ended {
			t.Error("the batch was not told that it was committed")
		}
		runs, err := r.jobs.Runs(t.Context(), r.operator(), steps.RunFilter{Steps: true})
		r.Must(err)
		said := fmt.Sprint(runs[0].Error, runs[0].Steps)
		for _, want := range []string{"4 steps failed, the first of them \"tx-late\"", "at the disco", "runtime.Goexit", "took longer than 50ms", "a time that is over: 2026-11-20T11:00:00Z"} {
			if !strings.Contains(said, want) {
				t.Errorf("%s is not in %s", want, said)
			}
		}
	})
}
