package acceptance

import (
	"fmt"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/client"
	"prescient/prescient/connect"
	"prescient/prescient/internal/rig"
	"prescient/prescient/rule"
	"prescient/prescient/rulebook"
)

// Each shard has all rules. What an app reports to the keyspace makes and ends the checks of the shard on which the entity lies, and each shard moves its
// own when the rule changes.
func TestRulesOnShardsOfVitess(t *testing.T) {
	cluster, app, c := twoShards(t)
	ctx, at := t.Context(), time.Now()
	is := rule.Rule{Name: "remind", Occasion: "placed", JobExec: "check", Delay: 3 * time.Hour, Ends: []string{"shipped"}, Payload: []byte(`{"a": 1}`)}
	for _, delay := range []time.Duration{3 * time.Hour, 4 * time.Hour} {
		is.Delay = delay
		for _, shard := range cluster.Shards {
			db, err := connect.Open(shard.DSN(), time.Minute)
			rig.Fatal(t, err)
			defer db.Close()
			of, err := client.New(ctx, db, client.Options{Prefix: "p_"})
			rig.Fatal(t, err)
			book := rulebook.New(of)
			_, _, err = book.Put(ctx, db, is, 0, rule.Move)
			rig.Fatal(t, err)
			rig.Fatal(t, book.Work(ctx, db, "w"))
			var moved, left int
			rig.Fatal(t, db.QueryRowContext(ctx, "SELECT COALESCE(SUM(rule_version = 2 AND due_at = occasion_at + INTERVAL 4 HOUR), 0), COUNT(*) FROM p_future_job").Scan(&moved, &left))
			if delay > 3*time.Hour && (moved == 0 || left != moved) {
				t.Errorf("%s: %d of %d checks were moved", shard.Name, moved, left)
			}
		}
		if delay > 3*time.Hour {
			break
		}
		for i := range 20 {
			e := prescient.Entity{Name: "order", Key: fmt.Sprint(i)}
			did, err := c.Happened(ctx, app, "placed", e, at.Add(time.Minute), []byte(`{"b": 2}`))
			if rig.Fatal(t, err); len(did.Checks) != 1 {
				t.Fatalf("%s: %+v", e, did)
			}
			if i%4 == 0 {
				if did, err = c.Happened(ctx, app, "shipped", e, at.Add(time.Minute), nil); err != nil || did.Ended != 1 {
					t.Errorf("%s: %+v, %v", e, did, err)
				}
			}
		}
	}
	var pending, ended int
	rig.Fatal(t, app.QueryRowContext(ctx, "SELECT COUNT(*) FROM p_future_job").Scan(&pending))
	rig.Fatal(t, app.QueryRowContext(ctx, "SELECT COUNT(*) FROM p_job_history").Scan(&ended))
	if pending != 15 || ended != 5 {
		t.Errorf("%d are pending, and %d have ended", pending, ended)
	}
	eachCommitIsOnOneShard(t, cluster)
}
