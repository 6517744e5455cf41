package prescient

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	text "prescient/sql"
)

// refusedRight says whether the server refused for want of a right on a table, a column, a routine or at all.
func refusedRight(err error) bool {
	return isError(err, 1142, 1143, 1370, 1044, 1227, 1410, errTiDBDenied)
}

// what each statement needs, and who may.
var rights = []struct {
	statement string
	may       []string
}{
	{"SELECT COUNT(*) FROM p_slot_config", []string{"analyst", "app", "app-reschedule", "operator", "worker", "owner"}},
	{"UPDATE p_slot_config SET version = version", []string{"owner"}},
	{"SELECT COUNT(*) FROM p_future_job", []string{"app-sql", "app", "app-reschedule", "operator", "worker", "owner"}},
	{"INSERT INTO p_future_job (entity_name, entity_key, job_exec, due_at, payload) VALUES ('a', UUID(), 'b', '2026-11-20 13:05:00', '{}')",
		[]string{"app-sql", "app", "app-reschedule", "operator", "worker", "owner"}},
	{"INSERT INTO p_future_job (entity_name, entity_key, job_exec, due_at, check_count) VALUES ('a', UUID(), 'b', '2026-11-20 13:05:00', 4)",
		[]string{"worker", "owner"}},
	{"UPDATE p_future_job SET next_check_at = next_check_at", []string{"app-reschedule", "worker", "owner"}},
	{"UPDATE p_future_job SET due_at = due_at", []string{"app-reschedule", "worker", "owner"}},
	{"UPDATE p_future_job SET entity_key = entity_key", []string{"worker", "owner"}},
	{"DELETE FROM p_future_job WHERE job_exec = 'nothing'", []string{"app", "app-reschedule", "worker", "owner"}},
	{"TRUNCATE TABLE p_future_job", []string{"owner"}},
	{"SELECT COUNT(*) FROM p_job_history", []string{"analyst", "operator", "owner"}},
	{"SELECT COUNT(*) FROM p_history_outcomes", []string{"analyst", "owner"}},
	{"SELECT COUNT(*) FROM p_history_times", []string{"analyst", "owner"}},
	{"SELECT COUNT(*) FROM p_history_checks", []string{"analyst", "owner"}},
	{"SELECT COUNT(*) FROM p_history_not_yet", []string{"analyst", "owner"}},
	{"SELECT COUNT(*) FROM p_history_lateness", []string{"analyst", "owner"}},
	{"SELECT COUNT(*) FROM p_history_checks_daily", []string{"analyst", "owner"}},
	{"UPDATE p_job_history SET worker = worker", []string{"owner"}},
	{"DELETE FROM p_job_history WHERE job_exec = 'nothing'", []string{"owner"}},
	{"SELECT COUNT(*) FROM p_slot_run", []string{"operator", "worker", "owner"}},
	{"UPDATE p_slot_run SET token = token", []string{"worker", "owner"}},
	{"SELECT COUNT(*) FROM p_job_pause", []string{"operator", "worker", "owner"}},
	{"INSERT INTO p_slot_run (slot, bucket, buckets) VALUES (UTC_TIMESTAMP(), FLOOR(RAND() * 60000), 1)", []string{"worker", "owner"}},
	{"INSERT INTO p_job_pause (job_exec) VALUES ('nothing')", []string{"operator", "owner"}},
	{"UPDATE p_job_pause SET reason = reason", []string{"operator", "owner"}},
	{"DELETE FROM p_job_pause WHERE job_exec = 'nothing'", []string{"operator", "owner"}},
	{"DELETE FROM p_slot_run WHERE bucket = 9", []string{"owner"}},
	{"CALL p_cancel('a', 'nothing', NULL)", []string{"app-sql", "app", "app-reschedule", "worker", "owner"}},
	{"CREATE PROCEDURE p_more() DO 1", []string{"owner"}},
	{"ALTER TABLE p_slot_run COMMENT 'prescient'", []string{"owner"}},
	{"CREATE TABLE p_more (id INT PRIMARY KEY)", []string{"owner"}},
	{"DROP TABLE p_slot_run", []string{"owner"}},
	{"SELECT COUNT(*) FROM mysql.user", nil},
}

