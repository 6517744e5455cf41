package longrun_test

import (
	"context"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/rig"
	"prescient/prescient/longrun"
)

// one is an agent with one place, which serves no claims, as one of a program that runs a slot and ends.
func one(t *testing.T, test func(t *testing.T, r *testRig)) {
	eachServer(t, 30*time.Second, longrun.Options{Capacity: 1}, test)
}

// waited waits until the agent has nothing more to do.
func (r *testRig) waited() <-chan error {
	over := make(chan error, 1)
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		over <- r.runner.Wait(ctx)
	}()
	return over
}

// meetsTwo has a slot run meet two checks, and returns which of them runs, and which waits for the place.
func (r *testRig) meetsTwo() (runs, waits string) {
	r.T.Helper()
	for _, key := range []string{"a", "b"} {
		r.insert("11:59:00", key, "12:00")
	}
	r.slot("12:00:00")
	r.at("12:00:02")
	of := func(waits bool) (key string) {
		r.Must(r.Root.QueryRow("SELECT entity_key FROM p_future_job job JOIN p_long_run run USING (job_key) WHERE (run.agent = '') = ?", waits).Scan(&key))
		return key
	}
	return of(false), of(true)
}

func TestWhatASlotRunMetWithoutAPlaceStartsInTheSameProgramOnceOneIsFree(t *testing.T) {
	one(t, func(t *testing.T, r *testRig) {
		for _, key := range []string{"a", "b", "c"} {
			r.insert("11:59:00", key, "12:00")
		}
		r.slot("12:00:00")
		over := r.waited()
		for n := range 3 {
			var runs string
			r.Eventually("one runs", func() bool {
				for _, key := range []string{"a", "b", "c"} {
					if r.isRunning(key) {
						runs = key
						return true
					}
				}
				return false
			})
			select {
			case err := <-over:
				t.Fatalf("it waits no more, though %d of 3 have ended: %v", n, err)
			default:
			}
			r.answers(runs, "12:00:10", prescient.Answer{})
		}
		r.Must(<-over)
		if n := r.Count("SELECT COUNT(*) FROM p_job_history WHERE outcome = 'done'"); n != 3 {
			t.Errorf("%d ended; want 3", n)
		}
		r.Balanced()
	})
}

func TestWhatHasNoPlaceStartsWhereAnotherAgentHasOne(t *testing.T) {
	one(t, func(t *testing.T, r *testRig) {
		r.meetsTwo()
		over := r.waited()
		r.serving("agent-2", longrun.Options{})
		a, b := r.running("a"), r.running("b") // in no other slot
		if agents := map[string]bool{a.run.Agent(): true, b.run.Agent(): true}; !agents["agent-1"] || !agents["agent-2"] {
			t.Errorf("%v", agents)
		}
		mine := "a"
		if b.run.Agent() == "agent-1" {
			mine = "b"
		}
		r.answers(mine, "12:00:10", prescient.Answer{})
		r.Must(<-over) // the other is another's
		r.answers(map[string]string{"a": "b", "b": "a"}[mine], "12:00:11", prescient.Answer{})
		r.Balanced()
	})
}

// The next slot runs that meet it start it.
func TestAProgramThatRunsASlotWaitsForNoLockOfTheApp(t *testing.T) {
	one(t, func(t *testing.T, r *testRig) {
		runs, waits := r.meetsTwo()
		tx, err := r.Root.BeginTx(t.Context(), nil)
		r.Must(err)
		defer tx.Rollback()
		key := prescient.FutureJob{EntityName: "report", EntityKey: waits, JobExec: "export"}.Key()
		_, err = tx.Exec("SELECT 1 FROM p_future_job WHERE job_key = ? FOR UPDATE", key[:])
		r.Must(err)
		r.answers(runs, "12:00:10", prescient.Answer{})
		r.Must(<-r.waited())
		r.Must(tx.Rollback())
		r.slot("12:00:30")
		r.running(waits)
		r.answers(waits, "12:00:40", prescient.Answer{})
		r.Balanced()
	})
}

func TestWhatWasOfferedAndCancelledIsWaitedForNoMore(t *testing.T) {
	one(t, func(t *testing.T, r *testRig) {
		runs, waits := r.meetsTwo()
		n, err := r.Client.Cancel(t.Context(), r.AppAt(rig.At("12:00:05")), prescient.Entity{Name: "report", Key: waits}, "export")
		r.Must(err)
		if n != 1 {
			t.Fatalf("%d were pending", n)
		}
		r.answers(runs, "12:00:10", prescient.Answer{})
		r.Must(<-r.waited())
		r.Balanced()
	})
}
