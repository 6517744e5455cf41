package worker

import (
	"context"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"prescient/prescient"
	"prescient/prescient/internal/rig"
	"prescient/prescient/internal/store"
)

// Transactions of functions have all connections of the pool that a commit of other answers of their bucket needs one of.
func TestACommitAndTransactionsOfFunctionsShareFewConnections(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		const each, soon = 80, 25 * time.Second
		r.ManyDue(rig.At("13:15"), "in_tx", 0, each)
		r.ManyDue(rig.At("13:15"), "plain", each, 5*each)
		execs := rig.Registry("plain", func(context.Context, prescient.FutureJob) (*time.Time, error) { return nil, nil }, prescient.Guards{})
		r.Must(execs.RegisterTx("in_tx", func(ctx context.Context, _ *sqlx.Tx, _ prescient.FutureJob) (*time.Time, error) {
			return nil, store.Sleep(ctx, 5*time.Millisecond)
		}, prescient.Guards{}))
		w := r.worker(rig.At("13:15"), execs, Options{Load: Load{Batch: 160}, Times: Times{StopGrace: time.Second}})
		w.send.DB.SetMaxOpenConns(2)
		ctx, cancel := context.WithTimeout(t.Context(), soon)
		defer cancel()
		figures, err := w.Run(ctx)
		if err != nil || figures.Done != 5*each || figures.LeasesLost != 0 {
			t.Errorf("%+v, %v", figures, err)
		}
		r.Balanced()
	})
}