func TestEachRoleMayDoItsWorkAndNothingElse(t *testing.T) {
	eachServer(t, func(t *testing.T, r *rig) {
		r.needs(t, columnDefaults)
		for _, role := range text.Roles() { // the owner last, who drops things
			db := r.as(role, time.Time{})
			for _, right := range rights {
				_, err := db.ExecContext(t.Context(), right.statement)
				switch may := slices.Contains(right.may, role); {
				case may && err != nil:
					t.Errorf("%s: %s: %v", role, right.statement, err)
				case !may && !refusedRight(err):
					t.Errorf("%s: %s: %v; want it refused", role, right.statement, err)
				}
			}
		}
	})
}

func TestTheRoleAppInsertsAndCancelsButMovesNothing(t *testing.T) {
	eachServer(t, func(t *testing.T, r *rig) {
		r.needs(t, columnDefaults)
		db := r.as("app", at("13:00"))
		c, err := NewClient(t.Context(), db, ClientOptions{Prefix: "p_"})
		r.must(err)
		job := NewJob{Entity: Entity{"order", "42"}, JobExec: "check", DueAt: at("14:05"), Payload: []byte("{}")}
		insert := func(db DB, want InsertAction, change func(j *NewJob)) error {
			t.Helper()
			j := job
			change(&j)
			did, err := c.Insert(t.Context(), db, j)
			if err == nil && did.Did != want {
				t.Errorf("%+v; want %s", did, want)
			}
			return err
		}
		same := func(*NewJob) {}
		r.must(insert(db, DidInsert, same))
		r.must(insert(db, DidKeep, same))
		tx, err := db.BeginTx(t.Context(), nil)
		r.must(err)
		defer tx.Rollback()
		r.must(insert(tx, DidKeep, same)) // locks the row that stays
		r.must(insert(tx, DidInsert, func(j *NewJob) { j.Tag = "in a transaction" }))
		if _, err := c.InsertMany(t.Context(), tx, []NewJob{job, {Entity: Entity{"order", "43"}, JobExec: "check", DueAt: at("14:05")}}); err != nil {
			t.Error(err)
		}
		if n, err := c.Cancel(t.Context(), tx, Entity{"order", "43"}); err != nil || n != 1 {
			t.Errorf("cancelled %d, %v", n, err)
		}
		r.must(tx.Commit())
		if err := insert(db, "", func(j *NewJob) { j.OnPending = OnPendingError }); !contains(err, "already pending") {
			t.Error(err)
		}
		for _, policy := range []OnPending{Replace, Earlier, Later} {
			err := insert(db, "", func(j *NewJob) {
				j.OnPending, j.DueAt = policy, map[OnPending]time.Time{Replace: at("14:05"), Earlier: at("13:20"), Later: at("15:00")}[policy]
			})
			if !refusedRight(err) {
				t.Errorf("%s: %v; want it refused", policy, err)
			}
		}
		if _, err := c.Reschedule(t.Context(), db, job.Entity, "check", "", at("15:00")); !refusedRight(err) {
			t.Errorf("reschedule: %v", err)
		}
		if got, err := c.Get(t.Context(), db, job.Entity, "check", ""); err != nil || !got.DueAt.Equal(at("14:05")) {
			t.Errorf("%+v, %v", got, err)
		}
		if n, err := c.Cancel(t.Context(), db, job.Entity); err != nil || n != 2 {
			t.Errorf("cancelled %d, %v", n, err)
		}
		if n, err := call(t.Context(), db, "order", "42", nil); err != nil || n != 0 {
			t.Errorf("cancelled %d, %v", n, err)
		}
		if len(r.history()) != 3 || len(r.pending()) != 0 {
			t.Errorf("%d in history, %d pending", len(r.history()), len(r.pending()))
		}
		// A row whose slot has begun is replaced, whatever the policy: its job_exec may be running.
		for _, begin := range []func(use func(db DB) error) error{
			func(use func(db DB) error) error { return use(db) },
			func(use func(db DB) error) error {
				tx, err := db.BeginTx(t.Context(), nil)
				r.must(err)
				defer tx.Rollback()
				if err := use(tx); err != nil {
					return err
				}
				return tx.Commit()
			},
		} {
			_, err = r.root.Exec("INSERT INTO p_future_job (entity_name, entity_key, job_exec, due_at, check_count) VALUES ('order', '42', 'check', '2026-11-20 12:50:00', 3)")
			r.must(err)
			r.must(begin(func(db DB) error { return insert(db, DidReplace, same) }))
			left := r.pending()
			if len(left) != 1 || !left[0].NextCheckAt.Equal(at("14:15")) || left[0].CheckCount != 0 {
				t.Errorf("%+v", left)
			}
			if n, err := c.Cancel(t.Context(), db, job.Entity); err != nil || n != 1 {
				t.Errorf("cancelled %d, %v", n, err)
			}
		}
		// And nothing of a bulk insert that fails after that stays behind.
		_, err = r.root.Exec("INSERT INTO p_future_job (entity_name, entity_key, job_exec, due_at) VALUES ('order', '42', 'check', '2026-11-20 12:50:00'), ('order', '44', 'check', '2026-11-20 14:50:00')")
		r.must(err)
		tx, err = db.BeginTx(t.Context(), nil)
		r.must(err)
		defer tx.Rollback()
		_, err = c.InsertMany(t.Context(), tx, []NewJob{{Entity: Entity{"order", "43"}, JobExec: "check", DueAt: at("14:05")}, job,
			{Entity: Entity{"order", "44"}, JobExec: "check", DueAt: at("14:05"), OnPending: OnPendingError}})
		if !contains(err, "job 3", "already pending") {
			t.Error(err)
		}
		r.must(tx.Commit())
		if left := r.pending(); len(left) != 2 || !left[0].NextCheckAt.Equal(at("13:00")) {
			t.Errorf("%+v", left)
		}
	})
}

