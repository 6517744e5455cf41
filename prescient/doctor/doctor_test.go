package doctor

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"prescient/prescient"
	"prescient/prescient/internal/rig"
	"prescient/prescient/localserver/servertest"
	"prescient/prescient/prune"
	"prescient/prescient/reslot"
	"prescient/prescient/worker"
	"prescient/slots"
	text "prescient/sql"
)

// examine asks the doctor, at a time that its server shows; the running clock where it is zero.
func (r *testRig) examine(now time.Time, o Options) []Finding {
	r.T.Helper()
	o.Prefix, o.Dialect = "p_", r.Setting
	found, err := Examine(r.T.Context(), r.Pool(now), o)
	r.Must(err)
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
	if f.Severity != severity || severity.Wrong() && f.Do == "" {
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
func (r *testRig) serve(hours int) {
	r.T.Helper()
	r.Exec(fmt.Sprintf(`INSERT INTO p_slot_run (slot, bucket, buckets, finished_at)
		WITH RECURSIVE n AS (SELECT 0 AS i UNION ALL SELECT i + 1 FROM n WHERE i < %d)
		SELECT TIMESTAMP'1970-01-01 00:00:00' + INTERVAL 900 * (TIMESTAMPDIFF(SECOND, TIMESTAMP'1970-01-01 00:00:00', UTC_TIMESTAMP()) DIV 900 - i) SECOND,
			0, 1, UTC_TIMESTAMP() FROM n`, hours*4))
}

func TestADoctorFindsNothingBadWhereAllIsWell(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *testRig) {
		r.serve(24)
		_, err := r.Client.Insert(t.Context(), r.App, prescient.NewJob{Entity: rig.Order("42"), JobExec: "check", DueAt: time.Now().Add(time.Hour)})
		r.Must(err)
		grid, _ := slots.NewGrid(15 * time.Minute)
		found := r.examine(time.Time{}, Options{Resolution: 15 * time.Minute, Assignments: []slots.Assignment{slots.All(grid)}})
		for _, f := range found {
			// What the server at hand is set to is not the installation's.
			switch f.Code {
			case "partitions", "durability", "settings", "time_zone", "binlog":
			default:
				if f.Severity.Wrong() {
					t.Errorf("%+v", f)
				}
			}
		}
		for _, check := range examinations {
			if f := finding(found, check.code); f.Text == "" && check.code != "partitions" {
				t.Errorf("nothing is said about %s: %+v", check.code, found)
			}
		}
		if finding(found, "partitions").Text == "" {
			t.Errorf("nothing is said about partitions: %+v", found)
		}
		for _, use := range []Use{UseApp, UseOwner} {
			wantFinding(t, r.examine(time.Time{}, Options{Use: use}), "grants", SeverityOK, string(use))
		}
	})
}

func TestADoctorFindsWhatIsLeftBehind(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *testRig) {
		wantFinding(t, r.examine(time.Time{}, Options{}), "missed", SeverityOK, "No slot is over since")
		r.Exec("UPDATE p_slot_config SET changed_at = changed_at - INTERVAL 1 DAY")
		wantFinding(t, r.examine(time.Time{}, Options{}), "missed", SeverityWarn, "No slot was served")
		r.serve(3)
		r.Exec("DELETE FROM p_slot_run ORDER BY slot DESC LIMIT 3")
		found := r.examine(time.Time{}, Options{SweepGrace: time.Millisecond})
		wantFinding(t, found, "missed", SeverityWarn, "2 of 1")
		wantFinding(t, r.examine(time.Time{}, Options{SweepGrace: time.Millisecond, MissedAllowed: 2}), "missed", SeverityOK, "doctor.missed allows 2")
		wantFinding(t, found, "overdue", SeverityOK)
		wantFinding(t, found, "leases", SeverityOK)
		now := time.Now().UTC().Truncate(time.Microsecond) // the clock stands still
		r.Exec("UPDATE p_slot_run SET worker = 'gone', allocated_until = ? ORDER BY slot LIMIT 2", now.Add(-90*time.Second))
		wantFinding(t, r.examine(now, Options{}), "leases", SeverityWarn, "2 leases", "worker gone", "1m30s")
	})
}

