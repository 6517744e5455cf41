package worker

import (
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/rig"
)

// A new connection takes several round trips.
func TestASlotRunUsesItsConnectionsAgain(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		const rows = 1000
		slot := r.InsertDue(rows)
		w := r.worker(time.Time{}, rig.Registry("check", rig.NothingToDo, prescient.Guards{}), Options{Batch: 25})
		if figures, err := w.runSlot(t.Context(), slot, runOptions{parallel: DefaultBuckets}); err != nil || figures.Done != rows {
			t.Fatalf("%+v, %v", figures, err)
		}
		if s := w.send.DB.Stats(); s.MaxIdleClosed > 0 {
			t.Errorf("%d connections were closed for want of room among the idle, %d are open", s.MaxIdleClosed, s.OpenConnections)
		}
	})
}
