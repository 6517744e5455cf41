package bulk_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/bulk"
	"prescient/prescient/internal/rig"
	"prescient/prescient/localserver"
)

// An app's failed INSERT of a pending check leaves a lock in UNIQUE (job_key) alone. The deed does not wait for it.
func TestALockOfAFailedInsertIsPassedBy(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.ColumnDefaults)
		r.put("ship", 20, r.soon)
		p := r.begin(bulk.Asked{Deed: bulk.Cancel, Filter: bulk.Filter{JobExec: "ship"}})
		tx, err := r.App.BeginTx(t.Context(), nil)
		r.Must(err)
		defer tx.Rollback()
		if _, err := tx.Exec("INSERT INTO p_future_job (entity_name, entity_key, job_exec, due_at) VALUES ('order', 'ship-3', 'ship', ?)", r.soon.Add(time.Hour)); err == nil {
			t.Fatal("it was inserted twice")
		}
		over, err := r.bulk.WorkOn(t.Context(), r.db, p.Number, "w", func(run bulk.Run) {
			if run.Pass == 2 {
				if tx.Rollback() == nil && run.Done != 19 {
					t.Errorf("%+v", run)
				}
			}
		})
		r.Must(err)
		if got := r.counts(); !over || got != "ship cancelled 20" {
			t.Errorf("%t: %s", over, got)
		}
	})
}

// Rows that no program wrote end by themselves, and are in nobody's way.
func TestABadRowIsInNobodysWay(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *testRig) {
		r.put("ship", 3, r.soon)
		row := func(deed, filter, cutoff, pass string) {
			r.Exec("INSERT INTO p_bulk_run (deed, filter, cutoff, person, reason, host, matched, is_exact, token, token_until, started_at, pass, left_out) VALUES ('" +
				deed + "', '" + filter + "', " + cutoff + ", 'a', '', '', 0, 2, REPEAT('x', 32), '2026-11-20', '2026-11-20', " + pass + ", 7)")
		}
		for _, filter := range []string{"x", "{}", "null", `{"jobexec":"ship"}`, `{"job_exec":"ship","slot":"0001-01-01T00:00:00Z"}`, `{"job_exec":"ship","colour":"red"}`, `{"job_exec":"ship","spread_ms":7}`, `{"job_exec":"ship"}{"reason":"x"}`} {
			row("cancel", filter, "'2026-11-19'", "1")
		}
		row("cancel", `{"job_exec":"ship"}`, "'2026-11-21'", "1") // a cutoff behind its begin
		row("reschedule", `{"job_exec":"ship"}`, "'2026-11-19'", "1")
		row("cancel", `{"job_exec":"nothing"}`, "'2026-11-19'", "0")
		p := r.begin(bulk.Asked{Deed: bulk.Cancel, Filter: bulk.Filter{JobExec: "ship"}})
		r.Must(r.bulk.Work(t.Context(), r.db, "w", nil))
		runs, err := r.bulk.List(t.Context(), r.db, 0, 100)
		r.Must(err)
		for _, run := range runs {
			if run.EndedAt == nil || run.Done != 0 && run.Number != p.Number || (run.Error == "") != (run.Number == p.Number || run.Filter.JobExec == "nothing") {
				t.Errorf("%+v", run)
			}
		}
		if got := r.counts(); got != "ship cancelled 3" {
			t.Error(got)
		}
	})
}

