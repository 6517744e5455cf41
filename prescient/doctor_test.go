package prescient

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"prescient/prescient/internal/servertest"
	"prescient/slots"
	text "prescient/sql"
)

// examine asks the doctor, at a time that its server shows; the running clock where it is zero.
func (r *rig) examine(now time.Time, o DoctorOptions) []Finding {
	r.t.Helper()
	o.Prefix = "p_"
	found, err := Doctor(r.t.Context(), r.pool(now), o)
	r.must(err)
	return found
}

// finding returns the first finding with a code.
func finding(found []Finding, code string) Finding {
	for _, f := range found {
		if f.Code == code {
			return f
		}
	}
	return Finding{}
}

// wantFinding fails unless there is a finding of this code and severity that has these texts.
func wantFinding(t *testing.T, found []Finding, code string, severity Severity, texts ...string) {
	t.Helper()
	f := finding(found, code)
	if f.Severity != severity || severity != SeverityOK && f.Do == "" {
		t.Errorf("%s is %+v; want %s, in %+v", code, f, severity, found)
		return
	}
	for _, text := range texts {
		if !strings.Contains(f.Text, text) {
			t.Errorf("%s says %q; want %q in it", code, f.Text, text)
		}
	}
}

// serve leaves a row in the ledger for each slot of the last hours.
func (r *rig) serve(hours int) {
	r.t.Helper()
	r.exec(fmt.Sprintf(`INSERT INTO p_slot_run (slot, bucket, buckets, finished_at)
		WITH RECURSIVE n AS (SELECT 0 AS i UNION ALL SELECT i + 1 FROM n WHERE i < %d)
		SELECT TIMESTAMP'1970-01-01 00:00:00' + INTERVAL 900 * (TIMESTAMPDIFF(SECOND, TIMESTAMP'1970-01-01 00:00:00', UTC_TIMESTAMP()) DIV 900 - i) SECOND,
			0, 1, UTC_TIMESTAMP() FROM n`, hours*4))
}

func TestADoctorFindsNothingBadWhereAllIsWell(t *testing.T) {
	eachServer(t, func(t *testing.T, r *rig) {
		r.serve(24)
		_, err := r.client.Insert(t.Context(), r.app, NewJob{Entity: order("42"), JobExec: "check", DueAt: time.Now().Add(time.Hour)})
		r.must(err)
		grid, _ := slots.NewGrid(15 * time.Minute)
		found := r.examine(time.Time{}, DoctorOptions{Resolution: 15 * time.Minute, Assignments: []slots.Assignment{slots.All(grid)}})
		for _, f := range found {
			// What the server at hand is set to is not the installation's.
			switch f.Code {
			case "partitions", "durability", "settings", "time_zone", "binlog":
			default:
				if f.Severity != SeverityOK {
					t.Errorf("%+v", f)
				}
			}
		}
		for _, check := range checks {
			if f := finding(found, check.code); f.Text == "" && check.code != "partitions" {
				t.Errorf("nothing is said about %s: %+v", check.code, found)
			}
		}
		if finding(found, "partitions").Text == "" {
			t.Errorf("nothing is said about partitions: %+v", found)
		}
		for _, use := range []Use{UseApp, UseOwner} {
			wantFinding(t, r.examine(time.Time{}, DoctorOptions{Use: use}), "grants", SeverityOK, string(use))
		}
	})
}

func TestADoctorFindsWhatIsLeftBehind(t *testing.T) {
	eachServer(t, func(t *testing.T, r *rig) {
		wantFinding(t, r.examine(time.Time{}, DoctorOptions{}), "missed", SeverityOK, "no slot is over since")
		r.exec("UPDATE p_slot_config SET changed_at = changed_at - INTERVAL 1 DAY")
		wantFinding(t, r.examine(time.Time{}, DoctorOptions{}), "missed", SeverityWarn, "no slot was served")
		r.serve(3)
		r.exec("DELETE FROM p_slot_run ORDER BY slot DESC LIMIT 3")
		found := r.examine(time.Time{}, DoctorOptions{SweepGrace: time.Millisecond})
		wantFinding(t, found, "missed", SeverityWarn, "2 of 1")
		wantFinding(t, r.examine(time.Time{}, DoctorOptions{SweepGrace: time.Millisecond, MissedAllowed: 2}), "missed", SeverityOK, "2 may")
		wantFinding(t, found, "overdue", SeverityOK)
		wantFinding(t, found, "leases", SeverityOK)
		r.exec("UPDATE p_slot_run SET worker = 'gone', allocated_until = UTC_TIMESTAMP(6) - INTERVAL 90 SECOND ORDER BY slot LIMIT 2")
		wantFinding(t, r.examine(time.Time{}, DoctorOptions{}), "leases", SeverityWarn, "2 leases", "worker gone", "1m30s")
	})
}