// How bad it is that rows are late follows the resolution, the grace and the sweeps.
func TestADoctorJudgesLatenessByResolutionAndSweeps(t *testing.T) {
	eachFlavourAt(t, time.Second, func(t *testing.T, r *testRig) {
		for i := range 24 {
			r.Insert(rig.At("13:00"), prescient.NewJob{Entity: rig.Order(fmt.Sprint(i)), JobExec: "check", DueAt: rig.At("13:05")})
		}
		judge := func(clock string, severity Severity, o Options, texts ...string) {
			t.Helper()
			wantFinding(t, r.examine(rig.At(clock), o), "overdue", severity, texts...)
		}
		judge("13:05:05", SeverityOK, Options{}, "Nothing is overdue")
		judge("13:06:09", SeverityOK, Options{}, "24 checks", "1m9s ago", "The next sweep runs these checks")
		judge("13:06:11", SeverityWarn, Options{}, "24 checks", "since its slot 2026-11-20T13:05:00Z")
		judge("13:07:19", SeverityWarn, Options{})
		judge("13:07:21", SeverityBad, Options{})
		judge("13:09:00", SeverityBad, Options{}, "4m0s ago")
		judge("13:09:00", SeverityWarn, Options{SweepEvery: 3 * time.Minute})
		judge("13:09:00", SeverityWarn, Options{OverdueBad: 5 * time.Minute}, "check of order/")
		r.Must(r.Client.Pause(t.Context(), r.Pool(time.Time{}), prescient.Paused{JobExec: prescient.AllExecs}))
		judge("13:09:00", SeverityWarn, Options{}, "Everything is paused")
	})
}

// Checks of a job_exec that is paused go from slot to slot, so that they are never overdue: the pause says how many wait for it.
func TestADoctorSaysWhatWaitsForAPause(t *testing.T) {
	t.Parallel()
	eachFlavour(t, func(t *testing.T, r *testRig) {
		for i, exec := range []string{"check", "check", "check", "other"} {
			r.Insert(rig.At("13:00"), prescient.NewJob{Entity: rig.Order(fmt.Sprint(i)), JobExec: exec, DueAt: rig.At("13:05")})
		}
		r.Insert(rig.At("13:00"), prescient.NewJob{Entity: rig.Order("later"), JobExec: "check", DueAt: rig.At("17:00")})
		paused := func(severity Severity, texts ...string) {
			t.Helper()
			wantFinding(t, r.examine(rig.At("13:35"), Options{}), "paused", severity, texts...)
		}
		paused(SeverityOK, "Neither a job_exec nor the publishing of events is paused")
		r.Must(r.Client.Pause(t.Context(), r.Pool(time.Time{}), prescient.Paused{JobExec: "check"}))
		paused(SeverityWarn, "The job_exec check has been paused since", "3 of the first 10,000 pending checks wait for the pause to end, the first for 30m0s")
	})
}

// The slots of seconds ago count as served, and those of another resolution not as missed.
func TestADoctorCountsTheSlotsThatThereWere(t *testing.T) {
	eachFlavourAt(t, time.Second, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.ChangeOfResolution)
		missed := func(clock string, severity Severity, text string) {
			t.Helper()
			wantFinding(t, r.examine(rig.At(clock), Options{}), "missed", severity, text)
		}
		r.Exec("UPDATE p_slot_config SET changed_at = '2026-11-20 12:00:00'")
		missed("13:00:00", SeverityWarn, "No slot was served since 2026-11-20T12:26:3")
		r.Exec("INSERT INTO p_slot_run (slot, bucket, buckets) VALUES ('2026-11-20 12:59:57', 0, 1)")
		missed("13:00:00", SeverityPart, "the first one 2026-11-20T12:59:57Z. Earlier slots of the last day were not looked at")
		r.Exec("INSERT INTO p_slot_run (slot, bucket, buckets) SELECT slot - INTERVAL 10 MINUTE, 0, 1 FROM p_slot_run")
		missed("13:00:00", SeverityWarn, "were not served in time")
		r.reslotTo(time.Minute)
		r.Exec("UPDATE p_slot_config SET changed_at = '2026-11-20 12:59:50'")
		missed("13:00:30", SeverityOK, "No slot is over")
		r.Exec("INSERT INTO p_slot_run (slot, bucket, buckets) VALUES ('2026-11-20 13:00:00', 0, 1), ('2026-11-20 13:02:00', 0, 1)")
		missed("13:02:30", SeverityWarn, "1 of 2 slots")
	})
	eachFlavourAt(t, 24*time.Hour, func(t *testing.T, r *testRig) {
		r.Exec("UPDATE p_slot_config SET changed_at = '2026-11-10 12:00:00'")
		r.Exec("INSERT INTO p_slot_run (slot, bucket, buckets) VALUES ('2026-11-20 00:00:00', 0, 1)")
		wantFinding(t, r.examine(rig.At("13:00:00"), Options{}), "missed", SeverityOK, "the first one 2026-11-20T00:00:00Z")
	})
}

