package acceptance

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/audit"
	"prescient/prescient/doctor"
	"prescient/prescient/internal/errno"
	"prescient/prescient/internal/rig"
	"prescient/prescient/prune"
	"prescient/prescient/reslot"
	"prescient/prescient/schedule"
	text "prescient/sql"
)

// streamOf is the stream of an object in plain SQL.
func streamOf(kind, id string) string {
	return fmt.Sprintf("SUBSTRING(UNHEX(SHA2(CONCAT('%s', UNHEX('00'), '%s'), 256)), 1, 16)", kind, id)
}

// forge writes an entry by plain SQL, as an account of an app may.
func (r *testRig) forge(db interface {
	Exec(string, ...any) (sql.Result, error)
}, kind, id, verb, version, incarnation string) {
	r.T.Helper()
	columns, values := "", ""
	if r.Setting == text.Plain {
		columns, values = "at, account, entry, ", "UTC_TIMESTAMP(6), 'nobody@nowhere', RANDOM_BYTES(8), "
	}
	_, err := db.Exec(fmt.Sprintf("INSERT INTO p_audit_log (%sstream, kind, id, verb, version, incarnation) VALUES (%s%s, '%s', '%s', '%s', %s, %s)",
		columns, values, streamOf(kind, id), kind, id, verb, version, incarnation))
	r.Must(err)
}

const highest = "18446744073709551615"

// Whatever an account of the role app writes into the audit, committed or not, everybody else goes on, and the doctor names it.
func TestAForgedEntryStopsNobodyAndIsNamed(t *testing.T) {
	t.Parallel()
	for _, open := range []bool{false, true} {
		t.Run(fmt.Sprint("open=", open), func(t *testing.T) {
			eachServer(t, func(t *testing.T, r *testRig) {
				s := schedule.New(r.Client)
				app := r.AppAt(time.Now().Add(time.Minute))
				for _, id := range []string{"a", "b", "c"} {
					_, err := s.Create(t.Context(), app, schedule.Schedule{ID: id, Crontabs: []string{"0 * * * *"}, Topic: "t"})
					r.Must(err)
				}
				// Nothing but entries: of what is there, of what is not, of every kind.
				tx, err := r.As("app", time.Time{}).BeginTxx(t.Context(), &sql.TxOptions{Isolation: sql.LevelSerializable})
				r.Must(err)
				defer tx.Rollback()
				made := "(SELECT created_at FROM p_schedule WHERE id = '%s')"
				for _, of := range [][4]string{{"schedule", "a", highest, fmt.Sprintf(made, "a")}, {"schedule", "b", "1", fmt.Sprintf(made, "b")}, {"schedule", "nothing", "7", "'2026-01-01'"},
					{"job_exec", "x", highest, "NULL"}, {"job_exec", "*", highest, "NULL"}, {"installation", "prescient", highest, "'9999-12-31'"}} {
					incarnation := of[3]
					if strings.HasPrefix(incarnation, "(") { // which the app reads first: a SELECT in SERIALIZABLE would lock the schedule itself
						var at string
						r.Must(r.As("app", time.Time{}).QueryRow("SELECT CAST(created_at AS CHAR) FROM p_schedule WHERE id = '" + of[1] + "'").Scan(&at))
						incarnation = "'" + at + "'"
					}
					r.forge(tx, of[0], of[1], "update", of[2], incarnation)
				}
				if !open {
					r.Must(tx.Commit())
				}
				quick := func(what string, do func() error) {
					t.Helper()
					began := time.Now()
					if err := do(); err != nil {
						t.Errorf("%s after %s: %v", what, time.Since(began), err)
					}
				}
				operator := r.As("operator", time.Time{})
				quick("pause of a schedule", func() error { _, err := s.Pause(t.Context(), app, "a"); return err })
				quick("pause of x", func() error { return r.Client.Pause(t.Context(), operator, prescient.Paused{JobExec: "x"}) })
				quick("pause of all", func() error {
					return r.Client.Pause(t.Context(), operator, prescient.Paused{JobExec: prescient.AllExecs})
				})
				quick("resume", func() error { _, err := r.Client.Resume(t.Context(), operator, prescient.AllExecs, "x"); return err })
				quick("delete", func() error { _, err := s.Delete(t.Context(), app, "b"); return err })
				quick("create again", func() error {
					_, err := s.Create(t.Context(), r.AppAt(time.Now().Add(2*time.Minute)), schedule.Schedule{ID: "b", Crontabs: []string{"0 * * * *"}, Topic: "t"})
					return err
				})
				quick("grants", func() error {
					var database string
					r.Must(r.Pool(time.Time{}).Get(&database, "SELECT DATABASE()"))
					_, entry, err := text.GrantEntry([]string{"app"}, text.Account{Database: database, Prefix: "p_", User: "somebody", Dialect: r.Setting})
					r.Must(err)
					_, err = r.As("owner", time.Time{}).Exec(entry)
					return err
				})
				quick("prune", func() error {
					_, err := prune.Run(t.Context(), r.As("owner", time.Time{}), prune.Options{Prefix: "p_", Keep: 30 * 24 * time.Hour, KeepAudit: 30 * 24 * time.Hour, TrustClock: true})
					return err
				})
				if r.Setting != text.Plain {
					quick("reslot", func() error {
						_, err := reslot.Run(t.Context(), r.Pool(time.Time{}), reslot.Options{Prefix: "p_", Resolution: 5 * time.Minute})
						return err
					})
				}
				if open {
					return
				}
				found, err := doctor.Examine(t.Context(), r.Pool(time.Time{}), doctor.Options{Prefix: "p_", Dialect: r.Setting, Use: doctor.UseOwner})
				r.Must(err)
				wantFound(t, found, "audit", doctor.SeverityBad, `schedule "a" lacks the versions 3 to `, `schedule "b" has version 1 twice`)
				wantFound(t, found, "audit.versions", doctor.SeverityWarn, `"a" (it has version 2, the audit `+highest+`)`)
				wantFound(t, found, "audit.deleted", doctor.SeverityWarn, `"nothing" (the audit says last: update)`)
				if n := r.Count("SELECT COUNT(*) FROM p_audit_log WHERE verb IN ('prune', 'grant', 'reslot')"); n != 3 && r.Setting != text.Plain {
					t.Errorf("%d entries of the installation", n)
				}
			})
		})
	}
}