func TestTheRoleAppRescheduleHasWhatEveryPolicyNeeds(t *testing.T) {
	eachServer(t, func(t *testing.T, r *rig) {
		db := r.as("app-reschedule", at("13:00"))
		c, err := NewClient(t.Context(), db, ClientOptions{Prefix: "p_"})
		r.must(err)
		for i, policy := range []OnPending{Keep, Replace, Earlier, Later} {
			due := []time.Time{at("14:05"), at("14:30"), at("13:30"), at("15:00")}[i]
			did, err := c.Insert(t.Context(), db, NewJob{Entity: Entity{"order", "42"}, JobExec: "check", DueAt: due, OnPending: policy})
			if err != nil || !did.DueAt.Equal(due) {
				t.Errorf("%s: %+v, %v", policy, did, err)
			}
		}
		did, err := c.Reschedule(t.Context(), db, Entity{"order", "42"}, "check", "", at("16:00"))
		if err != nil || !did.DueAt.Equal(at("16:00")) {
			t.Errorf("%+v, %v", did, err)
		}
	})
}

func TestTheRoleAppSQLInsertsAndCancelsInPlainSQL(t *testing.T) {
	eachServer(t, func(t *testing.T, r *rig) {
		r.needs(t, columnDefaults)
		db := r.as("app-sql", time.Time{})
		tx, err := db.BeginTx(t.Context(), &sql.TxOptions{Isolation: sql.LevelRepeatableRead})
		r.must(err)
		defer tx.Rollback()
		_, err = tx.Exec("INSERT INTO p_future_job (entity_name, entity_key, job_exec, due_at) VALUES ('order', '42', 'check', '2026-11-20 13:05:00')")
		r.must(err)
		r.call(tx, 1, "order", "42", nil)
		_, err = tx.Exec("INSERT INTO p_future_job (entity_name, entity_key, job_exec, due_at) VALUES ('order', '42', 'check', '2026-11-20 14:05:00')")
		r.must(err)
		r.must(tx.Commit())
		if left := r.pending(); len(left) != 1 || !left[0].NextCheckAt.Equal(at("14:15")) || len(r.history()) != 1 {
			t.Errorf("%+v, %d in history", left, len(r.history()))
		}
	})
}

