package ledger

import (
	"context"
	"testing"
	"time"

	"prescient/prescient/internal/rig"
)

// One bucket that is held and has the keys of others keeps these from being claimed.
func TestABucketWithTheKeysOfOthersKeepsThemWaiting(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		r.insertOrders(100)
		w := r.ledger("w", r.As("worker", rig.At("13:30:11")), 2000, 4)
		r.Exec("INSERT INTO p_slot_run (slot, bucket, buckets) VALUES (?, 0, 1), (?, 3, 4)", rig.At("13:15"), rig.At("13:15"))
		list, err := w.Rows(t.Context(), rig.At("13:15"))
		r.Must(err)
		l, err := w.Claim(t.Context(), rig.At("13:15"), list[0], Work)
		if err != nil || l == nil {
			t.Fatalf("%+v, %v", l, err)
		}
		for _, open := range []func(context.Context, time.Time, By) ([]Row, error){w.Open, w.Reopened} {
			if list, err = open(t.Context(), rig.At("13:15"), Work); err != nil || len(list) != 1 || list[0].Bucket != 0 || list[0].LivesFor == 0 {
				t.Errorf("while it is held: %+v, %v", list, err)
			}
		}
		r.Must(w.Release(t.Context(), l, true))
		if list, err = w.Reopened(t.Context(), rig.At("13:15"), Work); err != nil || len(list) != 4 || list[0].Buckets != 4 {
			t.Errorf("once it is given back: %+v, %v", list, err)
		}
	})
}