// Times that are none, and states that are no JSON, keep nobody from reading the rest.
func TestAForgedEntryThatCannotBeReadIsListedAndNamed(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		r.Unchecked("p_audit_log") // entries of before that are there
		tx, err := r.As("app", time.Time{}).BeginTxx(t.Context(), nil)
		r.Must(err)
		defer tx.Rollback()
		_, err = tx.Exec("SET SESSION sql_mode = ''")
		r.Must(err)
		r.forge(tx, "schedule", "odd", "update", "2", "'2027-00-00'")
		r.forge(tx, "schedule", "zero", "update", "2", "'0000-00-00'")
		if r.Setting != text.Plain {
			_, err = tx.Exec("INSERT INTO p_audit_log (stream, kind, id, verb, before_change) VALUES (" + streamOf("schedule", "json") + ", 'schedule', 'json', 'update', '{')")
			r.Must(err)
		}
		r.Must(tx.Commit())
		db := r.As("owner", time.Time{})
		log, err := audit.Open(t.Context(), db, audit.Options{Prefix: "p_", Dialect: r.Setting})
		r.Must(err)
		list, err := log.List(t.Context(), db, audit.Filter{Kind: audit.Schedule})
		r.Must(err)
		if written, err := json.Marshal(list); err != nil || len(list) < 2 || len(list) == 3 && !strings.Contains(string(written), `"before":"{"`) {
			t.Errorf("%s: %v", written, err)
		}
		found, err := doctor.Examine(t.Context(), db, doctor.Options{Prefix: "p_", Dialect: r.Setting, Use: doctor.UseOwner})
		r.Must(err)
		wantFound(t, found, "audit", doctor.SeverityBad, `schedule "odd" has version 2 of 2027-00-00`, `schedule "zero" has version 2 of 0000-00-00`)
	})
}

// An account of an app can't hold what it may not read: every right that it has on the audit is to add to it.
func TestAnAppCannotLockTheAudit(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		for _, role := range []string{"app-sql", "app", "app-reschedule"} {
			for _, statement := range []string{
				"SELECT COUNT(at) FROM p_audit_log LOCK IN SHARE MODE", "SELECT stream FROM p_audit_log FOR UPDATE", "LOCK TABLES p_audit_log READ", "LOCK TABLES p_audit_log WRITE",
				"INSERT INTO p_audit_log (stream, kind, id, verb) SELECT stream, kind, id, verb FROM p_audit_log", "DELETE FROM p_audit_log", "UPDATE p_audit_log SET verb = 'x'",
			} {
				if _, err := r.As(role, time.Time{}).Exec(statement); !refusedRight(err) {
					t.Errorf("%s: %s: %v", role, statement, err)
				}
			}
		}
	})
}

// The table holds an entry to its object, and to the bounds of the library.
func TestTheTableRefusesWhatIsNoEntry(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.ColumnDefaults)
		app := r.As("app", time.Time{})
		for _, values := range []string{
			streamOf("job_exec", "x") + ", 'job_exec', '*', 'pause', NULL", "'', 'job_exec', '*', 'pause', NULL",
			streamOf("", "x") + ", '', 'x', 'pause', NULL", streamOf("check", "") + ", 'check', '', 'x', NULL", streamOf("check", "x") + ", 'check', 'x', '', NULL",
			streamOf("check", "x") + ", 'check', 'x', 'x', REPEAT('x', 65537)",
		} {
			if _, err := app.Exec("INSERT INTO p_audit_log (stream, kind, id, verb, before_change) VALUES (" + values + ")"); !errno.Is(err, errno.CheckMySQL, errno.CheckMariaDB) {
				t.Errorf("%s: %v", values, err)
			}
		}
	})
}

// A time that is no day of the calendar, as an account may write it by an sql_mode of its own, keeps nobody from reading the rest.
func TestAScheduleWithATimeThatIsNoneIsListed(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		s := schedule.New(r.Client)
		app := r.AppAt(time.Now())
		for _, id := range []string{"a", "b", "c"} {
			_, err := s.Create(t.Context(), app, schedule.Schedule{ID: id, Crontabs: []string{"0 * * * *"}, Topic: "t"})
			r.Must(err)
		}
		r.Unchecked("p_schedule")
		tx, err := r.As("app", time.Time{}).BeginTxx(t.Context(), nil)
		r.Must(err)
		defer tx.Rollback()
		for _, statement := range []string{"SET SESSION sql_mode = 'ALLOW_INVALID_DATES'", "UPDATE p_schedule SET created_at = '0000-00-00', updated_at = '2027-00-00' WHERE id = 'a'",
			"UPDATE p_schedule SET updated_at = '2027-02-31', by_hand_at = '2027-02-31' WHERE id = 'b'"} {
			_, err := tx.Exec(statement)
			r.Must(err)
		}
		r.Must(tx.Commit())
		list, err := s.List(t.Context(), app, schedule.Filter{})
		if err != nil || len(list) != 3 {
			t.Errorf("%d schedules, %v", len(list), err)
		}
		r.Did(s.Pause(t.Context(), app, "c"))
	})
}
