package longrun_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/connect"
	"prescient/prescient/internal/rig"
	"prescient/prescient/longrun"
	"prescient/prescient/worker"
)

// Runs that save at the same time share the connections of their agent, and their leases are renewed meanwhile.
func TestHundredsOfRunsThatSaveTogetherTakeFewConnections(t *testing.T) {
	const runs, bound = 200, 16
	eachServer(t, 30*time.Second, longrun.Options{}, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.Sessions)
		db, err := connect.OpenWith(r.Account("worker"), connect.Options{Connections: bound})
		r.Must(err)
		defer db.Close()
		runner, err := longrun.New(t.Context(), db, longrun.Options{Prefix: "p_", Dialect: r.Setting, Name: "agent-1", Capacity: runs, Lease: time.Minute})
		r.Must(err)
		var saving atomic.Int64
		all := make(chan struct{})
		var mu sync.Mutex
		failed := make(map[string]int)
		registry := prescient.NewRegistry()
		r.Must(runner.Register(registry, "export", func(ctx context.Context, run *longrun.Run) (*time.Time, error) {
			saving.Add(1)
			<-all
			for n := range 5 {
				if err := run.Save(ctx, []byte(fmt.Sprint(n))); err != nil {
					mu.Lock()
					failed[err.Error()]++
					mu.Unlock()
					return nil, err
				}
			}
			return nil, nil
		}, prescient.Guards{}))
		slot := r.SlotJustOver(r.Tables().Grid)
		jobs := make([]prescient.NewJob, runs)
		for i := range jobs {
			jobs[i] = prescient.NewJob{Entity: rig.Order(fmt.Sprint(i)), JobExec: "export", DueAt: slot}
		}
		_, err = r.Client.InsertMany(t.Context(), r.AppAt(slot.Add(-time.Second)), jobs)
		r.Must(err)
		w, err := worker.New(t.Context(), db, worker.Options{Prefix: "p_", Dialect: r.Setting, Name: "agent-1", Registry: registry, Sweep: worker.Sweep{Grace: time.Second}})
		r.Must(err)
		_, err = w.Run(t.Context())
		r.Must(err)
		r.Eventually("all have started", func() bool {
			if r.Count("SELECT COUNT(*) FROM p_long_run") == 0 { // the slot was over before it was run
				_, err := w.Sweep(t.Context())
				r.Must(err)
			}
			return saving.Load() == runs
		})
		close(all)
		most := 0
		r.Eventually("all have ended", func() bool {
			most = max(most, r.Sessions("user = ?", r.User("worker")))
			return r.Count("SELECT COUNT(*) FROM p_job_history WHERE outcome = 'done'") == runs
		})
		if most > bound || len(failed) > 0 {
			t.Errorf("%d sessions, want %d at most; failed: %v", most, bound, failed)
		}
		r.Must(runner.Drain(context.Background()))
	})
}
