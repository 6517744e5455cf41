package longrun_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/rig"
	"prescient/prescient/longrun"
	"prescient/prescient/worker"
)

// What the app has changed while a run was under way stands: the run is told to end, its answer is dropped, and the check begins afresh
// when it is due, without a checkpoint, once the lease of the other is over.
func TestACheckThatTheAppMovesWhileItRunsBeginsAfresh(t *testing.T) {
	report := prescient.Entity{Name: "report", Key: "a"}
	for name, change := range map[string]func(r *testRig) error{
		"reschedule": func(r *testRig) error {
			_, err := r.Client.Reschedule(t.Context(), r.AppAt(rig.At("12:00:10")), report, "export", "", rig.At("12:05"))
			return err
		},
		"replace": func(r *testRig) error {
			_, err := r.Client.Insert(t.Context(), r.AppAt(rig.At("12:00:10")), prescient.NewJob{Entity: report, JobExec: "export",
				DueAt: rig.At("12:05"), OnPending: prescient.Replace})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			runs(t, func(t *testing.T, r *testRig) {
				r.insert("11:59:30", "a", "12:00")
				r.slot("12:00:00")
				first := r.running("a")
				r.Must(first.run.Save(t.Context(), []byte("half")))
				r.Must(change(r))
				r.at("12:00:20")
				r.Must(r.runner.RenewAll())
				r.Eventually("the run is told to end", func() bool { return errors.Is(context.Cause(first.ctx), longrun.ErrDropped) })
				r.Eventually("its answer is dropped", func() bool {
					return r.Count("SELECT COUNT(*) FROM p_long_run WHERE ended_at IS NULL") == 0
				})
				if job := r.One(); !job.NextCheckAt.Equal(rig.At("12:05")) || !job.DueAt.Equal(rig.At("12:05")) || job.CheckCount+job.ErrorCount != 0 {
					t.Errorf("%+v", job)
				}
				r.forget("a")
				r.slot("12:05:00")
				second := r.running("a")
				if second.run.Checkpoint() != nil || !second.run.Job().DueAt.Equal(rig.At("12:05")) || second.run.Token() <= first.run.Token() {
					t.Errorf("%q, %+v", second.run.Checkpoint(), second.run.Job())
				}
				r.answers("a", "12:05:10", prescient.Answer{})
				r.wantOutcome("a", "done")
				r.Balanced()
			})
		})
	}
}

// A run that starts late counts as that: from the slot in which it was due, whatever it waited for since.
func TestTheStartOfALongRunCountsAsLate(t *testing.T) {
	runs(t, func(t *testing.T, r *testRig) {
		registryOf := func(name string, capacity int) *prescient.Registry {
			registry := prescient.NewRegistry()
			r.Must(r.agent(name, longrun.Options{Capacity: capacity}).Register(registry, "export", r.called, prescient.Guards{SLA: 10 * time.Second}))
			return registry
		}
		one, other := registryOf("agent-2", 1), registryOf("agent-3", 1)
		run := func(registry *prescient.Registry, clock string, late int, atLeast time.Duration) {
			t.Helper()
			r.at(clock)
			figures := r.RunAt(rig.At(clock), registry, worker.Options{Name: "agent-2"})
			if figures.OverSLA != late || figures.Lateness < atLeast || atLeast == 0 && figures.Lateness > 5*time.Second {
				t.Errorf("at %s: %d over their SLA, %s late", clock, figures.OverSLA, figures.Lateness)
			}
		}
		r.insert("11:59:30", "a", "12:00")
		run(one, "12:00:20", 1, 20*time.Second)
		r.running("a")
		r.insert("12:00:25", "b", "12:00:30")
		run(one, "12:00:31", 0, 0) // it has no place
		run(other, "12:01:01", 1, 31*time.Second)
		r.running("b")
		run(one, "12:01:30", 0, 0) // moves "a" on
		r.answers("a", "12:01:32", prescient.Answer{})
		r.answers("b", "12:01:33", prescient.Answer{})
		r.wantOutcome("b", "done")
	})
}
