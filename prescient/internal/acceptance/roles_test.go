package acceptance

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/client"
	"prescient/prescient/internal/errno"
	"prescient/prescient/internal/rig"
	"prescient/prescient/worker"
	text "prescient/sql"
)

// refusedRight says whether the server refused for want of a right on a table, a column, a routine or at all.
func refusedRight(err error) bool {
	return errno.Is(err, 1142, 1143, 1370, 1044, 1227, 1410, errno.TiDBDenied)
}

// what each statement needs, and who may.
var rights = []struct {
	statement string
	may       []string
}{
	{"SELECT COUNT(*) FROM p_slot_config", []string{"analyst", "app", "app-reschedule", "operator", "worker", "serve-door", "serve-viewer", "serve-operator", "serve-admin", "owner"}},
	{"UPDATE p_slot_config SET version = version", []string{"owner"}},
	{"SELECT COUNT(*) FROM p_future_job", []string{"app", "app-reschedule", "operator", "worker", "serve-viewer", "serve-operator", "serve-admin", "owner"}},
	{"INSERT INTO p_future_job (entity_name, entity_key, job_exec, due_at, payload) VALUES ('a', UUID(), 'b', '2026-11-20 13:05:00', '{}')",
		[]string{"app-sql", "app", "app-reschedule", "operator", "worker", "serve-operator", "serve-admin", "owner"}},
	{"INSERT INTO p_future_job (entity_name, entity_key, job_exec, due_at, check_count) VALUES ('a', UUID(), 'b', '2026-11-20 13:05:00', 4)",
		[]string{"worker", "owner"}},
	{"UPDATE p_future_job SET next_check_at = next_check_at", []string{"app-reschedule", "worker", "serve-operator", "serve-admin", "owner"}},
	{"UPDATE p_future_job SET due_at = due_at", []string{"app-reschedule", "worker", "serve-operator", "serve-admin", "owner"}},
	{"UPDATE p_future_job SET entity_key = entity_key", []string{"worker", "owner"}},
	{"DELETE FROM p_future_job WHERE job_exec = 'nothing'", []string{"app", "app-reschedule", "worker", "serve-operator", "serve-admin", "owner"}},
	{"TRUNCATE TABLE p_future_job", []string{"owner"}},
	{"SELECT MAX(payload) FROM p_future_job", []string{"app", "app-reschedule", "operator", "worker", "serve-operator", "serve-admin", "owner"}},
	{"SELECT MAX(payload) FROM p_job_history", []string{"analyst", "operator", "worker", "serve-operator", "serve-admin", "owner"}},
	{"SELECT MAX(payload) FROM p_schedule", []string{"analyst", "app-sql", "app", "app-reschedule", "operator", "worker", "serve-operator", "serve-admin", "owner"}},
	{"SELECT MAX(payload) FROM p_event_set_aside", []string{"analyst", "operator", "worker", "serve-operator", "serve-admin", "owner"}},
	{"SELECT MAX(checkpoint) FROM p_long_run", []string{"analyst", "operator", "worker", "serve-operator", "serve-admin", "owner"}},
	{"SELECT COUNT(*) FROM p_job_history", []string{"analyst", "operator", "worker", "serve-viewer", "serve-operator", "serve-admin", "owner"}},
	{"SELECT COUNT(*) FROM p_history_outcomes", []string{"analyst", "owner"}},
	{"SELECT COUNT(*) FROM p_history_times", []string{"analyst", "owner"}},
	{"SELECT COUNT(*) FROM p_history_checks", []string{"analyst", "owner"}},
	{"SELECT COUNT(*) FROM p_history_not_yet", []string{"analyst", "owner"}},
	{"SELECT COUNT(*) FROM p_history_lateness", []string{"analyst", "owner"}},
	{"SELECT COUNT(*) FROM p_history_checks_daily", []string{"analyst", "owner"}},
	{"UPDATE p_job_history SET worker = worker", []string{"owner"}},
	{"DELETE FROM p_job_history WHERE job_exec = 'nothing'", []string{"owner"}},
	{"SELECT COUNT(*) FROM p_slot_run", []string{"analyst", "operator", "worker", "serve-viewer", "serve-operator", "serve-admin", "owner"}},
	{"SELECT COUNT(*) FROM p_exec_run", []string{"analyst", "operator", "worker", "serve-viewer", "serve-operator", "serve-admin", "owner"}},
	{"SELECT COUNT(*) FROM p_exec_known", []string{"analyst", "operator", "worker", "serve-viewer", "serve-operator", "serve-admin", "owner"}},
	{"UPDATE p_exec_run SET calls = calls", []string{"worker", "owner"}},
	{"DELETE FROM p_exec_run WHERE bucket = 9", []string{"owner"}},
	{"UPDATE p_exec_known SET seen_at = seen_at", []string{"worker", "owner"}},
	{"SELECT COUNT(*) FROM p_duty", []string{"operator", "worker", "serve-viewer", "serve-operator", "serve-admin", "owner"}},
	{"UPDATE p_duty SET token = token", []string{"worker", "serve-operator", "serve-admin", "owner"}},
	{"UPDATE p_duty SET worker = worker, allocated_until = allocated_until", []string{"worker", "serve-operator", "serve-admin", "owner"}},
	{"UPDATE p_duty SET name = name", []string{"worker", "owner"}},
	{"SELECT COUNT(*) FROM p_bulk_run, p_bulk_check", []string{"operator", "oncall", "serve-viewer", "serve-operator", "serve-admin", "owner"}},
	{"UPDATE p_bulk_run SET done = done", []string{"oncall", "serve-operator", "serve-admin", "owner"}},
	// A number that somebody gives would be the last for all.
	{"INSERT INTO p_bulk_run (number, deed, filter, cutoff, person, reason, host, matched, is_exact, token, token_until) VALUES (7, 'cancel', '{}', '2026-11-20', '', '', '', 0, 1, '', '2026-11-20')", []string{"owner"}},
	{"INSERT INTO p_api_token (number, hash, name, role, created_at, expires_at) VALUES (7, 'x', '', 'viewer', '2026-11-20', '2026-11-20')", []string{"owner"}},
	{"UPDATE p_bulk_run SET filter = filter", []string{"owner"}},
	{"INSERT INTO p_bulk_check (number, job_key) VALUES (1, RANDOM_BYTES(16))", []string{"oncall", "serve-operator", "serve-admin", "owner"}},
	{"DELETE FROM p_bulk_check WHERE number = 0", []string{"owner"}},
	{"DELETE FROM p_duty WHERE name = 'nothing'", []string{"owner"}},
	{"SELECT COUNT(*) FROM p_stats, p_stats_bucket, p_stats_reason, p_stats_hour", []string{"analyst", "operator", "worker", "serve-viewer", "serve-operator", "serve-admin", "owner"}},
	{"SELECT COUNT(*) FROM p_stats_outcomes, p_stats_reasons, p_stats_entities, p_stats_not_yet, p_stats_lateness, p_stats_near_guard, p_stats_slots", []string{"analyst", "owner"}},
	{"CALL p_stats_percentiles('2026-11-01', '2026-11-20', NULL)", []string{"analyst", "owner"}},
	{"DELETE FROM p_stats WHERE job_exec = 'nothing'", []string{"worker", "owner"}},
	{"DELETE FROM p_stats_bucket WHERE job_exec = 'nothing'", []string{"worker", "owner"}},
	{"DELETE FROM p_stats_reason WHERE job_exec = 'nothing'", []string{"worker", "owner"}},
	{"UPDATE p_stats_hour SET ends = ends", []string{"worker", "owner"}},
	{"SELECT COUNT(*) FROM p_forecast", []string{"analyst", "operator", "worker", "serve-viewer", "serve-operator", "serve-admin", "owner"}},
	{"SELECT COUNT(*) FROM p_forecast_made", []string{"analyst", "operator", "worker", "serve-viewer", "serve-operator", "serve-admin", "owner"}},
	{"SELECT COUNT(*) FROM p_forecast_fit", []string{"analyst", "app", "app-reschedule", "operator", "worker", "serve-viewer", "serve-operator", "serve-admin", "owner"}},
	{"DELETE FROM p_forecast WHERE job_exec = 'nothing'", []string{"worker", "owner"}},
	{"DELETE FROM p_forecast_fit WHERE job_exec = 'nothing'", []string{"worker", "owner"}},
	{"UPDATE p_forecast_made SET took_ms = took_ms", []string{"worker", "owner"}},
	{"SELECT COUNT(*) FROM p_finding", []string{"analyst", "operator", "worker", "serve-viewer", "serve-operator", "serve-admin", "owner"}},
	{"UPDATE p_finding SET found = found", []string{"worker", "owner"}},
	{"DELETE FROM p_finding WHERE code = 'nothing'", []string{"worker", "owner"}},
	{"SELECT COUNT(*) FROM p_rule", []string{"analyst", "app", "app-reschedule", "operator", "worker", "serve-viewer", "serve-operator", "serve-admin", "owner"}},
	{"SELECT MAX(CAST(payload AS CHAR)) FROM p_rule_version", []string{"analyst", "app", "app-reschedule", "operator", "worker", "serve-operator", "serve-admin", "owner"}},
	{"SELECT rule, version, delay, ends FROM p_rule_version", []string{"analyst", "app", "app-reschedule", "operator", "worker", "serve-viewer", "serve-operator", "serve-admin", "owner"}},
	{"UPDATE p_rule SET version = version", []string{"app-reschedule", "serve-operator", "serve-admin", "owner"}},
	{"UPDATE p_rule_version SET delay = delay", []string{"owner"}},
	{"DELETE FROM p_rule WHERE name = 'nothing'", []string{"owner"}},
	{"CALL p_happened('nothing', 'order', '1', UTC_TIMESTAMP(6), NULL)", []string{"app-sql", "owner"}},
	{"UPDATE p_slot_run SET token = token", []string{"worker", "owner"}},
	{"SELECT COUNT(*) FROM p_agent", []string{"analyst", "operator", "worker", "serve-viewer", "serve-operator", "serve-admin", "owner"}},
	{"UPDATE p_agent SET wanted = wanted", []string{"operator", "serve-operator", "serve-admin", "worker", "owner"}},
	{"UPDATE p_agent SET seen_at = seen_at", []string{"worker", "owner"}},
	{"DELETE FROM p_agent WHERE name = 'nothing'", []string{"worker", "owner"}},
	{"SELECT COUNT(*) FROM p_job_pause", []string{"operator", "worker", "serve-viewer", "serve-operator", "serve-admin", "owner"}},
	{"INSERT INTO p_slot_run (slot, bucket, buckets) VALUES (UTC_TIMESTAMP(), FLOOR(RAND() * 60000), 1)", []string{"worker", "owner"}},
	{"INSERT INTO p_job_pause (job_exec) VALUES ('nothing')", []string{"operator", "serve-operator", "serve-admin", "owner"}},
	{"UPDATE p_job_pause SET reason = reason", []string{"operator", "serve-operator", "serve-admin", "owner"}},
	{"DELETE FROM p_job_pause WHERE job_exec = 'nothing'", []string{"operator", "serve-operator", "serve-admin", "owner"}},
	{"DELETE FROM p_slot_run WHERE bucket = 9", []string{"owner"}},
	{"SELECT COUNT(*) FROM p_job_run_log", []string{"analyst", "app", "app-reschedule", "operator", "worker", "serve-viewer", "serve-operator", "serve-admin", "owner"}},
	{"SELECT COUNT(*) FROM p_job_definition, p_step_definition", []string{"analyst", "app", "app-reschedule", "operator", "worker", "serve-viewer", "serve-operator", "serve-admin", "owner"}},
	// Arguments of steps stand in definitions.
	{"SELECT MAX(definition) FROM p_job_definition", []string{"analyst", "app", "app-reschedule", "operator", "worker", "serve-operator", "serve-admin", "owner"}},
	{"SELECT MAX(definition) FROM p_step_definition", []string{"analyst", "app", "app-reschedule", "operator", "worker", "serve-operator", "serve-admin", "owner"}},
	{"SELECT MAX(definition) FROM p_job_version", []string{"analyst", "app", "app-reschedule", "operator", "worker", "serve-operator", "serve-admin", "owner"}},
	{"SELECT job, version, created_at FROM p_job_version", []string{"analyst", "app", "app-reschedule", "operator", "worker", "serve-viewer", "serve-operator", "serve-admin", "owner"}},
	{"UPDATE p_step_definition SET version = version", []string{"app", "app-reschedule", "serve-operator", "serve-admin", "owner"}},
	{"UPDATE p_job_definition SET version = version", []string{"app", "app-reschedule", "serve-operator", "serve-admin", "owner"}},
	{"UPDATE p_job_definition SET name = name", []string{"owner"}},
	{"UPDATE p_step_definition SET created_at = created_at", []string{"owner"}},
	{"UPDATE p_job_version SET version = version", []string{"owner"}},
	{"UPDATE p_job_run_log SET version = version", []string{"worker", "owner"}},
	{"DELETE FROM p_step_run_log WHERE job = 'nothing'", []string{"owner"}},
	{"SELECT number, name, role, expires_at FROM p_api_token", []string{"serve-door", "serve-admin", "owner"}},
	{"SELECT hash FROM p_api_token", []string{"serve-door", "owner"}},
	{"INSERT INTO p_api_token (hash, name, role, created_at, expires_at) VALUES (RANDOM_BYTES(32), 'a', 'viewer', UTC_TIMESTAMP(6), UTC_TIMESTAMP(6))", []string{"serve-admin", "owner"}},
	{"UPDATE p_api_token SET role = role", []string{"owner"}},
	{"UPDATE p_api_token SET revoked_at = revoked_at", []string{"serve-admin", "owner"}},
	{"UPDATE p_api_token SET last_used_at = last_used_at", []string{"serve-door", "owner"}},
	{"DELETE FROM p_api_token WHERE name = 'nothing'", []string{"owner"}},
	{"SELECT token, idempotency_key, at FROM p_api_key", []string{"serve-door", "serve-operator", "serve-admin", "owner"}},
	{"SELECT answer FROM p_api_key", []string{"serve-operator", "serve-admin", "owner"}},
	{"UPDATE p_api_key SET answer = answer", []string{"serve-operator", "serve-admin", "owner"}},
	{"UPDATE p_api_key SET body = body", []string{"owner"}},
	{"DELETE FROM p_api_key WHERE token = 99", []string{"serve-door", "serve-operator", "serve-admin", "owner"}},
	{"SELECT name, role, changed_at, disabled_at FROM p_web_user", []string{"serve-door", "serve-admin", "owner"}},
	{"SELECT password FROM p_web_user", []string{"serve-door", "owner"}},
	{"INSERT INTO p_web_user (name, role, password, created_at, changed_at) VALUES (UUID(), 'viewer', '$argon2id$v=19$m=1', UTC_TIMESTAMP(6), UTC_TIMESTAMP(6))", []string{"serve-admin", "owner"}},
	{"UPDATE p_web_user SET role = role", []string{"serve-admin", "owner"}},
	{"UPDATE p_web_user SET disabled_at = disabled_at", []string{"serve-admin", "owner"}},
	{"UPDATE p_web_user SET password = '$argon2id$v=19$m=1', changed_at = changed_at", []string{"serve-door", "serve-admin", "owner"}},
	{"UPDATE p_web_user SET last_used_at = last_used_at", []string{"serve-door", "owner"}},
	{"UPDATE p_web_user SET name = name", []string{"owner"}},
	{"DELETE FROM p_web_user WHERE name = 'nothing'", []string{"owner"}},
	{"SELECT number, person, role, ends_at FROM p_web_session", []string{"serve-door", "serve-admin", "owner"}},
	{"SELECT hash, data FROM p_web_session", []string{"serve-door", "owner"}},
	{"INSERT INTO p_web_session (hash, person, role, host, data, created_at, ends_at) VALUES (RANDOM_BYTES(32), 'a', 'viewer', '', '', UTC_TIMESTAMP(6), UTC_TIMESTAMP(6) + INTERVAL 1 DAY)", []string{"serve-door", "owner"}},
	{"UPDATE p_web_session SET data = data", []string{"serve-door", "owner"}},
	{"UPDATE p_web_session SET role = role", []string{"owner"}},
	{"DELETE FROM p_web_session WHERE person = 'nothing'", []string{"serve-door", "serve-admin", "owner"}},
	{"SELECT COUNT(*) FROM p_queue_position", []string{"analyst", "operator", "worker", "serve-viewer", "serve-operator", "serve-admin", "owner"}},
	{"UPDATE p_queue_position SET version = version", []string{"worker", "owner"}},
	{"DELETE FROM p_queue_position WHERE name = 'nothing'", []string{"owner"}},
	{"CALL p_pending('a', 'nothing')", []string{"app-sql", "app", "app-reschedule", "worker", "owner"}},
	{"CALL p_cancel('a', 'nothing', NULL)", []string{"app-sql", "app", "app-reschedule", "worker", "owner"}},
	{"INSERT INTO p_audit_log (stream, kind, id, verb) VALUES (SUBSTRING(UNHEX(SHA2(CONCAT('check', UNHEX('00'), 'a/b c'), 256)), 1, 16), 'check', 'a/b c', 'cancel')", []string{"app", "app-reschedule", "operator", "worker", "serve-door", "serve-operator", "serve-admin", "owner"}},
	{"INSERT INTO p_audit_log (stream, kind, id, verb, account) VALUES (SUBSTRING(UNHEX(SHA2(CONCAT('check', UNHEX('00'), 'a/b c'), 256)), 1, 16), 'check', 'a/b c', 'cancel', 'somebody@else')", []string{"owner"}},
	{"INSERT INTO p_audit_log (stream, kind, id, verb, at) VALUES (SUBSTRING(UNHEX(SHA2(CONCAT('check', UNHEX('00'), 'a/b c'), 256)), 1, 16), 'check', 'a/b c', 'cancel', '2020-01-01')", []string{"owner"}},
	{"INSERT INTO p_audit_log (stream, kind, id, verb, entry) VALUES (SUBSTRING(UNHEX(SHA2(CONCAT('check', UNHEX('00'), 'a/b c'), 256)), 1, 16), 'check', 'a/b c', 'cancel', RANDOM_BYTES(8))", []string{"owner"}},
	{"INSERT INTO p_audit_log (stream, kind, id, verb, pruned) VALUES (SUBSTRING(UNHEX(SHA2(CONCAT('check', UNHEX('00'), 'a/b c'), 256)), 1, 16), 'check', 'a/b c', 'cancel', 1)", []string{"owner"}},
	{"INSERT INTO p_audit_log (stream, kind, id, verb, pruned) VALUES (SUBSTRING(UNHEX(SHA2(CONCAT('check', UNHEX('00'), 'a/b c'), 256)), 1, 16), 'check', 'a/b c', 'cancel', 1)", []string{"owner"}},
	{"SELECT stream, MAX(at) FROM p_audit_log GROUP BY stream LOCK IN SHARE MODE", []string{"analyst", "operator", "worker", "serve-viewer", "serve-operator", "serve-admin", "owner"}},
	{"SELECT COUNT(*) FROM p_schedule_deleted", []string{"app", "app-reschedule", "worker", "serve-viewer", "serve-operator", "serve-admin", "owner"}},
	{"UPDATE p_schedule_deleted SET id = id", []string{"app", "app-reschedule", "worker", "serve-operator", "serve-admin", "owner"}},
	{"SELECT schedule, version, crontabs FROM p_schedule_version", []string{"analyst", "app", "app-reschedule", "operator", "worker", "serve-viewer", "serve-operator", "serve-admin", "owner"}},
	{"SELECT MAX(payload) FROM p_schedule_version", []string{"analyst", "app", "app-reschedule", "operator", "worker", "serve-operator", "serve-admin", "owner"}},
	{"UPDATE p_schedule_version SET payload = payload", []string{"owner"}},
	{"INSERT INTO p_schedule_version (schedule, created_at, version, ended_at, crontabs, zone, job_exec, topic, owner_name, owner_key, catch_up, may_coalesce, is_long, pool, heartbeat) VALUES (UUID(), UTC_TIMESTAMP(6), 1, UTC_TIMESTAMP(6), '0 * * * *', 'UTC', 'a', '', '', '', 'once', 0, 0, '', '')",
		[]string{"app", "app-reschedule", "worker", "serve-operator", "serve-admin", "owner"}},
	{"DELETE FROM p_schedule_version WHERE schedule = 'nothing'", []string{"app", "app-reschedule", "worker", "serve-operator", "serve-admin", "owner"}},
	{"UPDATE p_schedule SET payload = payload", []string{"app", "app-reschedule", "worker", "serve-operator", "serve-admin", "owner"}},
	{"UPDATE p_schedule SET id = id", []string{"app", "app-reschedule", "worker", "serve-operator", "serve-admin", "owner"}}, // ON DUPLICATE KEY UPDATE of MariaDB asks for it
	{"UPDATE p_schedule SET last_started_at = last_started_at", []string{"worker", "owner"}},
	{"INSERT INTO p_schedule (id, crontabs, job_exec, last_started_at) VALUES (UUID(), '0 * * * *', 'a', UTC_TIMESTAMP(6))", []string{"worker", "owner"}},
	{"INSERT INTO p_schedule (id, crontabs, job_exec, is_long, pool) VALUES (UUID(), '0 * * * *', 'a', 1, 'gpu')", []string{"app-sql", "app", "app-reschedule", "worker", "serve-operator", "serve-admin", "owner"}},
	{"DELETE FROM p_schedule_deleted WHERE id = 'nothing'", []string{"owner"}},
	{"SELECT COUNT(*), MAX(after_change) FROM p_audit_log", []string{"analyst", "operator", "worker", "serve-operator", "serve-admin", "owner"}},
	{"UPDATE p_audit_log SET reason = reason", []string{"owner"}},
	{"REPLACE INTO p_audit_log (stream, kind, id, verb) VALUES (SUBSTRING(UNHEX(SHA2(CONCAT('check', UNHEX('00'), 'a/b c'), 256)), 1, 16), 'check', 'a/b c', 'cancel')", []string{"owner"}},
	{"INSERT INTO p_audit_log (stream, kind, id, verb) VALUES (SUBSTRING(UNHEX(SHA2(CONCAT('check', UNHEX('00'), 'a/b c'), 256)), 1, 16), 'check', 'a/b c', 'x') ON DUPLICATE KEY UPDATE verb = 'y'", []string{"owner"}},
	{"DELETE FROM p_audit_log WHERE verb = 'nothing'", []string{"owner"}},
	{"TRUNCATE TABLE p_audit_log", []string{"owner"}},
	{"CREATE PROCEDURE p_more() DO 1", []string{"owner"}},
	{"ALTER TABLE p_slot_run COMMENT 'prescient'", []string{"owner"}},
	{"CREATE TABLE p_more (id INT PRIMARY KEY)", []string{"owner"}},
	{"DROP TABLE p_slot_run", []string{"owner"}},
	{"SELECT COUNT(*) FROM mysql.user", nil},
	{"SELECT COUNT(*) FROM information_schema.INNODB_TRX", nil}, // PROCESS is for whoever gives it
}

