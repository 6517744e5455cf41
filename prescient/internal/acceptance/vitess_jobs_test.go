package acceptance

import (
	"encoding/hex"
	"fmt"
	"testing"

	"prescient/prescient"
	"prescient/prescient/internal/rig"
	"prescient/prescient/localserver/servertest"
	"prescient/prescient/localserver/vitess"
	"prescient/prescient/steps"
)

// What an app does for a job of steps goes to the shard of its timer. Shared steps are the same on each shard, so that none is made by a session
// whose statements go to any of them.
func TestJobsGoToTheirShardOfVitess(t *testing.T) {
	cluster, app, c := twoShards(t)
	jobs := steps.New(c, steps.Options{})
	ctx := t.Context()
	const many = 6
	name := func(i int) string { return fmt.Sprint("nightly", i) }
	job := func(i int, exec string) steps.Job {
		return steps.Job{Name: name(i), Crontabs: []string{"0 2 * * *"}, Steps: []steps.Step{{Name: "all", JobExec: exec}}}
	}
	defer eachCommitIsOnOneShard(t, cluster)
	for _, step := range []struct {
		name string
		do   func(db prescient.DB, i int) error
	}{
		{"create", func(db prescient.DB, i int) error {
			created, err := jobs.Create(ctx, db, job(i, "one"))
			if err == nil && !created {
				err = fmt.Errorf("it was there")
			}
			return err
		}},
		{"change", func(db prescient.DB, i int) error {
			_, err := jobs.Update(ctx, db, job(i, "other"), 1)
			return err
		}},
		{"get", func(db prescient.DB, i int) error {
			is, err := jobs.Get(ctx, db, name(i))
			if err == nil && (is.Version != 2 || is.Steps[0].JobExec != "other" || !is.Schedule.Enabled) {
				err = fmt.Errorf("it is %+v", is)
			}
			return err
		}},
		{"versions", func(db prescient.DB, i int) error {
			all, err := jobs.Versions(ctx, db, name(i), 10)
			if err == nil && len(all) != 2 {
				err = fmt.Errorf("there are %d", len(all))
			}
			if err == nil {
				_, err = jobs.GetVersion(ctx, db, name(i), 1)
			}
			return err
		}},
		{"pause and resume", func(db prescient.DB, i int) error {
			if _, err := jobs.Pause(ctx, db, name(i)); err != nil {
				return err
			}
			_, err := jobs.Resume(ctx, db, name(i))
			return err
		}},
		{"run", func(db prescient.DB, i int) error {
			_, err := jobs.RunNow(ctx, db, name(i))
			return err
		}},
		{"delete", func(db prescient.DB, i int) error {
			n, err := jobs.Delete(ctx, db, name(i))
			if err == nil && n != 1 {
				err = fmt.Errorf("%d were deleted", n)
			}
			return err
		}},
		{"create again", func(db prescient.DB, i int) error {
			_, err := jobs.Create(ctx, db, job(i, "one"))
			return err
		}},
	} {
		t.Run(step.name, func(t *testing.T) {
			for i := range many {
				at := prescient.Entity{Name: prescient.ScheduleEntity, Key: "job/" + name(i)}.KeyspaceID()
				other := cluster.Shards[1-at[0]>>7]
				before := calls(t, other)
				tx, err := app.BeginTxx(t.Context(), nil)
				rig.Fatal(t, err)
				rig.Fatal(t, step.do(tx, i))
				rig.Fatal(t, tx.Commit())
				if n := calls(t, other) - before; n > 0 {
					t.Errorf("for %s %d statements went to the shard of others", name(i), n)
				}
			}
		})
	}
	for i, shard := range cluster.Shards {
		own, rows := servertest.Open(t, shard.Server.DSN("vt_"+vitess.Keyspace), ""), 0
		for _, table := range []string{"job_definition", "job_version"} {
			places, err := own.QueryContext(ctx, "SELECT HEX(place) FROM p_"+table)
			rig.Fatal(t, err)
			for ; places.Next(); rows++ {
				var place string
				rig.Fatal(t, places.Scan(&place))
				if bytes, err := hex.DecodeString(place); err != nil || int(bytes[0]>>7) != i {
					t.Errorf("%s has a row at %s on %s, %v", table, place, shard.Name, err)
				}
			}
			rig.Fatal(t, places.Err())
			rig.Fatal(t, places.Close())
		}
		if rows == 0 {
			t.Errorf("none lies on %s", shard.Name)
		}
	}
	_, _, err := jobs.PutStep(ctx, app, steps.Step{Name: "load", JobExec: "one"}, 0)
	rig.WantErr(t, "a shared step", err, prescient.ErrInvalid)
	_, err = jobs.Create(ctx, app, steps.Job{Name: "of-shared", Crontabs: []string{"0 2 * * *"}, Steps: []steps.Step{{Name: "load", Shared: true}}})
	rig.WantErr(t, "a job of shared steps", err, prescient.ErrInvalid)
}
