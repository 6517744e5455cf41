package ledger

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"prescient/prescient/internal/literal"
	"prescient/prescient/internal/rig"
)

// Workers whose batches differ would divide a slot differently. Those that come to it at once go by whoever was first.
func TestWhoeverOpensASlotFirstSaysHowManyBucketsItHas(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		r.insertOrders(1000)
		var workers []*Ledger
		for i := range 4 {
			workers = append(workers, r.ledger(fmt.Sprint(i), r.As("worker", rig.At("13:15:01")), 10*(i+1), 2))
		}
		for round := range 20 {
			r.Exec("DELETE FROM p_slot_run")
			var all sync.WaitGroup
			lists, errs := make([][]Row, len(workers)), make([]error, len(workers))
			for i, w := range workers {
				all.Go(func() { lists[i], errs[i] = w.Open(t.Context(), rig.At("13:15"), Work) })
			}
			all.Wait()
			stands, err := workers[0].Rows(t.Context(), rig.At("13:15"))
			r.Must(err)
			for i, list := range lists {
				r.Must(errs[i])
				if !slices.EqualFunc(list, stands, func(a, b Row) bool { return a.Bucket == b.Bucket && a.Buckets == b.Buckets }) {
					t.Fatalf("round %d: opened as %+v, and for another as %+v", round, list, stands)
				}
			}
			if stands[0].Buckets != len(stands) || len(stands) < 2 {
				t.Fatalf("round %d: %+v; want all buckets", round, stands)
			}
		}
	})
}

// Where the first bucket alone stands, as many are opened as that says.
func TestTheRestOfASlotIsOpened(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		r.insertOrders(1000)
		w := r.ledger("w", r.As("worker", rig.At("13:15:01")), 10, 4)
		for _, stand := range []string{"(?, 0, 3)", "(?, 0, 3), (?, 2, 3)", "(?, 0, 3), (?, 1, 3), (?, 2, 3)"} {
			r.Exec("DELETE FROM p_slot_run")
			slot := "'" + rig.At("13:15").Format(literal.SecondLayout) + "'"
			r.Exec("INSERT INTO p_slot_run (slot, bucket, buckets) VALUES " + strings.ReplaceAll(stand, "?", slot))
			list, err := w.Open(t.Context(), rig.At("13:15"), Work)
			if err != nil || len(list) != 3 || list[2].Bucket != 2 || list[2].Buckets != 3 {
				t.Errorf("with %s there: %+v, %v; want three buckets", stand, list, err)
			}
		}
	})
}