// How bad it is that rows are late follows the resolution, the grace and the sweeps.
func TestADoctorJudgesLatenessByResolutionAndSweeps(t *testing.T) {
	eachServerAt(t, time.Second, func(t *testing.T, r *rig) {
		for i := range 24 {
			r.insert(at("13:00"), NewJob{Entity: order(fmt.Sprint(i)), JobExec: "check", DueAt: at("13:05")})
		}
		judge := func(clock string, severity Severity, o DoctorOptions, texts ...string) {
			t.Helper()
			wantFinding(t, r.examine(at(clock), o), "overdue", severity, texts...)
		}
		judge("13:05:05", SeverityOK, DoctorOptions{}, "nothing is overdue")
		judge("13:06:09", SeverityOK, DoctorOptions{}, "24 rows", "1m9s ago", "the next sweep takes them")
		judge("13:06:11", SeverityWarn, DoctorOptions{}, "24 rows", "since its slot 2026-11-20T13:05:00Z")
		judge("13:07:19", SeverityWarn, DoctorOptions{})
		judge("13:07:21", SeverityBad, DoctorOptions{})
		judge("13:09:00", SeverityBad, DoctorOptions{}, "4m0s ago")
		judge("13:09:00", SeverityWarn, DoctorOptions{SweepEvery: 3 * time.Minute})
		judge("13:09:00", SeverityWarn, DoctorOptions{OverdueBad: 5 * time.Minute}, "check of order/")
		r.must(r.client.Pause(t.Context(), r.pool(time.Time{}), Paused{JobExec: AllExecs}))
		judge("13:09:00", SeverityWarn, DoctorOptions{}, "everything is paused")
	})
}

// The slots of seconds ago count as served, and those of another resolution not as missed.
func TestADoctorCountsTheSlotsThatThereWere(t *testing.T) {
	eachServerAt(t, time.Second, func(t *testing.T, r *rig) {
		r.needs(t, changeOfResolution)
		missed := func(clock string, severity Severity, text string) {
			t.Helper()
			wantFinding(t, r.examine(at(clock), DoctorOptions{}), "missed", severity, text)
		}
		r.exec("UPDATE p_slot_config SET changed_at = '2026-11-20 12:00:00'")
		missed("13:00:00", SeverityWarn, "no slot was served since 2026-11-20T12:26:3")
		r.exec("INSERT INTO p_slot_run (slot, bucket, buckets) VALUES ('2026-11-20 12:59:57', 0, 1)")
		missed("13:00:00", SeverityOK, "the first one 2026-11-20T12:59:57Z")
		r.exec("INSERT INTO p_slot_run (slot, bucket, buckets) SELECT slot - INTERVAL 10 MINUTE, 0, 1 FROM p_slot_run")
		missed("13:00:00", SeverityWarn, "were not served")
		r.reslotTo(time.Minute)
		r.exec("UPDATE p_slot_config SET changed_at = '2026-11-20 12:59:50'")
		missed("13:00:30", SeverityOK, "no slot is over")
		r.exec("INSERT INTO p_slot_run (slot, bucket, buckets) VALUES ('2026-11-20 13:00:00', 0, 1), ('2026-11-20 13:02:00', 0, 1)")
		missed("13:02:30", SeverityWarn, "1 of 2 slots")
	})
	eachServerAt(t, 24*time.Hour, func(t *testing.T, r *rig) {
		r.exec("UPDATE p_slot_config SET changed_at = '2026-11-10 12:00:00'")
		r.exec("INSERT INTO p_slot_run (slot, bucket, buckets) VALUES ('2026-11-20 00:00:00', 0, 1)")
		wantFinding(t, r.examine(at("13:00:00"), DoctorOptions{}), "missed", SeverityOK, "the first one 2026-11-20T00:00:00Z")
	})
}