func TestEachRoleMayDoItsWorkAndNothingElse(t *testing.T) {
	besideOthers(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.ColumnDefaults)
		for _, role := range text.Roles() { // the owner last, who drops things
			db := r.As(role, time.Time{})
			for _, right := range rights {
				_, err := db.ExecContext(t.Context(), right.statement)
				may := slices.Contains(right.may, role)
				if role == "oncall" { // which is both
					may = may || slices.Contains(right.may, "operator") || slices.Contains(right.may, "worker")
				}
				switch {
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
	besideOthers(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.ColumnDefaults)
		db := r.As("app", rig.At("13:00"))
		c, err := client.New(t.Context(), db, client.Options{Prefix: "p_", Dialect: r.Setting})
		r.Must(err)
		job := prescient.NewJob{Entity: prescient.Entity{Name: "order", Key: "42"}, JobExec: "check", DueAt: rig.At("14:05"), Payload: []byte("{}")}
		insert := func(db prescient.DB, want client.InsertAction, change func(j *prescient.NewJob)) error {
			t.Helper()
			j := job
			change(&j)
			did, err := c.Insert(t.Context(), db, j)
			if err == nil && did.Did != want {
				t.Errorf("%+v; want %s", did, want)
			}
			return err
		}
		same := func(*prescient.NewJob) {}
		r.Must(insert(db, client.DidInsert, same))
		r.Must(insert(db, client.DidKeep, same))
		tx, err := db.BeginTx(t.Context(), nil)
		r.Must(err)
		defer tx.Rollback()
		r.Must(insert(tx, client.DidKeep, same)) // locks the row that stays
		r.Must(insert(tx, client.DidInsert, func(j *prescient.NewJob) { j.Tag = "in a transaction" }))
		if _, err := c.InsertMany(t.Context(), tx, []prescient.NewJob{job, {Entity: prescient.Entity{Name: "order", Key: "43"}, JobExec: "check", DueAt: rig.At("14:05")}}); err != nil {
			t.Error(err)
		}
		if n, err := c.Cancel(t.Context(), tx, prescient.Entity{Name: "order", Key: "43"}); err != nil || n != 1 {
			t.Errorf("cancelled %d, %v", n, err)
		}
		r.Must(tx.Commit())
		if err := insert(db, "", func(j *prescient.NewJob) { j.OnPending = prescient.OnPendingError }); !rig.Contains(err, "already pending") {
			t.Error(err)
		}
		for _, policy := range []prescient.OnPending{prescient.Replace, prescient.Earlier, prescient.Later} {
			err := insert(db, "", func(j *prescient.NewJob) {
				j.OnPending, j.DueAt = policy, map[prescient.OnPending]time.Time{prescient.Replace: rig.At("14:05"), prescient.Earlier: rig.At("13:20"), prescient.Later: rig.At("15:00")}[policy]
			})
			if !refusedRight(err) {
				t.Errorf("%s: %v; want it refused", policy, err)
			}
		}
		if _, err := c.Reschedule(t.Context(), db, job.Entity, "check", "", rig.At("15:00")); !refusedRight(err) {
			t.Errorf("reschedule: %v", err)
		}
		if got, err := c.Get(t.Context(), db, job.Entity, "check", ""); err != nil || !got.DueAt.Equal(rig.At("14:05")) {
			t.Errorf("%+v, %v", got, err)
		}
		if n, err := c.Cancel(t.Context(), db, job.Entity); err != nil || n != 2 {
			t.Errorf("cancelled %d, %v", n, err)
		}
		if n, err := rig.Call(t.Context(), db, "order", "42", nil); err != nil || n != 0 {
			t.Errorf("cancelled %d, %v", n, err)
		}
		if len(r.History()) != 3 || len(r.Pending()) != 0 {
			t.Errorf("%d in history, %d pending", len(r.History()), len(r.Pending()))
		}
		// A row whose slot has begun is replaced, whatever the policy: its job_exec may be running.
		for _, begin := range []func(use func(db prescient.DB) error) error{
			func(use func(db prescient.DB) error) error { return use(db) },
			func(use func(db prescient.DB) error) error {
				tx, err := db.BeginTx(t.Context(), nil)
				r.Must(err)
				defer tx.Rollback()
				if err := use(tx); err != nil {
					return err
				}
				return tx.Commit()
			},
		} {
			_, err = r.Root.Exec("INSERT INTO p_future_job (entity_name, entity_key, job_exec, due_at, check_count) VALUES ('order', '42', 'check', '2026-11-20 12:50:00', 3)")
			r.Must(err)
			r.Must(begin(func(db prescient.DB) error { return insert(db, client.DidReplace, same) }))
			left := r.Pending()
			if len(left) != 1 || !left[0].NextCheckAt.Equal(rig.At("14:15")) || left[0].CheckCount != 0 {
				t.Errorf("%+v", left)
			}
			if n, err := c.Cancel(t.Context(), db, job.Entity); err != nil || n != 1 {
				t.Errorf("cancelled %d, %v", n, err)
			}
		}
		// And nothing of a bulk insert that fails after that stays behind.
		_, err = r.Root.Exec("INSERT INTO p_future_job (entity_name, entity_key, job_exec, due_at) VALUES ('order', '42', 'check', '2026-11-20 12:50:00'), ('order', '44', 'check', '2026-11-20 14:50:00')")
		r.Must(err)
		tx, err = db.BeginTx(t.Context(), nil)
		r.Must(err)
		defer tx.Rollback()
		_, err = c.InsertMany(t.Context(), tx, []prescient.NewJob{{Entity: prescient.Entity{Name: "order", Key: "43"}, JobExec: "check", DueAt: rig.At("14:05")}, job,
			{Entity: prescient.Entity{Name: "order", Key: "44"}, JobExec: "check", DueAt: rig.At("14:05"), OnPending: prescient.OnPendingError}})
		if !rig.Contains(err, "check 3", "already pending") {
			t.Error(err)
		}
		r.Must(tx.Commit())
		if left := r.Pending(); len(left) != 2 || !left[0].NextCheckAt.Equal(rig.At("13:00")) {
			t.Errorf("%+v", left)
		}
	})
}

func TestTheRoleAppRescheduleHasWhatEveryPolicyNeeds(t *testing.T) {
	besideOthers(t, func(t *testing.T, r *testRig) {
		db := r.As("app-reschedule", rig.At("13:00"))
		c, err := client.New(t.Context(), db, client.Options{Prefix: "p_", Dialect: r.Setting})
		r.Must(err)
		for i, policy := range []prescient.OnPending{prescient.Keep, prescient.Replace, prescient.Earlier, prescient.Later} {
			due := []time.Time{rig.At("14:05"), rig.At("14:30"), rig.At("13:30"), rig.At("15:00")}[i]
			did, err := c.Insert(t.Context(), db, prescient.NewJob{Entity: prescient.Entity{Name: "order", Key: "42"}, JobExec: "check", DueAt: due, OnPending: policy})
			if err != nil || !did.DueAt.Equal(due) {
				t.Errorf("%s: %+v, %v", policy, did, err)
			}
		}
		did, err := c.Reschedule(t.Context(), db, prescient.Entity{Name: "order", Key: "42"}, "check", "", rig.At("16:00"))
		if err != nil || !did.DueAt.Equal(rig.At("16:00")) {
			t.Errorf("%+v, %v", did, err)
		}
	})
}

func TestTheRoleAppSQLInsertsAndCancelsInPlainSQL(t *testing.T) {
	besideOthers(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.ColumnDefaults)
		db := r.As("app-sql", time.Time{})
		tx, err := db.BeginTx(t.Context(), &sql.TxOptions{Isolation: sql.LevelRepeatableRead})
		r.Must(err)
		defer tx.Rollback()
		_, err = tx.Exec("INSERT INTO p_future_job (entity_name, entity_key, job_exec, due_at) VALUES ('order', '42', 'check', '2026-11-20 13:05:00')")
		r.Must(err)
		r.call(tx, 1, "order", "42", nil)
		_, err = tx.Exec("INSERT INTO p_future_job (entity_name, entity_key, job_exec, due_at) VALUES ('order', '42', 'check', '2026-11-20 14:05:00')")
		r.Must(err)
		r.Must(tx.Commit())
		if left := r.Pending(); len(left) != 1 || !left[0].NextCheckAt.Equal(rig.At("14:15")) || len(r.History()) != 1 {
			t.Errorf("%+v, %d in history", left, len(r.History()))
		}
	})
}

