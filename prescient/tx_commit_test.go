package prescient

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
)

// The transactions of a TxFunc commit beside the commits of answers, under one lease: each has to know the number that
// the one before it took.
func TestCommitsOfBothKindsDoNotTakeTheLeaseFromEachOther(t *testing.T) {
	eachServer(t, func(t *testing.T, r *rig) {
		const rows = 150
		var jobs []NewJob
		for i := range rows {
			for _, name := range []string{"plain", "tx"} {
				jobs = append(jobs, NewJob{Entity: Entity{"order", fmt.Sprint(i)}, JobExec: name, DueAt: at("13:00")})
			}
		}
		_, err := r.client.InsertMany(t.Context(), r.appAt(at("12:50")), jobs)
		r.must(err)
		execs := registry("plain", func(context.Context, FutureJob) (*time.Time, error) { return nil, nil }, Guards{})
		r.must(execs.RegisterTx("tx", func(context.Context, *sqlx.Tx, FutureJob) (*time.Time, error) { return nil, nil }, Guards{}))
		figures := r.runAt(at("13:00:01"), execs, WorkerOptions{Batch: 8, Lease: 2 * time.Second})
		if figures.LeasesLost != 0 || figures.Done != 2*rows {
			t.Errorf("%d leases were lost, %d rows are done; want none, and %d", figures.LeasesLost, figures.Done, 2*rows)
		}
		r.balanced()
	})
}