func TestADoctorComparesResolutionsClocksAndAssignments(t *testing.T) {
	eachServer(t, func(t *testing.T, r *rig) {
		r.needs(t, columnDefaults)
		found := r.examine(at("12:00"), DoctorOptions{Resolution: 5 * time.Minute})
		wantFinding(t, found, "resolution", SeverityBad, "5m0s", "15m0s")
		wantFinding(t, found, "clock", SeverityBad, "lease")
		now := time.Now().Add(5 * time.Second)
		wantFinding(t, r.examine(now, DoctorOptions{}), "clock", SeverityWarn)
		half, err := slots.ParseMinutes(r.client.grid, "0,30")
		r.must(err)
		most, err := slots.ParseMinutes(r.client.grid, "0,15")
		r.must(err)
		found = r.examine(time.Time{}, DoctorOptions{Assignments: []slots.Assignment{half, most}})
		wantFinding(t, found, "coverage.unserved", SeverityBad, ":45")
		wantFinding(t, found, "coverage.doubled", SeverityWarn, ":00")
		r.exec("UPDATE p_slot_config SET resolution_to_s = 300")
		wantFinding(t, r.examine(time.Time{}, DoctorOptions{}), "reslot", SeverityBad, "15m0s to 5m0s")
		r.exec("UPDATE p_slot_config SET resolution_to_s = NULL, resolution_s = 300")
		found = r.examine(time.Time{}, DoctorOptions{})
		wantFinding(t, found, "schema.grid", SeverityBad, "15m0s", "5m0s")
	})
}

func TestADoctorFindsBrokenTablesAndRows(t *testing.T) {
	eachServer(t, func(t *testing.T, r *rig) {
		r.needs(t, columnDefaults)
		r.exec("ALTER TABLE p_future_job DROP CONSTRAINT p_future_job_on_grid")
		wantFinding(t, r.examine(time.Time{}, DoctorOptions{}), "schema.check", SeverityBad, "p_future_job_on_grid")
		r.exec(`INSERT INTO p_future_job (entity_name, entity_key, job_exec, due_at, job_key, first_check_at, next_check_at)
			VALUES ('order', '1', 'check', '2030-01-01 12:00', UNHEX('00112233445566778899AABBCCDDEEFF'), '2030-01-01 12:00', '2030-01-01 12:00'),
			('order', '2', 'check', '2030-01-01 12:00', DEFAULT, '2030-01-01 12:00', '2030-01-01 11:01'),
			('order', '3', 'so wrong', '2030-01-01 12:00', DEFAULT, '2030-01-01 12:00', '2030-01-01 12:00')`)
		found := r.examine(time.Time{}, DoctorOptions{})
		wantFinding(t, found, "rows.key", SeverityBad, "order/1")
		wantFinding(t, found, "rows.early", SeverityBad, "order/2")
		wantFinding(t, found, "rows.names", SeverityBad, "so wrong")
		if do := finding(found, "rows.names").Do; !strings.Contains(do, "CALL p_cancel(") {
			t.Error(do)
		}
		wantFinding(t, found, "rows.grid", SeverityBad, "11:01")
		r.reslotTo(15 * time.Minute) // as the finding says
		found = r.examine(time.Time{}, DoctorOptions{})
		wantFinding(t, found, "schema", SeverityOK)
		if f := finding(found, "rows.grid"); f.Text != "" {
			t.Errorf("after a reslot: %+v", f)
		}
		r.exec("ALTER TABLE p_future_job ALTER COLUMN revision SET DEFAULT 1")
		wantFinding(t, r.examine(time.Time{}, DoctorOptions{}), "schema.default", SeverityBad, "revision")
		r.exec("ALTER TABLE p_job_history DROP KEY job_key")
		wantFinding(t, r.examine(time.Time{}, DoctorOptions{}), "schema.index", SeverityBad, "p_job_history", "job_key")
		r.exec("ALTER TABLE p_slot_run DROP COLUMN takeovers")
		wantFinding(t, r.examine(time.Time{}, DoctorOptions{}), "schema.column", SeverityBad, "takeovers")
		r.exec("DROP TABLE p_slot_run")
		found = r.examine(time.Time{}, DoctorOptions{})
		wantFinding(t, found, "schema.table", SeverityBad, "p_slot_run")
		wantFinding(t, found, "missed", SeverityWarn, "could not be looked at")
		r.exec("DROP TABLE p_slot_config")
		wantFinding(t, r.examine(time.Time{}, DoctorOptions{}), "tables", SeverityBad, "run the migrations")
	})
}

