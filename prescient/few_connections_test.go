package prescient

import (
	"context"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
)

// Transactions of functions have all connections of the pool that a commit of other answers of their bucket needs one of.
func TestACommitAndTransactionsOfFunctionsShareFewConnections(t *testing.T) {
	eachServer(t, func(t *testing.T, r *rig) {
		const each, soon = 200, 15 * time.Second
		r.manyDue(at("13:15"), "in_tx", 0, each)
		r.manyDue(at("13:15"), "plain", each, 5*each)
		execs := registry("plain", func(context.Context, FutureJob) (*time.Time, error) { return nil, nil }, Guards{})
		r.must(execs.RegisterTx("in_tx", func(ctx context.Context, _ *sqlx.Tx, _ FutureJob) (*time.Time, error) {
			return nil, sleep(ctx, 5*time.Millisecond)
		}, Guards{}))
		w := r.worker(at("13:15"), execs, WorkerOptions{Batch: 400, StopGrace: time.Second})
		w.db.SetMaxOpenConns(2)
		ctx, cancel := context.WithTimeout(t.Context(), soon)
		defer cancel()
		figures, err := w.Run(ctx)
		if err != nil || figures.Done != 5*each || figures.LeasesLost != 0 {
			t.Errorf("%+v, %v", figures, err)
		}
		r.balanced()
	})
}