func TestTheRoleWorkerRunsSlots(t *testing.T) {
	eachServer(t, func(t *testing.T, r *rig) {
		for i := range 30 {
			r.insert(at("12:00"), NewJob{Entity: Entity{"order", fmt.Sprint(i)}, JobExec: "check", DueAt: at("13:05")})
		}
		r.insert(at("12:00"), NewJob{Entity: Entity{"order", "late"}, JobExec: "check", DueAt: at("12:20")})
		db := r.as("worker", at("13:15:01"))
		client, err := NewClient(t.Context(), db, ClientOptions{Prefix: "p_"})
		r.must(err)
		execs := registry("check", func(ctx context.Context, job FutureJob) (*time.Time, error) {
			switch job.EntityKey {
			case "1":
				return At(at("15:00")), nil
			case "2":
				return nil, fmt.Errorf("not now")
			case "3":
				_, err := client.Insert(ctx, db, NewJob{Entity: Entity{"parcel", "3"}, JobExec: "check", DueAt: at("15:00")})
				return nil, err
			case "4":
				_, err := client.Cancel(ctx, db, Entity{"order", "5"})
				return nil, err
			}
			return nil, nil
		}, Guards{})
		w, err := NewWorker(t.Context(), db, WorkerOptions{Prefix: "p_", Registry: execs})
		r.must(err)
		figures, err := w.Run(t.Context())
		if err != nil || figures.Rows() < 29 {
			t.Errorf("%+v, %v", figures, err)
		}
		swept, err := w.Sweep(t.Context())
		if err != nil || len(swept) != 1 || swept[0].Done != 1 {
			t.Errorf("%+v, %v", swept, err)
		}
		if _, err := w.RollForward(t.Context(), nil); err != nil {
			t.Error(err)
		}
		r.balanced()
	})
}

func TestTheRoleOperatorPausesRequeuesAndAsksTheDoctor(t *testing.T) {
	eachServer(t, func(t *testing.T, r *rig) {
		r.needs(t, columnDefaults)
		for i := range 3 {
			r.insert(at("12:00"), NewJob{Entity: order(fmt.Sprint(i)), JobExec: "check", DueAt: at("13:05"), Payload: []byte(`{"n": 1}`)})
		}
		fails := registry("check", func(context.Context, FutureJob) (*time.Time, error) { return At(at("11:00")), nil }, Guards{})
		r.runAt(at("13:15:01"), fails, WorkerOptions{})
		r.insert(at("13:20"), NewJob{Entity: order("0"), JobExec: "check", DueAt: at("14:05")}) // by the app, again
		r.exec("INSERT INTO p_future_job (entity_name, entity_key, job_exec, due_at) VALUES ('order', '1', 'check', '2026-11-20 13:10:00')")

		db := r.as("operator", at("13:25"))
		c, err := NewClient(t.Context(), db, ClientOptions{Prefix: "p_"})
		r.must(err)
		r.must(c.Pause(t.Context(), db, Paused{JobExec: "check", By: "me"}))
		r.must(c.Pause(t.Context(), db, Paused{JobExec: "check", By: "me", Reason: "said twice"}))
		r.must(c.Pause(t.Context(), db, Paused{JobExec: AllExecs}))
		if list, err := c.Pauses(t.Context(), db); err != nil || len(list) != 2 || list[1].Reason != "said twice" {
			t.Errorf("%+v, %v", list, err)
		}
		if n, err := c.Resume(t.Context(), db, "check", AllExecs); err != nil || n != 2 {
			t.Errorf("resumed %d, %v", n, err)
		}
		did, err := c.Requeue(t.Context(), db, RequeueOptions{Filter: ListFilter{JobExec: "check", Outcome: PastReturn, From: at("00:00").AddDate(-1, 0, 0)},
			Limit: 1000})
		if err != nil || did.Requeued != 1 || did.Kept != 2 {
			t.Errorf("%+v, %v", did, err)
		}
		if _, err := c.Load(t.Context(), db, at("12:00"), at("15:00"), 10); err != nil {
			t.Error(err)
		}
		if _, err := c.Cancel(t.Context(), db, order("0")); !refusedRight(err) {
			t.Errorf("cancel: %v; want it refused", err)
		}
		if _, err := c.Reschedule(t.Context(), db, order("0"), "check", "", at("15:00")); !refusedRight(err) {
			t.Errorf("reschedule: %v; want it refused", err)
		}
		found, err := Doctor(t.Context(), db, DoctorOptions{Prefix: "p_", Use: UseOperator})
		r.must(err)
		wantFinding(t, found, "grants", SeverityOK, "its use as operator")
		wantFinding(t, found, "schema", SeverityOK)
		for _, f := range found {
			if strings.Contains(f.Text, "could not be looked at") {
				t.Errorf("%+v", f)
			}
		}
		found, err = Doctor(t.Context(), db, DoctorOptions{Prefix: "p_", Use: UseWorker})
		r.must(err)
		wantFinding(t, found, "grants", SeverityBad, "UPDATE on p_future_job", "DELETE on p_future_job", "INSERT on p_job_history", "UPDATE on p_slot_run")
		found, err = Doctor(t.Context(), r.as("analyst", time.Time{}), DoctorOptions{Prefix: "p_", Use: UseOperator})
		r.must(err)
		wantFinding(t, found, "grants", SeverityBad, "SELECT on p_future_job")
	})
}

