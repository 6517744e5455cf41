package acceptance

import (
	"database/sql"
	"errors"
	"fmt"
	"testing"

	"github.com/go-sql-driver/mysql"

	"prescient/prescient"
	"prescient/prescient/client"
	"prescient/prescient/internal/errno"
	"prescient/prescient/internal/rig"
	"prescient/prescient/localserver/servertest"
)

func TestBeginAgainIsForWhatOthersGotInTheWayOf(t *testing.T) {
	for number, want := range map[uint16]bool{1213: true, 1205: true, 1020: true, 1412: true, 3101: true, 9007: true,
		1062: false, 1064: false, 1142: false, 1317: false, 3819: false} {
		err := fmt.Errorf("cancelling: %w", errors.Join(&mysql.MySQLError{Number: number}, errors.New("rolling back")))
		if got := client.BeginAgain(err); got != want {
			t.Errorf("error %d: %t", number, got)
		}
	}
	for _, err := range []error{nil, prescient.ErrPending, prescient.ErrNotFound, mysql.ErrInvalidConn, sql.ErrTxDone} {
		if client.BeginAgain(err) {
			t.Errorf("%v: begin again", err)
		}
	}
}

// beginsAgain does what is asked of an app: where its transaction was refused a row, it rolls it back, and does all of it
// again in another.
func (r *testRig) beginsAgain(db *sql.DB, tx *sql.Tx, do func(tx *sql.Tx) error) error {
	r.T.Helper()
	err := do(tx)
	if errno.Is(err, errno.CheckRead) && client.BeginAgain(err) && r.Refuses(db) {
		r.Must(tx.Rollback())
		tx = rig.Begin(r.T, db, sql.LevelRepeatableRead)
		err = do(tx)
	}
	return errors.Join(err, tx.Commit())
}

// A transaction of the app under REPEATABLE READ has read something, and then somebody else moves the row that it means
// to write. MariaDB with innodb_snapshot_isolation, which is how it comes from 11.6 on, refuses it that row and rolls back
// all that it did.
func TestARowThatWasChangedAfterTheSnapshotHasTheAppBeginAgain(t *testing.T) {
	besideOthers(t, func(t *testing.T, r *testRig) {
		r.Exec("CREATE TABLE domain (n INT)")
		r.Also("app-reschedule", "SELECT, INSERT", "domain")
		params := rig.FixedClock(rig.At("10:00"))
		_, err := r.Root.Exec("SET SESSION innodb_snapshot_isolation = ON")
		refuses := !errno.Is(err, errno.UnknownVariable)
		if refuses {
			r.Must(err)
			params += "&innodb_snapshot_isolation=1"
		}
		app := servertest.Open(t, r.Account("app-reschedule"), params)
		e := rig.Order("42")
		for name, write := range map[string]func(db prescient.DB) error{
			"Cancel": func(db prescient.DB) error { _, err := r.Client.Cancel(t.Context(), db, e); return err },
			"Reschedule": func(db prescient.DB) error {
				_, err := r.Client.Reschedule(t.Context(), db, e, "ship", "", rig.At("18:00"))
				return err
			},
			"Insert": func(db prescient.DB) error {
				_, err := r.Client.Insert(t.Context(), db, prescient.NewJob{Entity: e, JobExec: "ship", DueAt: rig.At("18:00"), OnPending: prescient.Replace})
				return err
			},
			"the procedure": func(db prescient.DB) error { _, err := rig.Call(t.Context(), db, "order", "42", nil); return err },
		} {
			r.Clear()
			r.Exec("DELETE FROM domain")
			r.Insert(rig.At("10:00"), prescient.NewJob{Entity: e, JobExec: "ship", DueAt: rig.At("12:00")})
			event := func(tx *sql.Tx) error {
				_, err := tx.Exec("INSERT INTO domain SELECT COUNT(*) FROM p_slot_config")
				return err
			}
			tx := rig.Begin(t, app, sql.LevelRepeatableRead)
			r.Must(event(tx))
			var n int
			r.Must(tx.QueryRow("SELECT COUNT(*) FROM domain").Scan(&n))
			_, err = r.Client.Reschedule(t.Context(), r.AppAt(rig.At("10:00")), e, "ship", "", rig.At("16:00"))
			r.Must(err)

			err = write(tx)
			if client.BeginAgain(err) != refuses || errno.Is(err, errno.CheckRead) != refuses {
				t.Fatalf("%s: %v; the server refuses such rows: %t", name, err, refuses)
			}
			r.Must(tx.Commit()) // an app that took no notice
			if n := r.Count("SELECT COUNT(*) FROM domain"); (n == 0) != refuses {
				t.Errorf("%s: %d rows of the app's own are there after %v", name, n, err)
			}
			if refuses {
				tx = rig.Begin(t, app, sql.LevelRepeatableRead)
				r.Must(event(tx))
				r.Must(write(tx))
				r.Must(tx.Commit())
			}
			if n := r.Count("SELECT COUNT(*) FROM domain"); n != 1 {
				t.Errorf("%s: %d rows of the app's own in the end; want 1", name, n)
			}
			if n := r.Count("SELECT COUNT(*) FROM p_future_job WHERE due_at = '2026-11-20 16:00:00'"); n != 0 {
				t.Errorf("%s: what it is about is still as another moved it", name)
			}
		}
	})
}
