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
		wantFinding(t, r.examine(time.Time{}, DoctorOptions{}), "missed", SeverityWarn, "no slot was served")
		r.serve(3)
		r.exec("DELETE FROM p_slot_run ORDER BY slot DESC LIMIT 3")
		found := r.examine(time.Time{}, DoctorOptions{SweepGrace: time.Millisecond})
		wantFinding(t, found, "missed", SeverityWarn, "2 of 1")
		wantFinding(t, found, "overdue", SeverityOK)
		r.needs(t, columnDefaults)
		for i := range 3 {
			r.exec("INSERT INTO p_future_job (entity_name, entity_key, job_exec, due_at) SELECT 'order', ?, 'check', UTC_TIMESTAMP(6) - INTERVAL 30 MINUTE", i)
		}
		wantFinding(t, r.examine(time.Time{}, DoctorOptions{}), "overdue", SeverityWarn, "3 rows")
		r.exec("INSERT INTO p_future_job (entity_name, entity_key, job_exec, due_at) VALUES ('a', 'b', 'c', '2001-01-01 00:00:01')")
		wantFinding(t, r.examine(time.Time{}, DoctorOptions{}), "overdue", SeverityBad, "2001-01-01T00:15:00Z")
		wantFinding(t, found, "leases", SeverityOK)
		r.exec("UPDATE p_slot_run SET worker = 'gone', allocated_until = UTC_TIMESTAMP(6) - INTERVAL 90 SECOND ORDER BY slot LIMIT 2")
		wantFinding(t, r.examine(time.Time{}, DoctorOptions{}), "leases", SeverityWarn, "2 leases", "worker gone", "1m30s")
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
		wantFinding(t, examine(UseApp), "grants", SeverityBad, "INSERT on p_future_job")
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
		const limit = overdueProbe + 2*ledgerProbe + 20*sampleSize + 4*gridProbe + 10000 // the last for information_schema
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
