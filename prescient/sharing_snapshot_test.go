package prescient

import (
	"fmt"
	"sync"
	"testing"
	"time"
)

// What one worker writes to the ledger, another may be about to: a server that refuses a row which was changed since the
// statement looked (innodb_snapshot_isolation, on by default from MariaDB 11.6 on) ended the runs of both.
func TestNoRunOfWorkersThatShareSlotsEndsEarly(t *testing.T) {
	eachServer(t, func(t *testing.T, r *rig) {
		const rows = 80
		runs := 3
		if r.refuses(r.app) { // elsewhere there is little to be seen
			runs = 20
		}
		var c calls
		execs := registry("check", c.count, Guards{})
		var workers []*Worker
		for i := range 4 {
			workers = append(workers, r.worker(at("18:30"), execs, WorkerOptions{Name: fmt.Sprint("worker-", i), Batch: 10}))
		}
		for _, sharing := range []int{2, 4} {
			early := 0
			for run := range runs {
				slot := at("13:00").Add(time.Duration(run) * 15 * time.Minute)
				jobs := make([]NewJob, rows)
				for i := range jobs {
					jobs[i] = NewJob{Entity: Entity{"order", fmt.Sprint(sharing, "/", run, "/", i)}, JobExec: "check", DueAt: slot}
				}
				_, err := r.client.InsertMany(t.Context(), r.appAt(at("12:50")), jobs)
				r.must(err)
				errs := make([]error, sharing)
				var running sync.WaitGroup
				for i, w := range workers[:sharing] {
					running.Go(func() { _, errs[i] = w.runSlot(t.Context(), slot, manner{parallel: w.buckets(), stay: true}) })
				}
				running.Wait()
				for _, err := range errs {
					if err != nil {
						early++
						t.Logf("%d workers, run %d: %v", sharing, run, err)
						break
					}
				}
			}
			if early > 0 {
				t.Errorf("%d of %d runs of %d workers ended early", early, runs, sharing)
			}
		}
		c.eachOnce(t, 2*runs*rows)
		r.balanced()
	})
}
