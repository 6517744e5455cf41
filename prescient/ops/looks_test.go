package ops_test

import (
	"errors"
	"strings"
	"testing"

	"prescient/prescient"
	"prescient/prescient/internal/rig"
	"prescient/prescient/internal/rig/served"
	"prescient/prescient/ops"
)

// The accounts of serve may look at all that the doctor and the status look at.
func TestEachRoleLooksAtEverything(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *served.Rig) {
		r.Needs(t, rig.ColumnDefaults)
		o := r.OpsAt(rig.At("10:00"))
		_, err := ops.InsertChecks.Do(t.Context(), o, served.By(ops.Operator), ops.Inserting{Checks: []ops.NewCheck{served.Check("42", "ship", rig.At("13:01"))}})
		r.Must(err)
		o = r.OpsAt(rig.At("13:40"))
		for _, role := range ops.Roles {
			found, err := ops.Examine.Do(t.Context(), o, served.By(role), ops.DoctorAsked{})
			r.Must(err)
			var codes []string
			for _, f := range found.Findings {
				codes = append(codes, f.Code)
				if strings.Contains(f.Text, "could not be looked at") || strings.Contains(f.Text, "may not read") || strings.Contains(f.Text, "lacks") || f.Code == "grants.surplus" && f.Severity.Wrong() {
					t.Errorf("%s: %+v", role, f)
				}
			}
			if list := strings.Join(codes, " "); !found.Severity.Wrong() || !strings.Contains(list, "overdue") || !strings.Contains(list, "schedules") || !strings.Contains(list, "audit") {
				t.Errorf("%s: %s, %s", role, found.Severity, list)
			}
			report, err := ops.Status.Do(t.Context(), o, served.By(role), struct{}{})
			r.Must(err)
			if report.Backlog.Checks != 1 || !report.Severity.Wrong() {
				t.Errorf("%s: %+v", role, report)
			}
			for _, f := range report.Unseen {
				if strings.Contains(f.Text, "may not read") {
					t.Errorf("%s: %+v", role, f)
				}
			}
			few, err := ops.Examine.Do(t.Context(), o, served.By(role), ops.DoctorAsked{Only: []string{"overdue"}})
			r.Must(err)
			if len(few.Findings) != 1 {
				t.Errorf("%+v", few)
			}
			for _, wrong := range []ops.DoctorAsked{{Only: []string{"colour"}}, {Ignore: []string{"colour"}}, {Ignore: []string{"tables"}}} {
				if _, err := ops.Examine.Do(t.Context(), o, served.By(role), wrong); !errors.Is(err, prescient.ErrInvalid) {
					t.Errorf("%+v: %v", wrong, err)
				}
			}
		}
	})
}

// Somebody who asks for ever other codes does not have it all examined anew.
func TestWhatIsExaminedOnceIsSoWhateverIsWantedOfIt(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *served.Rig) {
		h := &rig.Hooks{}
		o := r.HookedOps(rig.At("10:00"), h)
		sent := func(asked ops.DoctorAsked) int {
			t.Helper()
			count := func() int {
				h.Mu.Lock()
				defer h.Mu.Unlock()
				return len(h.Log)
			}
			before := count()
			_, err := ops.Examine.Do(t.Context(), o, served.By(ops.Viewer), asked)
			r.Must(err)
			return count() - before
		}
		for i, asked := range []ops.DoctorAsked{{}, {Only: []string{"overdue"}}, {Ignore: []string{"paused"}}} {
			if n := sent(asked); (n > 0) != (i == 0) {
				t.Errorf("%+v: %d statements", asked, n)
			}
		}
	})
}

// An admin sees which check somebody has locked; what it takes to see whose transaction that is, is said.
func TestWhoIsInTheWayIsForAdmins(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *served.Rig) {
		r.Needs(t, rig.SkipLocked)
		_, err := ops.InsertChecks.Do(t.Context(), r.OpsAt(rig.At("10:00")), served.By(ops.Operator), ops.Inserting{Checks: []ops.NewCheck{served.Check("42", "ship", rig.At("10:31"))}})
		r.Must(err)
		r.Exec("UPDATE p_future_job SET next_check_at = '2026-11-20 10:45:00', first_check_at = '2026-11-20 10:45:00'")
		tx, err := r.Root.Begin()
		r.Must(err)
		_, err = tx.Exec("SELECT * FROM p_future_job FOR UPDATE")
		r.Must(err)
		o := r.OpsAt(rig.At("13:40"))
		if _, err := ops.Blocking.Do(t.Context(), o, served.By(ops.Operator), ops.BlockingAsked{}); !errors.Is(err, ops.ErrForbidden) {
			t.Errorf("an operator: %v", err)
		}
		found, err := ops.Blocking.Do(t.Context(), o, served.By(ops.Admin), ops.BlockingAsked{})
		r.Must(err)
		if len(found.Locked) != 1 || found.Locked[0].EntityKey != "42" || len(found.Locked[0].By) == 0 && len(found.Unseen) == 0 {
			t.Errorf("%+v", found)
		}
		r.Must(tx.Rollback())
	})
}