func TestADoctorWarnsBeforePartitionsRunOut(t *testing.T) {
	eachServer(t, func(t *testing.T, r *rig) {
		partitions := func(now time.Time, severity Severity, texts ...string) {
			t.Helper()
			wantFinding(t, r.examine(now, DoctorOptions{}), "partitions", severity, texts...)
		}
		partitions(at("12:00"), SeverityWarn, "one partition only")
		made, err := KeepPartitions(t.Context(), r.pool(at("12:00")), PruneOptions{Prefix: "p_"})
		r.must(err)
		end := made.ReadyUntil
		partitions(at("12:00"), SeverityOK, "up to "+stamp(end))
		partitions(end.Add(-PartitionSpan-time.Hour), SeverityOK)
		partitions(end.Add(-PartitionSpan+time.Hour), SeverityWarn, "end at "+stamp(end)+", which is soon")
		late := end.Add(time.Hour)
		found := r.examine(late, DoctorOptions{})
		wantFinding(t, found, "partitions", SeverityWarn, "ended at "+stamp(end))
		if f := finding(found, "partitions"); !strings.Contains(f.Do, "run prune, or migrate") {
			t.Errorf("%+v", f)
		}
		_, err = Prune(t.Context(), r.pool(late), PruneOptions{Prefix: "p_", Keep: 90 * 24 * time.Hour}) // as it says
		r.must(err)
		partitions(late, SeverityOK)
	})
}

// Each role is told what it can see, and fails for nothing that it need not have.
func TestADoctorLooksAtWhatARoleSees(t *testing.T) {
	eachServer(t, func(t *testing.T, r *rig) {
		r.needs(t, columnDefaults)
		_, err := KeepPartitions(t.Context(), r.pool(time.Time{}), PruneOptions{Prefix: "p_"})
		r.must(err)
		unseen := map[string]string{"analyst": "paused overdue put_off missed leases leases.far rows", "app-sql": "version paused missed leases leases.far invariants partitions",
			"app": "paused missed leases leases.far invariants", "app-reschedule": "paused missed leases leases.far invariants"}
		look := func(role string) []Finding {
			found, err := Doctor(t.Context(), r.as(role, time.Time{}), DoctorOptions{Prefix: "p_", Use: Use(role), Resolution: 15 * time.Minute})
			r.must(err)
			return found
		}
		for _, role := range text.Roles() {
			var not []string
			for _, f := range look(role) {
				switch f.Code {
				case "durability", "settings", "time_zone", "binlog": // the server's at hand
				default:
					if f.Severity != SeverityOK {
						t.Errorf("%s: %+v", role, f)
					}
				}
				if f.Unseen {
					not = append(not, f.Code)
				}
			}
			if got := strings.Join(not, " "); got != unseen[role] {
				t.Errorf("%s does not look at %q; want %q", role, got, unseen[role])
			}
		}
		r.exec("REVOKE SELECT ON p_history_times FROM '" + r.user("analyst") + "'@'%'")
		wantFinding(t, look("analyst"), "grants", SeverityBad, "SELECT on p_history_times")
		r.exec("REVOKE EXECUTE ON PROCEDURE p_cancel FROM '" + r.user("app-sql") + "'@'%'")
		wantFinding(t, look("app-sql"), "grants", SeverityBad, "EXECUTE on PROCEDURE p_cancel")
		r.exec("REVOKE SELECT ON p_slot_run FROM '" + r.user("worker") + "'@'%'")
		wantFinding(t, look("worker"), "missed", SeverityWarn, "could not be looked at")
	})
}

func TestADoctorNamesWhatIsPutOff(t *testing.T) {
	eachServer(t, func(t *testing.T, r *rig) {
		for i := range 3 {
			r.insert(at("12:00"), NewJob{Entity: order(fmt.Sprint(i)), JobExec: "mispelt", DueAt: at("13:05")})
			r.insert(at("12:00"), NewJob{Entity: order(fmt.Sprint(i)), JobExec: "check", DueAt: at("13:35")})
		}
		settled := registry("check", func(context.Context, FutureJob) (*time.Time, error) { return nil, nil }, Guards{})
		wantFinding(t, r.examine(at("13:14"), DoctorOptions{}), "put_off", SeverityOK, "all rows that come due")
		r.runAt(at("13:15"), settled, WorkerOptions{})
		wantFinding(t, r.examine(at("13:16"), DoctorOptions{}), "put_off", SeverityWarn, "3 rows of job_exec mispelt", "1 times", "since 2026-11-20T13:05:00Z")
		r.runAt(at("13:30"), settled, WorkerOptions{})
		found := r.examine(at("13:38"), DoctorOptions{})
		wantFinding(t, found, "put_off", SeverityBad, "3 rows of job_exec mispelt", "2 times")
		if do := finding(found, "put_off").Do; !strings.Contains(do, "jobs --exec mispelt") {
			t.Error(do)
		}
		// Behind more rows than are looked at, some of each slot are.
		r.exec("INSERT INTO p_future_job (entity_name, entity_key, job_exec, due_at, first_check_at, next_check_at, job_key, revision)" +
			" WITH RECURSIVE n AS (SELECT 0 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 240), m AS (SELECT 0 AS j UNION ALL SELECT j + 1 FROM m WHERE j < 24)" +
			" SELECT 'many', CONCAT(i, '-', j), 'check', '2026-11-20 13:40:00', '2026-11-20 13:45:00', '2026-11-20 13:45:00', UNHEX(LEFT(SHA2(CONCAT(i, '-', j), 256), 32)), 1 FROM n, m")
		wantFinding(t, r.examine(at("13:38"), DoctorOptions{}), "put_off", SeverityBad, "3 or more rows of job_exec mispelt")
	})
}

