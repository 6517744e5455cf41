package rulebook_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"prescient/prescient"
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

// What a rule says has been deleted by SQL: that is said, and not that somebody else has made or changed it.
func TestARuleWithoutWhatItSaysIsNamed(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *testRig) {
		r.put(nil)
		old, err := r.db.BeginTxx(t.Context(), &sql.TxOptions{Isolation: sql.LevelRepeatableRead})
		r.Must(err)
		defer old.Rollback()
		r.Must(old.GetContext(t.Context(), new(int), "SELECT COUNT(*) FROM p_rule"))
		made := remind
		made.Name = "made"
		_, err = r.book.Create(t.Context(), r.db, made)
		r.Must(err)
		if _, _, err := r.book.Put(t.Context(), old, made, 0, rule.Move); !errors.Is(err, rulebook.ErrStale) {
			t.Errorf("in a transaction that began before: %v", err)
		}
		r.Must(old.Rollback())
		r.Exec("DELETE FROM p_rule_version WHERE rule = 'remind'")
		_, _, put := r.book.Put(t.Context(), r.db, remind, 0, rule.Move)
		_, created := r.book.Create(t.Context(), r.db, remind)
		for _, err := range []error{put, created, r.book.Delete(t.Context(), r.db, "remind", rule.Leave)} {
			if !errors.Is(err, prescient.ErrNotFound) || !strings.Contains(err.Error(), "version 1 of rule remind: its row of rule_version was deleted") {
				t.Error(err)
			}
		}
	})
}

// Of a rule that was deleted long ago a prune has deleted what it said: it counts no longer, and its versions go on where it is made anew, since processes
// remember what a version says.
func TestARuleThatWasPrunedIsMadeAnew(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *testRig) {
		for made := range uint32(2) {
			version := 1 + 2*made
			if made == 0 {
				r.put(nil)
			} else if now, err := r.book.Create(t.Context(), r.db, remind); err != nil || now != version {
				t.Fatalf("version %d, %v; want %d", now, err, version)
			}
			r.report(1, r.now.Add(time.Hour))
			if n := r.Count(fmt.Sprintf("SELECT COUNT(*) FROM p_future_job WHERE rule_version = %d", version)); n != 1 {
				t.Errorf("%d checks of version %d", n, version)
			}
			r.Must(r.book.Delete(t.Context(), r.db, "remind", rule.End))
			r.walk()
			r.Exec("DELETE FROM p_rule_version")
			if err := r.book.Delete(t.Context(), r.db, "remind", rule.Leave); !errors.Is(err, rulebook.ErrNotFound) {
				t.Error(err)
			}
		}
		other := remind
		other.JobExec = "other"
		if _, err := r.book.Create(t.Context(), r.db, other); !errors.Is(err, rulebook.ErrFixed) {
			t.Error(err)
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
