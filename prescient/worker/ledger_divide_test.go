package worker

import (
	"context"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/rig"
	"prescient/prescient/worker/internal/ledger"
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
		r.insertOrders(2000)
		swept, err := r.worker(rig.At("13:30:11"), execs, Options{Batch: 100}).Sweep(t.Context())
		r.Must(err)
		if len(swept) != 1 || swept[0].Done != 2000 || swept[0].Buckets < 4 {
			t.Errorf("swept: %+v; want 2000 in several buckets", swept)
		}
		if n := r.Count("SELECT COUNT(*) - MAX(buckets) FROM p_slot_run"); n != 0 {
			t.Errorf("%d ledger rows more than buckets", n)
		}
		c.EachOnce(t, 2000)
		r.Balanced()
	})
}

// Who saw a slot as one bucket cannot claim it as such once it is divided; and while somebody holds it, it is not divided.
func TestAStaleClaimOfADividedSlotIsRefused(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		execs := rig.Registry("check", func(context.Context, prescient.FutureJob) (*time.Time, error) { return nil, nil }, prescient.Guards{})
		r.runAt(rig.At("13:15:01"), execs, Options{})
		r.insertOrders(2000)
		w := r.worker(rig.At("13:30:11"), execs, Options{Batch: 100})
		stale, err := w.ledger.Rows(t.Context(), rig.At("13:15"))
		r.Must(err)
		l, err := w.ledger.Claim(t.Context(), rig.At("13:15"), stale[0])
		r.Must(err)
		for _, seen := range []ledger.Row{stale[0], {Token: l.Token, Buckets: 1, Finished: true}} {
			if list, err := w.ledger.Divide(t.Context(), rig.At("13:15"), []ledger.Row{seen}); err != nil || len(list) != 1 || list[0].Buckets != 1 {
				t.Errorf("divided while it is held: %+v, %v", list, err)
			}
		}
		r.Must(w.ledger.Release(t.Context(), l, true))
		stale, err = w.ledger.Rows(t.Context(), rig.At("13:15"))
		r.Must(err)
		list, err := w.ledger.Open(t.Context(), rig.At("13:15"))
		r.Must(err)
		if len(list) < 2 || list[0].Buckets != len(list) {
			t.Fatalf("opened as %+v; want several buckets", list)
		}
		if l, err := w.ledger.Claim(t.Context(), rig.At("13:15"), stale[0]); err != nil || l != nil {
			t.Errorf("claimed as one bucket: %+v, %v", l, err)
		}
	})
}
