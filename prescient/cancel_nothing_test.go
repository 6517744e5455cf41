package prescient

import (
	"context"
	"database/sql"
	"fmt"
	"testing"
	"time"

	text "prescient/sql"
)

// An app that cancels what isn't there, in a transaction that stays open, has no row of another entity: a slot run ends
// them all meanwhile, and waits for none.
func TestACancelOfNothingHoldsNoRowOfOthers(t *testing.T) {
	ways := []struct {
		name   string
		cancel func(r *rig, db DB, e Entity) (int, error)
	}{
		{"client", func(r *rig, db DB, e Entity) (int, error) { return r.client.Cancel(r.t.Context(), db, e) }},
		{"procedure", func(r *rig, db DB, e Entity) (int, error) { return call(r.t.Context(), db, e.Name, e.Key, nil) }},
	}
	eachServerAt(t, time.Minute, func(t *testing.T, r *rig) {
		for _, way := range ways {
			for _, level := range []sql.IsolationLevel{sql.LevelRepeatableRead, sql.LevelReadCommitted} {
				if way.name == "procedure" && r.server == text.TiDB {
					continue // which has none
				}
				const rows, open = 400, 20
				slot := r.insertDue(rows)
				var txs []*sql.Tx
				for i := range open {
					tx := begin(t, r.app, level)
					txs = append(txs, tx)
					if n, err := way.cancel(r, tx, Entity{"nobody", fmt.Sprint(i)}); n != 0 || err != nil {
						t.Fatalf("%s, %s: cancelled %d: %v", way.name, level, n, err)
					}
				}
				w := r.worker(time.Time{}, registry("check", neverAgain, Guards{}), WorkerOptions{Batch: 100})
				figures := <-r.start(w, slot, manner{parallel: 2})
				if figures.Done != rows || figures.Retries > 0 || figures.Locked > 0 {
					t.Errorf("%s, %s: %d of %d rows done, %d commits tried again, %d rows left as locked",
						way.name, level, figures.Done, rows, figures.Retries, figures.Locked)
				}
				for _, tx := range txs {
					r.must(tx.Rollback())
				}
				r.clear()
				r.exec("DELETE FROM p_slot_run")
			}
		}
	})
}

// neverAgain is done at once.
func neverAgain(context.Context, FutureJob) (*time.Time, error) { return nil, nil }