// What a user may not see is not taken for missing.
func TestADoctorFindsTheSchemaSoundWhateverItsUserMaySee(t *testing.T) {
	eachServer(t, func(t *testing.T, r *rig) {
		var db *sqlx.DB
		for role, use := range map[string]Use{"app": UseApp, "app-reschedule": UseApp, "operator": UseOperator, "worker": UseWorker, "owner": UseOwner} {
			as := r.as(role, time.Time{})
			if use == UseOperator {
				db = as
			}
			found, err := Doctor(t.Context(), as, DoctorOptions{Prefix: "p_", Use: use})
			r.must(err)
			if use == UseApp {
				wantFinding(t, found, "schema", SeverityOK)
				if f := finding(found, "schema"); !strings.Contains(f.Text, "cannot see p_job_history, p_slot_run, p_job_pause") && !strings.Contains(f.Text, "cannot see p_slot_run, p_job_pause") {
					t.Errorf("%s: %+v", role, f)
				}
			}
			for _, f := range found {
				if f.Severity == SeverityBad {
					t.Errorf("%s: %+v", role, f)
				}
			}
		}
		r.needs(t, columnDefaults)
		r.exec("ALTER TABLE p_future_job DROP CONSTRAINT p_future_job_on_grid")
		found, err := Doctor(t.Context(), db, DoctorOptions{Prefix: "p_", Use: UseOperator})
		r.must(err)
		wantFinding(t, found, "schema.check", SeverityBad, "p_future_job_on_grid")
		r.reslotTo(15 * time.Minute)
		r.exec("DROP TABLE p_job_pause")
		found, err = Doctor(t.Context(), r.pool(time.Time{}), DoctorOptions{Prefix: "p_"})
		r.must(err)
		wantFinding(t, found, "schema.table", SeverityBad, "p_job_pause")
	})
}

func TestTheRoleOwnerMigratesAndPrunes(t *testing.T) {
	eachServer(t, func(t *testing.T, r *rig) {
		r.needs(t, storedProcedures)
		db := r.as("owner", time.Time{})
		schema := text.Schema{Prefix: "q_", Resolution: time.Hour}
		_, err := text.Up(t.Context(), db.DB, schema)
		r.must(err)
		report, err := Prune(t.Context(), db, PruneOptions{Prefix: "q_", Keep: 90 * 24 * time.Hour})
		if err != nil || len(report.Made) != PartitionsAhead+1 {
			t.Errorf("%+v, %v", report, err)
		}
		if _, err := db.ExecContext(t.Context(), "CALL q_cancel('order', '42', NULL)"); err != nil {
			t.Error(err)
		}
		_, err = text.Down(t.Context(), db.DB, schema)
		r.must(err)
	})
}
