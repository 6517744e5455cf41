package worker

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/rig"
)

// What one worker writes to the ledger, another may be about to: a server that refuses a row which was changed since the
// statement looked (innodb_snapshot_isolation, on by default from MariaDB 11.6 on) ended the runs of both.
func TestNoRunOfWorkersThatShareSlotsEndsEarly(t *testing.T) {
	t.Parallel()
	eachFlavourAt(t, 15*time.Minute, func(t *testing.T, r *testRig) {
		const rows = 80
		runs := 3
		if r.Refuses(r.App) { // elsewhere there is little to be seen
			runs = 20
		}
		var c rig.Calls
		execs := rig.Registry("check", c.Count, prescient.Guards{})
		var workers []*Worker
		for i := range 4 {
			workers = append(workers, r.worker(rig.At("18:30"), execs, Options{Name: fmt.Sprint("worker-", i), Load: Load{Batch: 10}}))
		}
		for _, sharing := range []int{2, 4} {
			early := 0
			for run := range runs {
				slot := rig.At("13:00").Add(time.Duration(run) * 15 * time.Minute)
				jobs := make([]prescient.NewJob, rows)
				for i := range jobs {
					jobs[i] = prescient.NewJob{Entity: prescient.Entity{Name: "order", Key: fmt.Sprint(sharing, "/", run, "/", i)}, JobExec: "check", DueAt: slot}
				}
				_, err := r.Client.InsertMany(t.Context(), r.AppAt(rig.At("12:50")), jobs)
				r.Must(err)
				errs := make([]error, sharing)
				var running sync.WaitGroup
				for i, w := range workers[:sharing] {
					running.Go(func() { _, errs[i] = w.runSlot(t.Context(), slot, runOptions{parallel: w.buckets(), stay: true}) })
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
		c.EachOnce(t, 2*runs*rows)
		r.Balanced()
	})
}
