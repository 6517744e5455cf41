package worker

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/rig"
)

// An open transaction holds back the purge of all rows that ended since: the servers keep them, marked as deleted. The
// looks of an idle worker must not grow slow from that. PRESCIENT_HELD_ROWS=200000 takes as many rows, for the figures.
func TestLooksStayQuickWhilePurgeIsHeldBack(t *testing.T) {
	rows, limit := 10_000, 300*time.Millisecond
	if n, err := strconv.Atoi(os.Getenv("PRESCIENT_HELD_ROWS")); err == nil {
		rows, limit = n, time.Second
	}
	// On one server after the other, for the limit's sake.
	eachServerInTurn(t, 15*time.Minute, func(t *testing.T, r *testRig) {
		conn, err := r.Root.Conn(t.Context())
		r.Must(err)
		defer conn.Close()
		_, err = conn.ExecContext(t.Context(), "START TRANSACTION WITH CONSISTENT SNAPSHOT")
		r.Must(err)
		defer func() { _, _ = conn.ExecContext(context.Background(), "ROLLBACK") }()
		_, err = conn.ExecContext(t.Context(), "SELECT COUNT(*) FROM p_future_job")
		r.Must(err)

		w := r.worker(rig.At("13:15:01"), rig.Registry("check", func(context.Context, prescient.FutureJob) (*time.Time, error) { return nil, nil }, prescient.Guards{}), Options{})
		looks := func() (sweep, slot, clock time.Duration) {
			return medianTime(t, func() error {
					_, err := w.look.Overdue(t.Context(), prescient.EarliestDue, rig.At("13:15"))
					return err
				}),
				medianTime(t, func() error { _, err := w.look.At(t.Context(), rig.At("13:15")); return err }),
				medianTime(t, func() error { _, err := w.look.At(t.Context(), time.Unix(0, 0).UTC()); return err })
		}
		sweep, slot, clock := looks()
		const slots = 48
		for i := range slots {
			jobs := make([]prescient.NewJob, rows/slots)
			for j := range jobs {
				jobs[j] = prescient.NewJob{Entity: prescient.Entity{Name: "order", Key: fmt.Sprint(i, "/", j)}, JobExec: "check", DueAt: rig.At("13:15").Add(-time.Duration(i) * 15 * time.Minute)}
			}
			_, err := r.Client.InsertMany(t.Context(), r.AppAt(rig.At("13:15").Add(-24*time.Hour)), jobs)
			r.Must(err)
		}
		began := time.Now()
		_, err = w.Sweep(t.Context())
		r.Must(err)
		_, err = w.Run(t.Context())
		r.Must(err)
		took := time.Since(began)
		if n := r.Count("SELECT COUNT(*) FROM p_job_history"); n != rows/slots*slots {
			t.Fatalf("%d ended", n)
		}
		heldSweep, heldSlot, heldClock := looks()
		t.Logf("%d rows ended in %s while purge is held back: look for overdue slots %s before, %s after; at a slot %s, %s; at the clock %s, %s", rows, took.Round(time.Millisecond), sweep, heldSweep, slot, heldSlot, clock, heldClock)
		for what, d := range map[string]time.Duration{"for overdue slots": heldSweep, "at a slot": heldSlot, "at the clock": heldClock} {
			if d > limit {
				t.Errorf("a look %s takes %s; at most %s are allowed", what, d, limit)
			}
		}
	})
}

// medianTime is the middle one of seven times that something takes.
func medianTime(t *testing.T, do func() error) time.Duration {
	t.Helper()
	var took []time.Duration
	for range 7 {
		began := time.Now()
		if err := do(); err != nil {
			t.Fatal(err)
		}
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	return took[len(took)/2].Round(10 * time.Microsecond)
}