func TestADoctorComparesResolutionsClocksAndAssignments(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.ColumnDefaults)
		found := r.examine(rig.At("12:00"), Options{Resolution: 5 * time.Minute})
		wantFinding(t, found, "resolution", SeverityBad, "5m0s", "15m0s")
		wantFinding(t, found, "clock", SeverityBad, "lease")
		now := time.Now().Add(5 * time.Second)
		wantFinding(t, r.examine(now, Options{}), "clock", SeverityWarn)
		half, err := slots.ParseMinutes(r.Tables().Grid, "0,30")
		r.Must(err)
		most, err := slots.ParseMinutes(r.Tables().Grid, "0,15")
		r.Must(err)
		found = r.examine(time.Time{}, Options{Assignments: []slots.Assignment{half, most}})
		wantFinding(t, found, "coverage.unserved", SeverityBad, ":45")
		wantFinding(t, found, "coverage.doubled", SeverityWarn, ":00")
		r.Exec("UPDATE p_slot_config SET resolution_to_s = 300")
		wantFinding(t, r.examine(time.Time{}, Options{}), "reslot", SeverityBad, "15m0s to 5m0s")
		r.Exec("UPDATE p_slot_config SET resolution_to_s = NULL, resolution_s = 300")
		found = r.examine(time.Time{}, Options{})
		wantFinding(t, found, "schema.grid", SeverityBad, "15m0s", "5m0s")
	})
}

func TestADoctorFindsBrokenTablesAndRows(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.ColumnDefaults)
		r.Exec("ALTER TABLE p_future_job DROP CONSTRAINT p_future_job_on_grid")
		wantFinding(t, r.examine(time.Time{}, Options{}), "schema.check", SeverityBad, "p_future_job_on_grid")
		r.Exec(`INSERT INTO p_future_job (entity_name, entity_key, job_exec, due_at, job_key, first_check_at, next_check_at)
			VALUES ('order', '1', 'check', '2030-01-01 12:00', UNHEX('00112233445566778899AABBCCDDEEFF'), '2030-01-01 12:00', '2030-01-01 12:00'),
			('order', '2', 'check', '2030-01-01 12:00', DEFAULT, '2030-01-01 12:00', '2030-01-01 11:01')`)
		found := r.examine(time.Time{}, Options{})
		wantFinding(t, found, "rows.key", SeverityBad, "order/1")
		wantFinding(t, found, "rows.early", SeverityBad, "order/2")
		wantFinding(t, found, "rows.grid", SeverityBad, "11:01")
		// A row from before its CHECK.
		r.Exec("ALTER TABLE p_future_job DROP CONSTRAINT p_future_job_identified")
		r.Exec("INSERT INTO p_future_job (entity_name, entity_key, job_exec, due_at) VALUES ('order', '3', 'so wrong', '2030-01-01 12:00')")
		found = r.examine(time.Time{}, Options{})
		wantFinding(t, found, "rows.names", SeverityBad, "so wrong")
		if do := finding(found, "rows.names").Do; !strings.Contains(do, "CALL p_cancel(") {
			t.Error(do)
		}
		r.Exec("DELETE FROM p_future_job WHERE entity_key = '3'")
		r.Exec("ALTER TABLE p_future_job ADD CONSTRAINT p_future_job_identified CHECK (CONCAT(entity_name, job_exec) NOT REGEXP '[^A-Za-z0-9_.-]')")
		r.reslotTo(15 * time.Minute) // as the finding says
		found = r.examine(time.Time{}, Options{})
		wantFinding(t, found, "schema", SeverityOK)
		if f := finding(found, "rows.grid"); f.Text != "" {
			t.Errorf("after a reslot: %+v", f)
		}
		r.Exec("ALTER TABLE p_future_job ALTER COLUMN revision SET DEFAULT 1")
		wantFinding(t, r.examine(time.Time{}, Options{}), "schema.default", SeverityBad, "revision")
		r.Exec("ALTER TABLE p_job_history DROP KEY job_key")
		wantFinding(t, r.examine(time.Time{}, Options{}), "schema.index", SeverityBad, "p_job_history", "job_key")
		r.Exec("ALTER TABLE p_slot_run DROP COLUMN takeovers")
		wantFinding(t, r.examine(time.Time{}, Options{}), "schema.column", SeverityBad, "takeovers")
		r.Exec("DROP TABLE p_slot_run")
		found = r.examine(time.Time{}, Options{})
		wantFinding(t, found, "schema.table", SeverityBad, "p_slot_run")
		wantFinding(t, found, "missed", SeverityWarn, "could not be looked at")
		r.Exec("DROP TABLE p_slot_config")
		found = r.examine(time.Time{}, Options{})
		wantFinding(t, found, "tables", SeverityBad, "slot_config is missing or empty")
		if do := finding(found, "tables").Do; !strings.Contains(do, "All migrations were applied") || !strings.Contains(do, "`migrate --repair`") {
			t.Error(do)
		}
	})
}

