package worker

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/literal"
	"prescient/prescient/internal/rig"
	"prescient/prescient/prune"
	"prescient/prescient/worker/internal/ledger"
)

// standing makes the ledger of a slot: "0/4" is the first of four buckets, "0/1*" one that is finished.
func (r *testRig) standing(slot time.Time, buckets string) {
	r.T.Helper()
	r.Exec("DELETE FROM p_slot_run")
	for _, word := range strings.Fields(buckets) {
		var bucket, of int
		if _, err := fmt.Sscanf(word, "%d/%d", &bucket, &of); err != nil {
			r.T.Fatal(err)
		}
		finished := "NULL"
		if strings.HasSuffix(word, "*") {
			finished = "slot"
		}
		r.Exec(fmt.Sprintf("INSERT INTO p_slot_run (slot, bucket, buckets, finished_at) VALUES ('%s', %d, %d, %s)",
			slot.Format(literal.SecondLayout), bucket, of, finished))
	}
}

// Whatever is left of a slot's ledger, all of its rows are run, each once.
func TestOpeningFillsAnyGapOfALedger(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		for _, left := range []string{"3/4", "0/4", "1/4 2/4*", "0/1* 3/4", "0/1 1/4 2/4 3/4", "0/2 1/2 3/4"} {
			t.Run(strings.NewReplacer(" ", "_", "/", "of", "*", "done").Replace(left), func(t *testing.T) {
				r.Exec("DELETE FROM p_job_history")
				r.insertOrders(100)
				r.standing(rig.At("13:15"), left)
				var c rig.Calls
				swept, err := r.worker(rig.At("13:30:11"), rig.Registry("check", c.Count, prescient.Guards{}), Options{}).Sweep(t.Context())
				r.Must(err)
				if len(swept) != 1 || swept[0].Done != 100 || swept[0].Buckets != 4 {
					t.Errorf("swept %+v; want 100 rows in 4 buckets", swept)
				}
				c.EachOnce(t, 100)
				if n := r.Count("SELECT COUNT(*) FROM p_slot_run WHERE buckets = 4 AND finished_at IS NOT NULL"); n != 4 {
					t.Errorf("%d buckets of four stand in the ledger", n)
				}
			})
		}
	})
}

func TestRollForwardMovesWhatAGapOfTheLedgerHeldUp(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		r.insertOrders(100)
		r.standing(rig.At("13:15"), "3/4")
		_, err := r.worker(rig.At("13:30:11"), prescient.NewRegistry(), Options{}).RollForward(t.Context(), nil)
		if n := r.Count("SELECT COUNT(*) FROM p_future_job WHERE next_check_at > '2026-11-20 13:30:00'"); err != nil || n != 100 {
			t.Errorf("%d of 100 were moved: %v", n, err)
		}
	})
}

// A lease is taken after prune looked and before it deletes: the slot stays, with all its buckets, and what is late for it
// is run.
func TestPruneDeletesWholeSlotsOnly(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		now := rig.At("15:30:11").AddDate(0, 0, 1)
		w := r.worker(now, rig.Registry("check", func(context.Context, prescient.FutureJob) (*time.Time, error) { return nil, nil }, prescient.Guards{}), Options{})
		for _, c := range []struct {
			before string // this statement, which is the last that prune sends before it has the slot locked
			want   int
		}{{"run.slot IN (", 4}, {"run.slot >= ", 4}} {
			r.standing(rig.At("13:15"), "0/4 1/4* 2/4* 3/4*")
			var l *ledger.Lease
			h := &rig.Hooks{}
			h.Once(c.before, func() {
				list, err := w.ledger.Rows(t.Context(), rig.At("13:15"))
				r.Must(err)
				l, err = w.ledger.Claim(t.Context(), rig.At("13:15"), list[1], ledger.Work)
				r.Must(err)
			})
			report, err := prune.Run(t.Context(), r.HookedAs("owner", now, h), prune.Options{Prefix: "p_", Keep: prune.MinKeep})
			if n := r.Count("SELECT COUNT(*) FROM p_slot_run"); err != nil || n != c.want || report.LedgerSlotsKept != 1 {
				t.Errorf("a lease was taken before %q: %d of 4 buckets are left; %+v, %v", c.before, n, report, err)
			}
			r.Must(w.ledger.Release(t.Context(), l, true))
			r.insertOrders(100)
			swept, err := w.Sweep(t.Context())
			if left := len(r.Pending()); err != nil || left > 0 {
				t.Errorf("%d of 100 late rows are left by a sweep; %+v, %v", left, swept, err)
			}
			if report, err := prune.Run(t.Context(), r.As("owner", now), prune.Options{Prefix: "p_", Keep: prune.MinKeep}); err != nil || report.LedgerRows != 4 {
				t.Errorf("later: %+v, %v", report, err)
			}
			r.Exec("DELETE FROM p_job_history")
		}
	})
}
