package acceptance

import (
	"context"
	"fmt"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/client"
	"prescient/prescient/connect"
	"prescient/prescient/internal/rig"
	"prescient/prescient/localserver/vitess"
	"prescient/prescient/worker"
	"prescient/sql/migrate"
)

// A worker whose session is targeted at a shard serves it as it does a MySQL: rows are moved, and end.
func TestAWorkerServesAShardOfVitess(t *testing.T) {
	cluster := startVitess(t, vitess.Options{Shards: 1})
	const lease, rows = 6 * time.Second, 50
	db, err := connect.Open(cluster.Shards[0].DSN(), lease)
	rig.Fatal(t, err)
	defer db.Close()
	_, err = migrate.Up(t.Context(), db.DB, migrate.Schema{Resolution: time.Second})
	rig.Fatal(t, err)
	c, err := client.New(t.Context(), db, client.Options{})
	rig.Fatal(t, err)
	for i := range rows {
		_, err := c.Insert(t.Context(), db, prescient.NewJob{Entity: prescient.Entity{Name: "order", Key: fmt.Sprint(i)}, JobExec: "check", DueAt: time.Now().Add(time.Second)})
		rig.Fatal(t, err)
	}
	// There is no procedure cancel on a shard.
	gone := prescient.Entity{Name: "order", Key: "gone"}
	_, err = c.Insert(t.Context(), db, prescient.NewJob{Entity: gone, JobExec: "check", DueAt: time.Now().Add(time.Hour)})
	rig.Fatal(t, err)
	if n, err := c.Cancel(t.Context(), db, gone); n != 1 || err != nil {
		t.Errorf("%d were cancelled, %v", n, err)
	}
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	w, err := worker.New(ctx, db, worker.Options{Name: "one", Times: worker.Times{Lease: lease}, Sweep: worker.Sweep{Every: 2 * time.Second, Grace: 2 * time.Second},
		Registry: rig.Registry("check", func(_ context.Context, job prescient.FutureJob) (*time.Time, error) {
			if job.CheckCount == 0 {
				return prescient.At(job.NextCheckAt.Add(2 * time.Second)), nil
			}
			return nil, nil
		}, prescient.Guards{})})
	rig.Fatal(t, err)
	ended := make(chan error, 1)
	go func() { ended <- w.Work(ctx) }()
	var pending, done int
	for done < rows && ctx.Err() == nil {
		rig.Fatal(t, db.QueryRowContext(t.Context(), "SELECT (SELECT COUNT(*) FROM future_job), COUNT(*) FROM job_history WHERE outcome = 'done'").Scan(&pending, &done))
		time.Sleep(50 * time.Millisecond)
	}
	stop()
	rig.Fatal(t, <-ended)
	if pending != 0 || done != rows {
		t.Errorf("%d are done, and %d pending; want %d and none", done, pending, rows)
	}
	// The shard copies history from the rows, and has the rest from the worker.
	var whole, called int
	rig.Fatal(t, db.QueryRowContext(t.Context(), `SELECT COUNT(*), (SELECT SUM(check_count) FROM job_history) FROM job_history WHERE outcome = 'done' AND check_count = 1 AND error IS NULL
		AND slot = next_check_at AND ended_at >= started_at AND lateness_ms = TIMESTAMPDIFF(MICROSECOND, slot, started_at) DIV 1000
		AND worker = 'one' AND total_ms >= run_ms AND due_at <= slot AND payload IS NULL`).Scan(&whole, &called))
	if whole != rows || called != rows {
		t.Errorf("%d ends of %d are whole, and their rows were moved %d times", whole, rows, called)
	}
}