func TestADoctorMissesRights(t *testing.T) {
	eachServer(t, func(t *testing.T, r *rig) {
		user := "px_" + r.d.Name[len(r.d.Name)-8:]
		r.exec("CREATE USER '" + user + "'@'%' IDENTIFIED BY 'Px-secret-9'")
		t.Cleanup(func() { r.exec("DROP USER '" + user + "'@'%'") })
		r.exec("GRANT SELECT ON " + r.d.Name + ".* TO '" + user + "'@'%'")
		r.exec("GRANT UPDATE ON " + r.d.Name + ".p_slot_run TO '" + user + "'@'%'")
		dsn := user + ":Px-secret-9" + r.d.DSN[strings.LastIndex(r.d.DSN, "@"):]
		db, err := Open(dsn, 0)
		r.must(err)
		defer db.Close()
		examine := func(use Use) []Finding {
			found, err := Doctor(t.Context(), db, DoctorOptions{Prefix: "p_", Use: use})
			r.must(err)
			return found
		}
		found := examine(UseWorker)
		wantFinding(t, found, "grants", SeverityBad, user, "DELETE on p_future_job", "INSERT on p_job_history", "INSERT on p_slot_run")
		if text := finding(found, "grants").Text; strings.Contains(text, "SELECT") || strings.Contains(text, "UPDATE on p_slot_run") {
			t.Errorf("it has these: %s", text)
		}
		found = examine(UseApp)
		wantFinding(t, found, "grants", SeverityBad, "INSERT on p_future_job")
		if text := finding(found, "grants").Text; strings.Contains(text, "UPDATE") {
			t.Errorf("an app has no UPDATE by `grants --role app`: %s", text)
		}
		wantFinding(t, examine(UseOwner), "grants", SeverityBad, "ALTER on "+r.d.Name)
	})
}

// What it reads is bounded, however many rows there are.
func TestADoctorReadsABoundedNumberOfRows(t *testing.T) {
	eachServer(t, func(t *testing.T, r *rig) {
		fill(t, r)
		before := sqlx.NewDb(sql.OpenDB(&oneConn{r.pool(time.Time{}).Driver(), servertest.WithParams(r.d.DSN, "parseTime=true&interpolateParams=true")}), "mysql")
		defer before.Close()
		before.SetMaxOpenConns(1)
		read := func() (n int) {
			rows, err := before.Query("SHOW SESSION STATUS LIKE 'Handler_read%'")
			r.must(err)
			defer rows.Close()
			for rows.Next() {
				var name string
				var value int
				r.must(rows.Scan(&name, &value))
				n += value
			}
			return n
		}
		start := read()
		found, err := Doctor(t.Context(), before, DoctorOptions{Prefix: "p_"})
		r.must(err)
		wantFinding(t, found, "rows", SeverityOK)
		const limit = overdueProbe + 2*ledgerProbe + 20*sampleSize + 4*gridProbe + 3*(putOffProbe+gridProbe+putOffSlots*putOffSample) + 10000 // what is grouped is read thrice; the last for information_schema
		if n := read() - start; n > limit {
			t.Errorf("%d entries were read; want %d at most", n, limit)
		}
	})
}

// oneConn connects with a DSN of its own.
type oneConn struct {
	driver driver.Driver
	dsn    string
}

func (c *oneConn) Connect(context.Context) (driver.Conn, error) { return c.driver.Open(c.dsn) }
func (c *oneConn) Driver() driver.Driver                        { return c.driver }
