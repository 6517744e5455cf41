package prescient

import (
	"database/sql"
	"errors"
	"fmt"
	"testing"

	"github.com/go-sql-driver/mysql"

	"prescient/prescient/internal/servertest"
)

func TestBeginAgainIsForWhatOthersGotInTheWayOf(t *testing.T) {
	for number, want := range map[uint16]bool{1213: true, 1205: true, 1020: true, 1412: true, 3101: true, 9007: true,
		1062: false, 1064: false, 1142: false, 1317: false, 3819: false} {
		err := fmt.Errorf("cancelling: %w", errors.Join(&mysql.MySQLError{Number: number}, errors.New("rolling back")))
		if got := BeginAgain(err); got != want {
			t.Errorf("error %d: %t", number, got)
		}
	}
	for _, err := range []error{nil, ErrPending, ErrNotFound, mysql.ErrInvalidConn, sql.ErrTxDone} {
		if BeginAgain(err) {
			t.Errorf("%v: begin again", err)
		}
	}
}

// refuses says whether the connections of a pool refuse rows that were changed after the snapshot of their transaction.
func (r *rig) refuses(db *sql.DB) bool {
	r.t.Helper()
	var name, value string
	err := db.QueryRow("SHOW SESSION VARIABLES LIKE 'innodb_snapshot_isolation'").Scan(&name, &value)
	if errors.Is(err, sql.ErrNoRows) {
		return false
	}
	r.must(err)
	return value == "ON"
}

// beginsAgain does what is asked of an app: where its transaction was refused a row, it rolls it back, and does all of it
// again in another.
func (r *rig) beginsAgain(db *sql.DB, tx *sql.Tx, do func(tx *sql.Tx) error) error {
	r.t.Helper()
	err := do(tx)
	if isError(err, errCheckRead) && BeginAgain(err) && r.refuses(db) {
		r.must(tx.Rollback())
		tx = begin(r.t, db, sql.LevelRepeatableRead)
		err = do(tx)
	}
	return errors.Join(err, tx.Commit())
}

// A transaction of the app under REPEATABLE READ has read something, and then somebody else moves the row that it means
// to write. MariaDB with innodb_snapshot_isolation, which is how it comes from 11.6 on, refuses it that row and rolls back
// all that it did.
func TestARowThatWasChangedAfterTheSnapshotHasTheAppBeginAgain(t *testing.T) {
	eachServer(t, func(t *testing.T, r *rig) {
		r.exec("CREATE TABLE domain (n INT)")
		r.also("app-reschedule", "SELECT, INSERT", "domain")
		params := fixedClock(at("10:00"))
		_, err := r.root.Exec("SET SESSION innodb_snapshot_isolation = ON")
		refuses := !isError(err, errUnknownVariable)
		if refuses {
			r.must(err)
			params += "&innodb_snapshot_isolation=1"
		}
		app := servertest.Open(t, r.account("app-reschedule"), params)
		e := order("42")
		for name, write := range map[string]func(db DB) error{
			"Cancel": func(db DB) error { _, err := r.client.Cancel(t.Context(), db, e); return err },
			"Reschedule": func(db DB) error {
				_, err := r.client.Reschedule(t.Context(), db, e, "ship", "", at("18:00"))
				return err
			},
			"Insert": func(db DB) error {
				_, err := r.client.Insert(t.Context(), db, NewJob{Entity: e, JobExec: "ship", DueAt: at("18:00"), OnPending: Replace})
				return err
			},
			"the procedure": func(db DB) error { _, err := call(t.Context(), db, "order", "42", nil); return err },
		} {
			r.clear()
			r.exec("DELETE FROM domain")
			r.insert(at("10:00"), NewJob{Entity: e, JobExec: "ship", DueAt: at("12:00")})
			event := func(tx *sql.Tx) error {
				_, err := tx.Exec("INSERT INTO domain SELECT COUNT(*) FROM p_slot_config")
				return err
			}
			tx := begin(t, app, sql.LevelRepeatableRead)
			r.must(event(tx))
			var n int
			r.must(tx.QueryRow("SELECT COUNT(*) FROM domain").Scan(&n))
			_, err = r.client.Reschedule(t.Context(), r.appAt(at("10:00")), e, "ship", "", at("16:00"))
			r.must(err)

			err = write(tx)
			if BeginAgain(err) != refuses || isError(err, errCheckRead) != refuses {
				t.Fatalf("%s: %v; the server refuses such rows: %t", name, err, refuses)
			}
			r.must(tx.Commit()) // an app that took no notice
			if n := r.count("SELECT COUNT(*) FROM domain"); (n == 0) != refuses {
				t.Errorf("%s: %d rows of the app's own are there after %v", name, n, err)
			}
			if refuses {
				tx = begin(t, app, sql.LevelRepeatableRead)
				r.must(event(tx))
				r.must(write(tx))
				r.must(tx.Commit())
			}
			if n := r.count("SELECT COUNT(*) FROM domain"); n != 1 {
				t.Errorf("%s: %d rows of the app's own in the end; want 1", name, n)
			}
			if n := r.count("SELECT COUNT(*) FROM p_future_job WHERE due_at = '2026-11-20 16:00:00'"); n != 0 {
				t.Errorf("%s: what it is about is still as another moved it", name)
			}
		}
	})
}
