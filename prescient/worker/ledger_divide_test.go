package worker

import (
	"testing"

	"prescient/prescient"
	"prescient/prescient/internal/rig"
)

// A slot that was empty at its time stands as one bucket in the ledger. When many late rows are found in it, it is
// divided like any other of that size.
func TestASlotThatWasEmptyIsDividedForManyLateRows(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		var c rig.Calls
		execs := rig.Registry("check", c.Count, prescient.Guards{})
		r.runAt(rig.At("13:15:01"), execs, Options{})
		if n := r.Count("SELECT buckets FROM p_slot_run"); n != 1 {
			t.Fatalf("an empty slot has %d buckets", n)
		}
		r.insertOrders(600)
		swept, err := r.worker(rig.At("13:30:11"), execs, Options{Load: Load{Batch: 30}}).Sweep(t.Context())
		r.Must(err)
		if len(swept) != 1 || swept[0].Done != 600 || swept[0].Buckets < 4 {
			t.Errorf("swept: %+v; want 600 in several buckets", swept)
		}
		if n := r.Count("SELECT COUNT(*) - MAX(buckets) FROM p_slot_run"); n != 0 {
			t.Errorf("%d ledger rows more than buckets", n)
		}
		c.EachOnce(t, 600)
		r.Balanced()
	})
}
