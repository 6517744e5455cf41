package worker

import (
	"fmt"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/literal"
	"prescient/prescient/internal/rig"
	"prescient/prescient/localserver"
	"prescient/prescient/worker/internal/ledger"
)

// Somebody has a few rows locked. The others are moved, without a wait for these.
func TestRollForwardPassesOverWhatOthersHaveLocked(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		r.insertOrders(300)
		tx, err := r.Root.BeginTx(t.Context(), nil)
		r.Must(err)
		defer tx.Rollback()
		for _, key := range []string{"7", "77", "277"} {
			_, err = tx.Exec(fmt.Sprintf("SELECT 1 FROM p_future_job FORCE INDEX (PRIMARY) WHERE next_check_at = '%s' AND job_key = X'%s' FOR UPDATE",
				rig.At("13:15").Format(literal.SecondLayout), prescient.KeyOf(prescient.Entity{Name: "order", Key: key}, "check", "")))
			r.Must(err)
		}
		w := r.worker(rig.At("13:30:11"), prescient.NewRegistry(), Options{Load: Load{Batch: 30}})
		progress := Rolled{}
		rolled, err := w.RollForward(t.Context(), func(so Rolled) { progress = so })
		if want := (Rolled{Moved: 297, PassedOver: 3}); err != nil || rolled != want || progress != want {
			t.Errorf("%+v, %v; progress %+v; want %+v", rolled, err, progress, want)
		}
		if n := r.Count("SELECT SUM(put_off) FROM p_slot_run"); n != 297 {
			t.Errorf("the ledger has %d put off", n)
		}
		if n := r.Count("SELECT COUNT(*) FROM p_slot_run WHERE finished_at IS NULL AND allocated_until IS NULL"); n == 0 {
			t.Error("buckets with rows that are left count as finished")
		}
		r.Must(tx.Commit())
		if rolled, err = w.RollForward(t.Context(), nil); err != nil || rolled != (Rolled{Moved: 3}) {
			t.Errorf("later: %+v, %v", rolled, err)
		}
	})
}

// What a live worker runs stays with it, and is counted. The audit has who rolled forward.
func TestRollForwardSaysWhatLiveWorkersHold(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		r.insertOrders(10)
		alive := r.worker(rig.At("13:30:11"), prescient.NewRegistry(), Options{Name: "alive"})
		list, err := alive.ledger.Open(t.Context(), rig.At("13:15"), ledger.Sweep)
		r.Must(err)
		lease, err := alive.ledger.Claim(t.Context(), rig.At("13:15"), list[0], ledger.Sweep)
		r.Must(err)
		w := r.worker(rig.At("13:30:11"), prescient.NewRegistry(), Options{Name: "other"})
		rolled, err := w.RollForward(t.Context(), nil)
		if want := (Rolled{Held: 1, HeldBy: "alive"}); err != nil || rolled != want {
			t.Errorf("%+v, %v; want %+v", rolled, err, want)
		}
		r.Must(alive.ledger.Release(t.Context(), lease, false))
		if rolled, err = w.RollForward(t.Context(), nil); err != nil || rolled != (Rolled{Moved: 10}) {
			t.Errorf("once it is given back: %+v, %v", rolled, err)
		}
		if n := r.Count("SELECT COUNT(*) FROM p_audit_log WHERE verb = 'roll-forward'"); n != 2 {
			t.Errorf("%d entries in the audit; want 2", n)
		}
	})
}

// A move also locks the neighbour of a row in UNIQUE (job_key), which may be an insert that an app has not committed. The row
// itself is free; what waits for the neighbour is passed over in the end, and the rest is moved.
func TestRollForwardPassesOverWhatWaitsForANeighbour(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		r.insertOrders(2)
		w := r.worker(rig.At("13:30:11"), prescient.NewRegistry(), Options{})
		found, err := w.roller().Rows(t.Context(), rig.At("13:15"), prescient.Key{}, prescient.Key{0xff, 0xff}, 10)
		r.Must(err)
		neighbour, _ := found[0].Key.Next()
		tx, err := r.Root.BeginTx(t.Context(), nil)
		r.Must(err)
		defer tx.Rollback()
		_, err = tx.Exec(fmt.Sprintf("INSERT INTO p_future_job (entity_name, entity_key, job_exec, due_at, job_key, first_check_at, next_check_at, revision) VALUES ('order', 'new', 'check', '%[1]s', X'%[2]s', '%[1]s', '%[1]s', 1)",
			rig.At("17:00").Format(literal.SecondLayout), neighbour))
		r.Must(err)
		began := time.Now()
		rolled, err := w.RollForward(t.Context(), nil)
		t.Logf("it took %s", time.Since(began))
		want := Rolled{Moved: 1, PassedOver: 1}
		if r.D.Flavour == localserver.MySQL { // it locks no neighbour for that
			want = Rolled{Moved: 2}
		}
		if err != nil || rolled != want {
			t.Errorf("%+v, %v; want %+v", rolled, err, want)
		}
		r.Must(tx.Rollback())
		if rolled, err = w.RollForward(t.Context(), nil); err != nil || rolled != (Rolled{Moved: want.PassedOver}) {
			t.Errorf("later: %+v, %v", rolled, err)
		}
	})
}
