package doctor

import (
	"context"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/rig"
	"prescient/prescient/worker"
)

// A timer died, and a sweep runs what it left, a minute late: the ledger has a row for each slot all the same.
func TestADoctorCountsSlotsThatOnlyASweepServedAsMissed(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.ColumnDefaults)
		r.Exec("UPDATE p_slot_config SET changed_at = '2026-11-20 12:00:00'")
		done := rig.Registry("check", func(context.Context, prescient.FutureJob) (*time.Time, error) { return nil, nil }, prescient.Guards{})
		for _, due := range []string{"12:58", "13:10", "13:20", "13:40"} {
			r.Insert(rig.At("12:30"), prescient.NewJob{Entity: rig.Order(due), JobExec: "check", DueAt: rig.At(due)})
		}
		run := func(clock string) {
			t.Helper()
			figures, err := r.Worker(rig.At(clock), done, worker.Options{Name: "timer"}).Run(t.Context())
			if err != nil || figures.Done != 1 {
				t.Errorf("at %s: %+v, %v", clock, figures, err)
			}
		}
		sweep := func(clock string, slots int) {
			t.Helper()
			swept, err := r.Worker(rig.At(clock), done, worker.Options{Name: "timer"}).Sweep(t.Context())
			if err != nil || len(swept) != slots {
				t.Errorf("at %s: %+v, %v", clock, swept, err)
			}
		}
		run("13:00:01")
		sweep("13:16", 1)
		run("13:30:01")
		wantFinding(t, r.examine(rig.At("13:31"), Options{}), "missed", SeverityWarn, "1 of 2 slots", "a sweep alone served, late", "2026-11-20T13:15:00Z")
		wantFinding(t, r.examine(rig.At("13:31"), Options{MissedAllowed: 1}), "missed", SeverityOK, "doctor.missed allows 1")

		// What is late in a slot that a worker served makes it no missed one.
		r.Insert(rig.At("12:30"), prescient.NewJob{Entity: rig.Order("late"), JobExec: "check", DueAt: rig.At("13:20")})
		sweep("13:32", 1)
		wantFinding(t, r.examine(rig.At("13:32"), Options{MissedAllowed: 0}), "missed", SeverityWarn, "1 of 2 slots")

		// Nor was one served whose rows only moved on.
		r.Insert(rig.At("12:30"), prescient.NewJob{Entity: rig.Order("rolled"), JobExec: "check", DueAt: rig.At("14:00")})
		run("13:45:01")
		rolled, err := r.Worker(rig.At("14:16"), done, worker.Options{Name: "timer"}).RollForward(t.Context(), nil)
		if err != nil || rolled.Moved != 1 {
			t.Errorf("%+v, %v", rolled, err)
		}
		wantFinding(t, r.examine(rig.At("14:16"), Options{}), "missed", SeverityWarn, "2 of 5 slots", "2 of these a sweep alone served", "2026-11-20T14:00:00Z")
		if kinds := r.Tally("SELECT run_by, COUNT(*) FROM p_slot_run GROUP BY run_by"); kinds["run"] != 3 || kinds["sweep"] != 1 || kinds["roll-forward"] != 1 {
			t.Errorf("the ledger says %v", kinds)
		}
	})
}

func TestWhichSlotsWereServedIsReadByTheLedgersKey(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.ReadPlans)
		f := r.Fill()
		conn, err := r.Pool(time.Time{}).Conn(t.Context())
		r.Must(err)
		defer conn.Close()
		served := rig.Explained{Statement: "operate/served", Query: f.Tables.Stmt.Get("operate/served"), Args: []any{rig.At("06:00"), rig.At("12:00"), servedProbe},
			Reached: map[string]string{"run": rig.BySlot, "p_slot_run": rig.BySlot}}
		served.Check(t, conn)
	})
}