// A check that plain SQL wrote with the CHECKs off, as MariaDB lets any session do, and that the server does not write again, is refused, and holds up no other.
func TestACheckThatTheServerDoesNotWriteIsRefused(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		if r.D.Flavour != localserver.MariaDB {
			t.Skip("no session switches the CHECKs off")
		}
		r.put("ship", 3, r.soon)
		app, err := r.AppAs("app", time.Time{}).Conn(t.Context())
		r.Must(err)
		defer app.Close()
		_, err = app.ExecContext(t.Context(), "SET SESSION check_constraint_checks = OFF, sql_mode = 'ALLOW_INVALID_DATES'")
		r.Must(err)
		const insert = "INSERT INTO p_future_job (entity_name, entity_key, job_exec, due_at, next_check_at, first_check_at) VALUES ('order', ?, 'ship', ?, ?, ?)"
		_, err = app.ExecContext(t.Context(), insert, "unseen \u200b", r.soon, r.soon, r.soon)
		r.Must(err)
		_, err = app.ExecContext(t.Context(), insert, "no day", "2026-02-31 00:00:00", r.soon, r.soon)
		r.Must(err)
		later := r.soon.Add(time.Hour)
		if run := r.work(r.begin(bulk.Asked{Deed: bulk.Reschedule, Filter: bulk.Filter{JobExec: "ship"}, DueAt: &later})); run.Done != 4 || run.Refused != 1 {
			t.Errorf("rescheduled: %+v", run)
		}
		r.Exec("SET STATEMENT sql_mode = 'ALLOW_INVALID_DATES', check_constraint_checks = OFF FOR UPDATE p_future_job SET due_at = '2026-02-31' WHERE entity_key = 'no day'")
		if run := r.work(r.begin(bulk.Asked{Deed: bulk.Cancel, Filter: bulk.Filter{JobExec: "ship"}})); run.Done != 4 || run.Refused != 1 || r.Count(rig.CountEnded) != 4 {
			t.Errorf("cancelled: %+v", run)
		}
	})
}

func TestAPreviewThatWasStoppedDoesNotBegin(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *testRig) {
		p, err := r.bulk.Preview(t.Context(), r.db, bulk.Asked{Deed: bulk.Cancel, Filter: bulk.Filter{JobExec: "ship"}}, by)
		r.Must(err)
		r.Must(r.bulk.Stop(t.Context(), r.db, p.Number))
		if err := r.bulk.Start(t.Context(), r.db, p.Number, p.Token); !errors.Is(err, bulk.ErrToken) {
			t.Error(err)
		}
	})
}

func TestWhatNoDeedCanBe(t *testing.T) {
	now, tomorrow := time.Now(), time.Now().Add(24*time.Hour)
	ship := bulk.Filter{JobExec: "ship"}
	var zero time.Time
	for name, asked := range map[string]bulk.Asked{
		"deed":       {Deed: "destroy", Filter: ship},
		"everything": {Deed: bulk.Cancel},
		"slot":       {Deed: bulk.Cancel, Filter: bulk.Filter{Slot: &now, From: &now}},
		"outcome":    {Deed: bulk.Cancel, Filter: bulk.Filter{JobExec: "ship", Outcome: prescient.Done}},
		"since when": {Deed: bulk.Requeue, Filter: bulk.Filter{JobExec: "ship", Outcome: prescient.Done}},
		"when":       {Deed: bulk.Reschedule, Filter: ship},
		"due time":   {Deed: bulk.Cancel, Filter: ship, DueAt: &tomorrow},
		"spread is":  {Deed: bulk.Cancel, Filter: ship, SpreadMS: 1},
		"spread_ms":  {Deed: bulk.Reschedule, Filter: ship, DueAt: &tomorrow, SpreadMS: -1},
		"job_exec":   {Deed: bulk.Cancel, Filter: bulk.Filter{JobExec: "a b"}},
		"schedules":  {Deed: bulk.Cancel, Filter: bulk.Filter{EntityName: "schedule"}},
		"before":     {Deed: bulk.Cancel, Filter: bulk.Filter{JobExec: "ship", Before: &zero}},
		"due_at":     {Deed: bulk.Requeue, Filter: bulk.Filter{JobExec: "ship", Outcome: prescient.Done, From: &now}, DueAt: &zero},
		"perfect":    {Deed: bulk.Requeue, Filter: bulk.Filter{JobExec: "ship", Outcome: "perfect", From: &now}},
	} {
		if err := asked.Validate(); !errors.Is(err, prescient.ErrInvalid) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
