package acceptance

import (
	"fmt"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/client"
	"prescient/prescient/internal/rig"
	"prescient/prescient/localserver/servertest"
	"prescient/prescient/localserver/vitess"
)

// An app has one pool for all shards. What it does for an entity goes to the shard of that alone, in the app's transaction, too.
func TestWhatAnAppDoesForAnEntityGoesToItsShardOfVitess(t *testing.T) {
	cluster, app, c := twoShards(t)

	const entities = 12
	var on [2]int // how many entities each shard has
	of := func(i int) prescient.Entity { return prescient.Entity{Name: "order", Key: fmt.Sprint(i)} }
	due := time.Now().Add(3 * time.Hour)
	steps := []struct {
		name string
		do   func(db prescient.DB, e prescient.Entity) error
	}{
		{"insert", func(db prescient.DB, e prescient.Entity) error {
			for _, exec := range []string{"one", "two"} {
				if did, err := c.Insert(t.Context(), db, prescient.NewJob{Entity: e, JobExec: exec, DueAt: due}); err != nil || did.Did != client.DidInsert {
					return fmt.Errorf("%v, %w", did, err)
				}
			}
			return nil
		}},
		{"keep", func(db prescient.DB, e prescient.Entity) error {
			did, err := c.Insert(t.Context(), db, prescient.NewJob{Entity: e, JobExec: "one", DueAt: due.Add(time.Hour)})
			if err == nil && did.Did != client.DidKeep {
				err = fmt.Errorf("it did %v", did)
			}
			return err
		}},
		{"replace", func(db prescient.DB, e prescient.Entity) error {
			did, err := c.Insert(t.Context(), db, prescient.NewJob{Entity: e, JobExec: "one", DueAt: due.Add(time.Hour), OnPending: prescient.Replace})
			if err == nil && did.Did != client.DidReplace {
				err = fmt.Errorf("it did %v", did)
			}
			return err
		}},
		{"reschedule", func(db prescient.DB, e prescient.Entity) error {
			_, err := c.Reschedule(t.Context(), db, e, "two", "", due.Add(2*time.Hour))
			return err
		}},
		{"get", func(db prescient.DB, e prescient.Entity) error {
			job, err := c.Get(t.Context(), db, e, "two", "")
			if err == nil && job.DueAt.Sub(due.Add(2*time.Hour)).Abs() > time.Millisecond {
				err = fmt.Errorf("it is due at %s", job.DueAt)
			}
			return err
		}},
		{"cancel", func(db prescient.DB, e prescient.Entity) error {
			n, err := c.Cancel(t.Context(), db, e)
			if err == nil && n != 2 {
				err = fmt.Errorf("%d were cancelled", n)
			}
			return err
		}},
	}
	for i := range entities {
		on[int(prescient.KeyOf(of(i), "one", "")[0]>>7)]++
	}
	if on[0] == 0 || on[1] == 0 {
		t.Fatalf("the shards have %d entities", on)
	}
	defer eachCommitIsOnOneShard(t, cluster)
	for _, step := range steps {
		t.Run(step.name, func(t *testing.T) {
			for i := range entities {
				own := int(prescient.KeyOf(of(i), "one", "")[0] >> 7)
				before := [2]int{calls(t, cluster.Shards[own]), calls(t, cluster.Shards[1-own])}
				if i%2 == 0 {
					rig.Fatal(t, step.do(app, of(i)))
				} else {
					tx, err := app.BeginTxx(t.Context(), nil)
					rig.Fatal(t, err)
					rig.Fatal(t, step.do(tx, of(i)))
					rig.Fatal(t, tx.Commit())
				}
				if n := calls(t, cluster.Shards[1-own]) - before[1]; n > 0 || calls(t, cluster.Shards[own]) == before[0] {
					t.Errorf("for %s %d statements went to the shard of others", of(i), n)
				}
			}
			var level string // that Vitess has a session keep, whoever asks for it
			rig.Fatal(t, app.QueryRowContext(t.Context(), "SELECT @@transaction_isolation").Scan(&level))
			if level != "REPEATABLE-READ" {
				t.Errorf("the app's connection is %s", level)
			}
			for i, shard := range cluster.Shards {
				var pending, ended int
				rig.Fatal(t, servertest.Open(t, shard.DSN(), "").QueryRowContext(t.Context(),
					"SELECT (SELECT COUNT(*) FROM p_future_job), COUNT(*) FROM p_job_history WHERE outcome = 'cancelled'").Scan(&pending, &ended))
				wantPending, wantEnded := 2*on[i], 0
				if step.name == "cancel" {
					wantPending, wantEnded = 0, 2*on[i]
				}
				if pending != wantPending || ended != wantEnded {
					t.Errorf("%s has %d pending and %d cancelled; want %d and %d", shard.Name, pending, ended, wantPending, wantEnded)
				}
			}
		})
	}
}

func calls(t *testing.T, shard *vitess.Shard) int {
	t.Helper()
	n, err := shard.Calls(t.Context())
	rig.Fatal(t, err)
	return n
}
