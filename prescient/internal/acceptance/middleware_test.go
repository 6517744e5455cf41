package acceptance

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"prescient/prescient"
	"prescient/prescient/internal/rig"
	"prescient/prescient/worker"
)

// A worker's calls have the middleware around them in each form. A middleware that makes no call has the check tried again.
func TestMiddlewareSeesEachCallOfASlotRun(t *testing.T) {
	besideOthers(t, func(t *testing.T, r *testRig) {
		registry := prescient.NewRegistry()
		settles := func(b *prescient.Batch) error {
			for i := range b.Jobs() {
				b.Settle(i)
			}
			return nil
		}
		for _, err := range []error{
			registry.Register("each", rig.NothingToDo, prescient.Guards{}),
			registry.Register("refused", rig.NothingToDo, prescient.Guards{}),
			registry.RegisterBatch("batch", func(_ context.Context, b *prescient.Batch) error { return settles(b) }, prescient.Guards{}),
			registry.RegisterTx("tx", func(context.Context, *sqlx.Tx, prescient.FutureJob) (*time.Time, error) { return nil, nil }, prescient.Guards{}),
			registry.RegisterTxBatch("txs", func(_ context.Context, _ *sqlx.Tx, b *prescient.Batch) error { return settles(b) }, prescient.Guards{}),
		} {
			r.Must(err)
		}
		var mu sync.Mutex
		seen := make(map[string]int)
		registry.Use(func(next func(context.Context, prescient.Call) error) func(context.Context, prescient.Call) error {
			return func(ctx context.Context, call prescient.Call) error {
				if _, bounded := ctx.Deadline(); !bounded {
					t.Error("it is not within the timeout")
				}
				if call.JobExec == "refused" {
					return errors.New("not today")
				}
				if call.Tx != nil {
					if err := call.Tx.GetContext(ctx, new(int), "SELECT 1"); err != nil {
						return err
					}
				}
				mu.Lock()
				seen[fmt.Sprintf("%s of %d, tx %t", call.Form, len(call.Jobs), call.Tx != nil)]++
				mu.Unlock()
				return next(ctx, call)
			}
		})
		for _, name := range registry.Names() {
			r.InsertAll(name, "1", "2", "3")
		}
		r.RunAt(rig.At("13:15:01"), registry, worker.Options{})
		if want := map[string]int{"row of 1, tx false": 3, "batch of 3, tx false": 1, "tx of 1, tx true": 3, "tx batch of 3, tx true": 1}; !maps.Equal(seen, want) {
			t.Errorf("calls: %v; want %v", seen, want)
		}
		left := r.Pending()
		if len(left) != 3 || left[0].JobExec != "refused" || left[0].ErrorCount != 1 || !strings.Contains(left[0].LastError, "not today") || len(r.History()) != 12 {
			t.Errorf("left: %+v", left)
		}
	})
}