func TestADoctorWarnsBeforePartitionsRunOut(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *testRig) {
		partitions := func(now time.Time, severity Severity, texts ...string) {
			t.Helper()
			wantFinding(t, r.examine(now, Options{}), "partitions", severity, texts...)
		}
		partitions(rig.At("12:00"), SeverityWarn, "one partition only")
		made, err := prune.KeepPartitions(t.Context(), r.Pool(rig.At("12:00")), prune.Options{Prefix: "p_"})
		r.Must(err)
		end := made.ReadyUntil
		partitions(rig.At("12:00"), SeverityOK, "up to "+slots.Stamp(end))
		partitions(end.Add(-text.PartitionSpan-time.Hour), SeverityOK)
		partitions(end.Add(-text.PartitionSpan+time.Hour), SeverityWarn, "end at "+slots.Stamp(end)+", which is soon")
		late := end.Add(time.Hour)
		found := r.examine(late, Options{})
		wantFinding(t, found, "partitions", SeverityWarn, "ended at "+slots.Stamp(end))
		if f := finding(found, "partitions"); !strings.Contains(f.Do, "Run `prune` or `migrate`") {
			t.Errorf("%+v", f)
		}
		_, err = prune.Run(t.Context(), r.Pool(late), prune.Options{Prefix: "p_", Keep: 90 * 24 * time.Hour}) // as it says
		r.Must(err)
		partitions(late, SeverityOK)
	})
}

