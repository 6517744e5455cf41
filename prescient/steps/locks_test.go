package steps_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"testing"

	"prescient/prescient"
	"prescient/prescient/client"
	"prescient/prescient/internal/rig"
	"prescient/prescient/steps"
	text "prescient/sql"
)

// sharing is a job of two shared steps, and one of its own.
func sharing(name string, change func(j *steps.Job)) steps.Job {
	return job(func(j *steps.Job) {
		j.Name, j.Crontabs = name, []string{"@hourly"}
		j.Steps = []steps.Step{{Name: "b", Shared: true}, {Name: "own", JobExec: "one"}, {Name: "a", Shared: true}}
		if change != nil {
			change(j)
		}
	})
}

func changed(name string, n int) steps.Step {
	return steps.Step{Name: name, JobExec: "two", Arguments: json.RawMessage(fmt.Sprint(n))}
}

// atOnce has each of some operators do something some times, in transactions of their own, and returns what went wrong.
func atOnce(rounds int, operators ...func(n int) error) (wrong []error) {
	var all sync.WaitGroup
	var mu sync.Mutex
	for _, do := range operators {
		all.Go(func() {
			for n := range rounds {
				if err := do(n); err != nil {
					mu.Lock()
					wrong = append(wrong, err)
					mu.Unlock()
				}
			}
		})
	}
	all.Wait()
	return wrong
}

// Each operator is in a transaction of the app, where a deadlock would show.
func TestOperatorsWhoChangeStepsOfOneJobWaitForOneAnotherAndNotInACircle(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.OnePool) // of shared steps
		ctx, app := t.Context(), r.app()
		for _, name := range []string{"a", "b"} {
			_, _, err := r.jobs.PutStep(ctx, app, changed(name, -1), 0)
			r.Must(err)
		}
		for _, name := range []string{"x", "y", "z"} {
			r.create(sharing(name, nil))
		}
		once := func(do func(db prescient.DB) error) error {
			tx, err := app.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelReadCommitted})
			if err != nil {
				return err
			}
			if err := do(tx); err != nil {
				return errors.Join(err, tx.Rollback())
			}
			return tx.Commit()
		}
		inTx := func(do func(db prescient.DB) error) error {
			for {
				if err := once(do); r.Server != text.TiDB || !client.BeginAgain(err) { // which takes no turns, and gives up
					return err
				}
			}
		}
		put := func(name string) func(n int) error {
			return func(n int) error {
				return inTx(func(db prescient.DB) error {
					_, _, err := r.jobs.PutStep(ctx, db, changed(name, n), 0)
					return err
				})
			}
		}
		const rounds = 12
		wrong := atOnce(rounds, put("a"), put("b"), func(n int) error {
			return inTx(func(db prescient.DB) error {
				_, err := r.jobs.Update(ctx, db, sharing("y", func(j *steps.Job) { j.Steps[1].Retries = n + 1 }), 0)
				return err
			})
		})
		if len(wrong) > 0 {
			t.Errorf("%d of %d were refused, such as %v", len(wrong), 3*rounds, wrong[0])
		}
		for name, want := range map[string]int{"x": 2*rounds + 1, "y": 3*rounds + 1} {
			got, err := r.jobs.Get(ctx, app, name)
			r.Must(err)
			if got.Version != uint64(want) {
				t.Errorf("%s has version %d; want %d", name, got.Version, want)
			}
		}
	})
}

// What meets out of order is begun again, on a pool by itself: nobody is refused, and each change makes its version.
func TestChangesOfJobsThatMeetAreAllMade(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.OnePool) // of shared steps
		ctx, app := context.WithoutCancel(t.Context()), r.app()
		put := func(name string) func(n int) error {
			return func(n int) error {
				_, _, err := r.jobs.PutStep(ctx, app, changed(name, n), 0)
				return err
			}
		}
		for _, name := range []string{"a", "b"} {
			r.Must(put(name)(-1))
		}
		r.create(sharing("x", nil))
		const rounds = 12
		wrong := atOnce(rounds, put("a"), put("b"), put("a"), func(n int) error {
			_, err := r.jobs.Update(ctx, app, sharing("x", func(j *steps.Job) { j.Steps = j.Steps[n%2 : n%2+2] }), 0)
			return err
		}, func(int) error {
			_, created := r.jobs.Create(ctx, app, sharing("y", nil))
			_, deleted := r.jobs.Delete(ctx, app, "y")
			return errors.Join(created, deleted)
		})
		for _, err := range wrong {
			t.Errorf("%v (to be begun again: %v)", err, client.BeginAgain(err))
		}
		for _, name := range []string{"x", "y"} {
			versions, err := r.jobs.Versions(ctx, app, name, 1)
			r.Must(err)
			if kept := r.Count("SELECT COUNT(*) FROM p_job_version WHERE job = ?", name); uint64(kept) != versions[0].Version {
				t.Errorf("%d versions of %s are kept, the last of them is %d", kept, name, versions[0].Version)
			}
		}
	})
}
