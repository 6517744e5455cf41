package longrun_test

import (
	"testing"

	"prescient/prescient"
	"prescient/prescient/internal/rig"
)

// Leases of a minute are renewed every 20 s, here by hand.
func TestARenewalMovesTheCheckAheadOfTheSlotThatComesNext(t *testing.T) {
	runs(t, func(t *testing.T, r *testRig) {
		for _, name := range []string{"a", "b", "c"} {
			r.insert("11:59:30", name, "12:00")
		}
		r.slot("12:00:00")
		for _, step := range []struct{ at, slot string }{
			{"12:00:00", "12:01:30"}, // the first after the lease
			{"12:00:40", "12:01:30"}, // it is renewed once more before that
			{"12:01:05", "12:02:30"}, // the first after the lease again
		} {
			r.at(step.at)
			r.Must(r.runner.RenewAll())
			if n := r.Count("SELECT COUNT(*) FROM p_future_job WHERE next_check_at = ? AND due_at = '2026-11-20 12:00:00'", rig.At(step.slot)); n != 3 {
				t.Errorf("%s: %d checks wait for %s; want all 3", step.at, n, step.slot)
			}
		}
		if figures := r.slot("12:01:30"); figures.PutOff != 0 {
			t.Errorf("%+v; want no check met", figures)
		}
		r.answers("a", "12:01:40", prescient.Answer{})
		r.answers("b", "12:01:40", prescient.Answer{Next: prescient.At(rig.At("12:10"))})
		r.wantOutcome("a", "done")
		first := r.forget("c")
		r.slotOf(r.another("agent-2"), "agent-2", "12:02:30") // the first let it lapse
		if second := r.running("c"); second.run.Takeovers() != 1 || second.run.Token() <= first.run.Token() {
			t.Errorf("%d takeovers", second.run.Takeovers())
		}
		r.answers("c", "12:02:40", prescient.Answer{})
		r.wantOutcome("c", "done")
		r.Balanced()
	})
}

func TestARenewalWaitsForNobodyWhoHasACheckLocked(t *testing.T) {
	runs(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.SkipLocked) // or none is moved
		r.insert("11:59:30", "a", "12:00")
		r.insert("11:59:30", "b", "12:00")
		r.slot("12:00:00")
		r.at("12:00:40")
		r.Must(r.runner.RenewAll())
		tx, err := r.Root.Begin()
		r.Must(err)
		defer tx.Rollback()
		key := prescient.KeyOf(prescient.Entity{Name: "report", Key: "b"}, "export", "")
		_, err = tx.Exec("UPDATE p_future_job SET payload = '{}' WHERE next_check_at = ? AND job_key = ?", rig.At("12:01:30"), key[:])
		r.Must(err)
		r.at("12:01:05")
		r.Must(r.runner.RenewAll())
		r.Must(tx.Rollback())
		if n := r.Count("SELECT COUNT(*) FROM p_future_job WHERE next_check_at = ?", rig.At("12:02:30")); n != 1 {
			t.Errorf("%d checks were moved; want that of a", n)
		}
		if figures := r.slot("12:01:30"); figures.PutOff != 1 {
			t.Errorf("%+v; want the slot run to move what was locked", figures)
		}
		r.answers("a", "12:01:40", prescient.Answer{})
		r.answers("b", "12:01:40", prescient.Answer{})
		r.Balanced()
	})
}

// Somebody has the row of one run locked for as long as a lease: the others are kept, and so is that one, once it is free.
func TestOneLockedRunCostsNoOtherItsLease(t *testing.T) {
	runs(t, func(t *testing.T, r *testRig) {
		for _, name := range []string{"a", "b", "c"} {
			r.insert("11:59:30", name, "12:00")
		}
		r.slot("12:00:00")
		key := prescient.KeyOf(prescient.Entity{Name: "report", Key: "b"}, "export", "")
		tx, err := r.Root.Begin()
		r.Must(err)
		defer tx.Rollback()
		_, err = tx.Exec("UPDATE p_long_run SET takeovers = takeovers WHERE job_key = ?", key[:])
		r.Must(err)
		until := func(want string, n int) {
			t.Helper()
			if got := r.Count("SELECT COUNT(*) FROM p_long_run WHERE allocated_until = ?", rig.At(want)); got != n {
				t.Errorf("%d runs have a lease until %s; want %d", got, want, n)
			}
		}
		r.at("12:00:30")
		r.Must(r.runner.RenewAll())
		until("12:01:30", 2)
		r.Must(tx.Rollback())
		r.at("12:00:40")
		r.Must(r.runner.RenewAll())
		until("12:01:40", 3)
	})
}