func TestADoctorNamesWhatIsPutOff(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *testRig) {
		for i := range 3 {
			r.Insert(rig.At("12:00"), prescient.NewJob{Entity: rig.Order(fmt.Sprint(i)), JobExec: "mispelt", DueAt: rig.At("13:05")})
			r.Insert(rig.At("12:00"), prescient.NewJob{Entity: rig.Order(fmt.Sprint(i)), JobExec: "check", DueAt: rig.At("13:35")})
		}
		settled := rig.Registry("check", func(context.Context, prescient.FutureJob) (*time.Time, error) { return nil, nil }, prescient.Guards{})
		wantFinding(t, r.examine(rig.At("13:14"), Options{}), "put_off", SeverityOK, "No check is put off")
		r.RunAt(rig.At("13:15"), settled, worker.Options{})
		wantFinding(t, r.examine(rig.At("13:16"), Options{}), "put_off", SeverityWarn, "3 checks of job_exec mispelt", "without a call, once.", "since 2026-11-20T13:05:00Z")
		r.RunAt(rig.At("13:30"), settled, worker.Options{})
		found := r.examine(rig.At("13:38"), Options{})
		wantFinding(t, found, "put_off", SeverityBad, "3 checks of job_exec mispelt", "2 times")
		if do := finding(found, "put_off").Do; !strings.Contains(do, "pending --exec mispelt") {
			t.Error(do)
		}
		// One that cannot be ended needs no worker.
		r.Insert(rig.At("12:00"), prescient.NewJob{Entity: rig.Order("kept"), JobExec: "kept", DueAt: rig.At("13:35")})
		r.Exec("UPDATE p_future_job SET put_off_count = 1, last_error = 'not called any more, since it cannot be ended: 1451' WHERE job_exec = 'kept'")
		if found := r.examine(rig.At("13:38"), Options{}); !slices.ContainsFunc(found, func(f Finding) bool {
			return f.Code == "put_off" && strings.Contains(f.Text, "job_exec kept") && strings.Contains(f.Do, "foreign key or trigger")
		}) {
			t.Errorf("%+v", found)
		}
		// Nor does one whose calls ignore their timeout: another reason of the same job_exec does not hide it.
		r.Insert(rig.At("12:00"), prescient.NewJob{Entity: rig.Order("hangs"), JobExec: "kept", DueAt: rig.At("13:35")})
		r.Exec("UPDATE p_future_job SET put_off_count = 1, last_error = 'put off: too many calls of this job_exec ignored their timeout and still run' WHERE entity_key = 'hangs'")
		if found := r.examine(rig.At("13:38"), Options{}); !slices.ContainsFunc(found, func(f Finding) bool {
			return f.Code == "put_off" && strings.Contains(f.Text, "1 check of job_exec kept is put off") && strings.Contains(f.Do, "restart the workers") && !strings.Contains(f.Do, "pending --exec")
		}) || !slices.ContainsFunc(found, func(f Finding) bool { return strings.Contains(f.Do, "foreign key or trigger") }) {
			t.Errorf("%+v", found)
		}
		r.Exec("DELETE FROM p_future_job WHERE job_exec = 'kept'")
		// They are found among others.
		r.Exec("INSERT INTO p_future_job (entity_name, entity_key, job_exec, due_at, first_check_at, next_check_at, job_key, revision)" +
			" WITH RECURSIVE n AS (SELECT 0 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 240), m AS (SELECT 0 AS j UNION ALL SELECT j + 1 FROM m WHERE j < 24)" +
			" SELECT 'many', CONCAT(i, '-', j), 'check', '2026-11-20 13:40:00', '2026-11-20 13:45:00', '2026-11-20 13:45:00', UNHEX(LEFT(SHA2(CONCAT(i, '-', j), 256), 32)), 1 FROM n, m")
		wantFinding(t, r.examine(rig.At("13:38"), Options{}), "put_off", SeverityBad, "3 checks of job_exec mispelt")
	})
}

// What it reads is bounded, however many rows there are.
func TestADoctorReadsABoundedNumberOfRows(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *testRig) {
		r.Fill()
		before := sqlx.NewDb(sql.OpenDB(&oneConn{r.Pool(time.Time{}).Driver(), servertest.WithParams(r.D.DSN, "parseTime=true&interpolateParams=true")}), "mysql")
		defer before.Close()
		before.SetMaxOpenConns(1)
		read := func() (n int) {
			rows, err := before.Query("SHOW SESSION STATUS LIKE 'Handler_read%'")
			r.Must(err)
			defer rows.Close()
			for rows.Next() {
				var name string
				var value int
				r.Must(rows.Scan(&name, &value))
				n += value
			}
			return n
		}
		start := read()
		found, err := Examine(t.Context(), before, Options{Prefix: "p_", Dialect: r.Setting})
		r.Must(err)
		wantFinding(t, found, "rows", SeverityPart)
		const limit = overdueProbe + 2*ledgerProbe + 20*sampleSize + 4*gridProbe + 3*(putOffProbe+gridProbe+putOffSlots*putOffSample) + 2*(timerProbe+2*scheduleProbe) + 10000 // what is grouped is read thrice; the last for information_schema
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

// reslotTo changes the resolution, as an operator does.
func (r *testRig) reslotTo(to time.Duration) reslot.Result {
	r.T.Helper()
	did, err := reslot.Run(r.T.Context(), r.Pool(time.Time{}), reslot.Options{Prefix: "p_", Resolution: to, LeaseWait: -1})
	r.Must(err)
	return did
}
