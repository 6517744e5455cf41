package campaign

import (
	"context"
	"database/sql"
	"errors"
	"testing"
	"time"

	"prescient/prescient/localserver/vitess"
	"prescient/scripts/chaos/stage"
)

// A shard of Vitess is judged by its own tables. Rows that vanish from one are found to be lost there; on the other all is well.
func TestWhatIsBrokenOnOneShardIsFoundThere(t *testing.T) {
	engine, err := stage.Start(t.Context(), stage.VitessName)
	if errors.Is(err, vitess.ErrNotFound) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	lose := func(ctx context.Context, s *stage.Stage) {
		db, err := sql.Open("mysql", s.Engine.Vitess.Shards[0].DSN())
		if err != nil {
			t.Error(err)
			return
		}
		defer db.Close()
		for stage.Pause(ctx, 500*time.Millisecond) {
			if _, err := db.ExecContext(ctx, "DELETE FROM "+stage.Prefix+"future_job WHERE entity_name = 'chaos' LIMIT 2"); err != nil && ctx.Err() == nil {
				t.Error(err)
			}
		}
	}
	all := playOn(t, []stage.Engine{engine}, 1, 6*time.Second, stage.Scenario{Name: "loses-rows", Sharded: true, Beside: besideIs, Load: stage.Load{Rate: 40}, Faults: lose})
	if len(all) != 1 || all[0].Err != nil || all[0].Report.Lost == 0 || all[0].Report.Rows < 50 {
		t.Fatalf("%+v", all)
	}
	for _, f := range all[0].Report.Findings {
		if f.Shard != "-80" {
			t.Errorf("%v", f)
		}
	}
}
