package ledger

import (
	"testing"

	"prescient/prescient/internal/rig"
)

// Who saw a slot as one bucket cannot claim it as such once it is divided; and while somebody holds it, it is not divided.
func TestAStaleClaimOfADividedSlotIsRefused(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		early := r.ledger("early", r.As("worker", rig.At("13:15:01")), 100, 4)
		_, err := early.Send.Exec(t.Context(), early.Tables.Stmt.Get("slotrun/open_empty"), rig.At("13:15"), "early", "work", rig.At("13:15"))
		r.Must(err)
		r.insertOrders(2000)
		w := r.ledger("w", r.As("worker", rig.At("13:30:11")), 100, 4)
		stale, err := w.Rows(t.Context(), rig.At("13:15"))
		r.Must(err)
		l, err := w.Claim(t.Context(), rig.At("13:15"), stale[0], Work)
		r.Must(err)
		for _, seen := range []Row{stale[0], {Token: l.Token, Buckets: 1, Finished: true}} {
			if list, err := w.divide(t.Context(), rig.At("13:15"), []Row{seen}); err != nil || len(list) != 1 || list[0].Buckets != 1 {
				t.Errorf("divided while it is held: %+v, %v", list, err)
			}
		}
		r.Must(w.Release(t.Context(), l, true))
		stale, err = w.Rows(t.Context(), rig.At("13:15"))
		r.Must(err)
		list, err := w.Open(t.Context(), rig.At("13:15"), Work)
		r.Must(err)
		if len(list) < 2 || list[0].Buckets != len(list) {
			t.Fatalf("opened as %+v; want several buckets", list)
		}
		if l, err := w.Claim(t.Context(), rig.At("13:15"), stale[0], Work); err != nil || l != nil {
			t.Errorf("claimed as one bucket: %+v, %v", l, err)
		}
	})
}
