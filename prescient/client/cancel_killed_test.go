package client

import (
	"database/sql"
	"fmt"
	"testing"

	"prescient/prescient"
	"prescient/prescient/internal/rig"
)

// Where a CALL is killed the servers run none of the procedure's handlers, which would undo what it did.
func TestAKilledCancelLeavesNothingHalfDone(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.StoredProcedures)
		app := r.AppAs("app", rig.At("10:00"))
		app.SetMaxOpenConns(1)
		e := rig.Order("42")
		for name, open := range map[string]func() rig.Handle{
			"pool": func() rig.Handle { return rig.Handle{Db: app} },
			"read committed": func() rig.Handle {
				tx := rig.Begin(t, app, sql.LevelReadCommitted)
				return rig.Handle{Db: tx, Commit: tx.Commit}
			},
			"repeatable read": func() rig.Handle {
				tx := rig.Begin(t, app, sql.LevelRepeatableRead)
				return rig.Handle{Db: tx, Commit: tx.Commit}
			},
		} {
			for _, jobExec := range []string{"pay", "ship"} {
				r.put(app, prescient.NewJob{Entity: e, JobExec: jobExec, DueAt: rig.At("13:00")})
			}
			// The second of its rows is somebody else's.
			other := rig.Begin(t, r.Root, sql.LevelReadCommitted)
			var key string
			r.Must(other.QueryRow("SELECT HEX(job_key) FROM p_future_job FORCE INDEX (PRIMARY) WHERE next_check_at = '2026-11-20 13:00:00' ORDER BY job_key DESC LIMIT 1 FOR UPDATE").Scan(&key))
			h := open()
			done := make(chan error, 1)
			go func() {
				_, err := r.client.Cancel(t.Context(), h.Db, e)
				done <- err
			}()
			r.WaitForLock("p_job_history")
			r.Exec(fmt.Sprintf("KILL QUERY %d", r.Session("db = ? AND command = 'Query' AND id <> CONNECTION_ID()", r.D.Name)))
			if err := <-done; err == nil {
				t.Errorf("%s: a cancel that was killed says nothing", name)
			}
			r.Must(other.Rollback())
			if h.Commit != nil {
				r.Must(h.Commit())
			}
			// Its connection is in no transaction any more.
			r.put(app, prescient.NewJob{Entity: rig.Order("after"), JobExec: "ship", DueAt: rig.At("13:00")})
			if pending, ended := r.Count(rig.CountPending), r.Count(rig.CountEnded); pending != 3 || ended != 0 {
				t.Errorf("%s: %d are pending, %d have ended; want 3, and none", name, pending, ended)
			}
			r.Clear()
		}
	})
}

// The account that migrated may be gone.
func TestACancelNeedsNoProcedure(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.StoredProcedures)
		r.Account("app")
		for what, how := range map[string]string{
			"it is gone":          "DROP PROCEDURE p_cancel",
			"its definer is gone": "CREATE DEFINER = 'nobody'@'nowhere' PROCEDURE p_cancel(a VARCHAR(255), b VARCHAR(255), c VARCHAR(255)) SELECT 1",
		} {
			r.Exec("DROP PROCEDURE IF EXISTS p_cancel")
			if what == "its definer is gone" {
				r.Exec(how)
				r.Exec("GRANT EXECUTE ON PROCEDURE " + r.D.Name + ".p_cancel TO '" + r.User("app") + "'@'%'")
			}
			rig.EachHandle(t, r.AppAs("app", rig.At("10:00")), func(h rig.Handle) {
				r.put(r.AppAs("app", rig.At("10:00")), prescient.NewJob{Entity: rig.Order(h.Name), JobExec: "ship", DueAt: rig.At("13:00")})
				n, err := r.client.Cancel(t.Context(), h.Db, rig.Order(h.Name))
				if h.Done(t); n != 1 || err != nil {
					t.Errorf("%s, %s: cancelled %d, %v", what, h.Name, n, err)
				}
			})
			r.Clear()
		}
	})
}