// In both dialects.
func TestTheRoleAppSQLNamesThePoolOfASchedule(t *testing.T) {
	besideOthers(t, func(t *testing.T, r *testRig) {
		_, err := r.As("app-sql", time.Time{}).ExecContext(t.Context(), "INSERT INTO p_schedule (id, crontabs, job_exec, is_long, pool) VALUES ('a', '0 * * * *', 'export', 1, 'gpu')")
		r.Must(err)
	})
}

func TestTheRoleWorkerRunsSlots(t *testing.T) {
	besideOthers(t, func(t *testing.T, r *testRig) {
		for i := range 30 {
			r.Insert(rig.At("12:00"), prescient.NewJob{Entity: prescient.Entity{Name: "order", Key: fmt.Sprint(i)}, JobExec: "check", DueAt: rig.At("13:05")})
		}
		r.Insert(rig.At("12:00"), prescient.NewJob{Entity: prescient.Entity{Name: "order", Key: "late"}, JobExec: "check", DueAt: rig.At("12:20")})
		db := r.As("worker", rig.At("13:15:01"))
		client, err := client.New(t.Context(), db, client.Options{Prefix: "p_", Dialect: r.Setting})
		r.Must(err)
		execs := rig.Registry("check", func(ctx context.Context, job prescient.FutureJob) (*time.Time, error) {
			switch job.EntityKey {
			case "1":
				return prescient.At(rig.At("15:00")), nil
			case "2":
				return nil, fmt.Errorf("not now")
			case "3":
				_, err := client.Insert(ctx, db, prescient.NewJob{Entity: prescient.Entity{Name: "parcel", Key: "3"}, JobExec: "check", DueAt: rig.At("15:00")})
				return nil, err
			case "4":
				_, err := client.Cancel(ctx, db, prescient.Entity{Name: "order", Key: "5"})
				return nil, err
			}
			return nil, nil
		}, prescient.Guards{})
		w, err := worker.New(t.Context(), db, worker.Options{Prefix: "p_", Dialect: r.Setting, Registry: execs})
		r.Must(err)
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
		r.Balanced()
	})
}
