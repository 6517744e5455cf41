package reslot

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/errno"
	"prescient/prescient/internal/rig"
	"prescient/sql/migrate"
)

// A session may write, by an sql_mode of its own, a time that is no day of the calendar: the table takes none, and one from before keeps nobody
// stopped.
func TestATimeThatIsNoDayStopsNoChangeOfTheResolution(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.ColumnDefaults)
		app := r.As("app", time.Time{})
		app.SetMaxOpenConns(1)
		_, err := app.Exec("SET SESSION sql_mode = 'ALLOW_INVALID_DATES'")
		r.Must(err)
		odd := func(key, columns, values string) error {
			_, err := app.Exec("INSERT INTO p_future_job (entity_name, entity_key, job_exec, " + columns + ") VALUES ('order', '" + key + "', 'check', " + values + ")")
			return err
		}
		rows := map[string][2]string{
			"due":     {"due_at", "'2026-02-31'"},
			"expires": {"due_at, expires_at", "'2027-03-01', '2027-02-31'"},
			"zero":    {"due_at, first_check_at, next_check_at", "'2027-03-01', '2027-03-01', '2027-00-00'"},
			"slot":    {"due_at, first_check_at, next_check_at", "'2027-03-01', '2027-03-01', '2027-02-31'"},
		}
		for key, row := range rows {
			if err := odd(key, row[0], row[1]); !errno.Is(err, errno.CheckMySQL, errno.CheckMariaDB) {
				t.Errorf("%s: %v", key, err)
			}
		}
		r.Exec("ALTER TABLE p_future_job DROP CONSTRAINT p_future_job_calendar") // as tables are that had such rows when it was to come
		for key, row := range rows {
			r.Must(odd(key, row[0], row[1]))
		}
		if _, err := r.reslotOn(t.Context(), r.Pool(time.Time{}), 5*time.Minute, nil); !errors.Is(err, prescient.ErrInvalid) {
			t.Errorf("%v; want it refused", err)
		}
		if did, err := migrate.Repair(t.Context(), r.Root, migrate.Schema{Prefix: "p_", Resolution: 15 * time.Minute, Dialect: r.Setting}); err != nil || len(did.Left) != 1 ||
			!strings.Contains(did.Left[0].Lost, "DELETE FROM p_future_job") {
			t.Errorf("%+v, %v", did, err)
		}
		if n := r.Count("SELECT COUNT(*) FROM p_slot_config WHERE resolution_to_s IS NOT NULL"); n != 0 {
			t.Error("everybody is stopped")
		}
		// Those that came after it had begun.
		job, err := newReslot(r.Pool(time.Time{}), Options{Prefix: "p_", Resolution: 5 * time.Minute, LeaseWait: -1})
		r.Must(err)
		r.Must(job.announce(t.Context()))
		if did := r.reslotTo(5 * time.Minute); !did.Resumed {
			t.Errorf("%+v", did)
		}
		for range rows {
			_, err := r.reslotOn(t.Context(), r.Pool(time.Time{}), 15*time.Minute, nil)
			_, advice, is := strings.Cut(fmt.Sprint(err), "DELETE ")
			if !is {
				t.Fatalf("%v; want what takes the row away", err)
			}
			r.Exec("DELETE " + advice)
		}
		r.reslotTo(15 * time.Minute)
		if did, err := migrate.Repair(t.Context(), r.Root, migrate.Schema{Prefix: "p_", Resolution: 15 * time.Minute, Dialect: r.Setting}); err != nil || len(did.Left) != 0 || len(did.Done) != 1 {
			t.Errorf("%+v, %v", did, err)
		}
	})
}
