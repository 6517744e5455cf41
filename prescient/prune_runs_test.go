package prescient

import (
	"context"
	"database/sql"
	"fmt"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
)

// An app's transaction that began before partitions were changed can still end checks.
func TestAnOlderSnapshotMayCancelAfterPartitionsWereChanged(t *testing.T) {
	eachServer(t, func(t *testing.T, r *rig) {
		r.needs(t, storedProcedures)
		r.keepPartitions(day.AddDate(0, 0, -50), PruneOptions{})
		for _, key := range []string{"42", "43"} {
			r.insert(at("13:00"), NewJob{Entity: Entity{"order", key}, JobExec: "check", DueAt: at("14:00")})
		}
		tx, err := r.app.BeginTx(t.Context(), &sql.TxOptions{Isolation: sql.LevelRepeatableRead})
		r.must(err)
		defer tx.Rollback()
		var n int
		r.must(tx.QueryRow("SELECT COUNT(*) FROM p_future_job").Scan(&n))
		if report := r.prune(at("10:05"), PruneOptions{Keep: 30 * 24 * time.Hour}); len(report.Made) == 0 || len(report.Dropped) == 0 {
			t.Fatalf("%+v", report)
		}
		if n, err := r.client.Cancel(t.Context(), tx, Entity{"order", "42"}); err != nil || n != 1 {
			t.Errorf("cancelled %d, %v", n, err)
		}
		r.call(tx, 1, "order", "43", nil)
		r.must(tx.Commit())
		if len(r.history()) != 2 {
			t.Errorf("%d in history", len(r.history()))
		}
	})
}

// Partitions come and go under slot runs, none of which fails or loses a row.
func TestPartitionsChangeUnderSlotRuns(t *testing.T) {
	eachServer(t, func(t *testing.T, r *rig) {
		const rows, weeks = 3000, 12
		r.keepPartitions(day.AddDate(0, 0, -7*weeks-100), PruneOptions{})
		var jobs []NewJob
		for i := range rows {
			jobs = append(jobs, NewJob{Entity: Entity{"order", fmt.Sprint(i)}, JobExec: "check", DueAt: at("13:15")})
		}
		_, err := r.client.InsertMany(t.Context(), r.appAt(at("13:00")), jobs)
		r.must(err)
		var pools []*sqlx.DB
		for week := range weeks + 1 {
			pools = append(pools, r.pool(at("13:15").AddDate(0, 0, -7*(weeks-week))))
		}
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		changed := make(chan error, 1)
		started := make(chan struct{})
		go func() {
			defer close(changed)
			for week := 0; week <= weeks && ctx.Err() == nil; week++ {
				if _, err := Prune(context.WithoutCancel(ctx), pools[week], PruneOptions{Prefix: "p_", Keep: 30 * 24 * time.Hour}); err != nil {
					changed <- err
					return
				}
				if week == 0 {
					close(started)
				}
			}
		}()
		select {
		case <-started:
		case err := <-changed:
			t.Fatal(err)
		}
		execs := registry("check", func(context.Context, FutureJob) (*time.Time, error) { return nil, nil }, Guards{})
		figures := r.runAt(at("13:15:01"), execs, WorkerOptions{Batch: 20})
		if err := <-changed; err != nil {
			t.Error(err)
		}
		if n := r.count("SELECT COUNT(*) FROM p_job_history"); figures.Done != rows || n != rows {
			t.Errorf("%+v, %d in history", figures, n)
		}
		t.Logf("%d retries", figures.Retries)
		r.balanced()
	})
}
