package acceptance

import (
	"context"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/rig"
	"prescient/prescient/worker"
	"prescient/prescient/worker/books"
)

func TestAnInsertThatIsNotCommittedDoesNotHoldUpTheMovesOfOthers(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		const rows = 40
		r.InsertAll("check", rig.Numbered(rows)...)
		tx, err := r.AppAt(rig.At("12:55")).Begin()
		r.Must(err)
		for _, key := range []string{"a"} {
			_, err := r.Client.Insert(t.Context(), tx, prescient.NewJob{Entity: prescient.Entity{Name: "order", Key: key}, JobExec: "late", DueAt: rig.At("15:00")})
			r.Must(err)
		}
		var c rig.Calls
		execs := rig.Registry("check", func(ctx context.Context, job prescient.FutureJob) (*time.Time, error) {
			_, _ = c.Count(ctx, job)
			return prescient.At(rig.At("14:00")), nil
		}, prescient.Guards{})
		ran := make(chan books.Figures)
		go func() { ran <- r.RunAt(rig.At("13:15:01"), execs, worker.Options{}) }()
		r.Eventually("half of the rows are moved while the insert is open", func() bool {
			return r.Count("SELECT COUNT(*) FROM p_future_job WHERE next_check_at = '"+rig.At("14:00").Format(time.DateTime)+"'") >= rows/2
		})
		r.Must(tx.Commit())
		if figures := <-ran; figures.Moved != rows || figures.LeasesLost != 0 {
			t.Errorf("%d rows were moved, %d leases lost; want %d, and none", figures.Moved, figures.LeasesLost, rows)
		}
		c.EachOnce(t, rows)
		r.Balanced()
	})
}
