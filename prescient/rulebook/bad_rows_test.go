package rulebook_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"prescient/prescient/internal/rig"
	"prescient/prescient/localserver"
	"prescient/prescient/rule"
	"prescient/prescient/rulebook"
)

// What an app writes by plain SQL stays as it is, and holds up no walk: a check of the year 9999, whose new time no table could hold, and, on MariaDB, one
// that only a session takes which has switched the CHECKs off.
func TestABadRowHoldsUpNoWalk(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.ColumnDefaults)
		r.put(nil)
		r.report(5, r.now.Add(time.Hour))
		app, err := r.AppAs("app", time.Time{}).Conn(t.Context())
		r.Must(err)
		defer app.Close()
		insert := func(key string, due time.Time) {
			_, err = app.ExecContext(t.Context(), "INSERT INTO p_future_job (entity_name, entity_key, job_exec, tag, due_at, rule_version, occasion_at) VALUES ('order', ?, 'check', 'rule:remind', ?, 1, ?)",
				key, due, due.Add(-remind.Delay))
			r.Must(err)
		}
		bad := 1
		insert("far", time.Date(9999, 12, 30, 3, 0, 0, 0, time.UTC))
		if r.D.Flavour == localserver.MariaDB {
			_, err = app.ExecContext(t.Context(), "SET SESSION check_constraint_checks = OFF")
			r.Must(err)
			insert("unseen \u200b", r.now.Add(4*time.Hour))
			bad++
		}
		r.put(func(is *rule.Rule) { is.Delay = 3650 * 24 * time.Hour })
		if did := r.step(); did.Moved != 5 || did.LeftOut != bad-1 || r.Count("SELECT COUNT(*) FROM p_future_job WHERE rule_version = 1") != bad {
			t.Errorf("%+v", did)
		}
		// The clock of a server that was ahead has dated the change: the walk waits no longer for it.
		r.Exec("UPDATE p_rule SET updated_at = '9999-12-31'")
		r.Exec("DELETE FROM p_future_job WHERE rule_version = 1")
		began := time.Now()
		if r.walk(); time.Since(began) > time.Minute {
			t.Errorf("it rested for %s", time.Since(began))
		}
	})
}

// An app's open transaction that has reported an occasion keeps no checks of others from being moved but the one beside its own, and on MariaDB alone.
func TestAnOpenTransactionKeepsOneNeighbourAtMost(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		r.put(nil)
		r.report(8, r.now.Add(time.Hour))
		tx, err := r.App.BeginTx(t.Context(), nil)
		r.Must(err)
		defer tx.Rollback()
		_, err = r.Client.Happened(t.Context(), tx, "placed", rig.Order("open"), r.now.Add(time.Hour), nil)
		r.Must(err)
		r.put(func(is *rule.Rule) { is.Delay = 5 * time.Hour })
		if did := r.step(); did.Moved < 7 || did.Moved+did.LeftOut != 8 {
			t.Errorf("%+v", did)
		}
		r.Must(tx.Commit())
		if did := r.step(); did.LeftOut != 0 || r.Count("SELECT COUNT(*) FROM p_future_job WHERE rule_version = 2") != 9 {
			t.Errorf("after its commit: %+v", did)
		}
	})
}

// step walks over one page.
func (r *testRig) step() (did rulebook.Step) {
	r.T.Helper()
	ctx, stop := context.WithCancel(r.T.Context())
	defer stop()
	_, err := r.book.WorkOn(ctx, r.db, "remind", "w", func(s rulebook.Step) {
		did = s
		stop()
	})
	if !errors.Is(err, context.Canceled) {
		r.Must(err)
	}
	return did
}
