package prune

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"prescient/prescient"
	"prescient/prescient/client"
	"prescient/prescient/internal/literal"
	"prescient/prescient/internal/rig"
	"prescient/prescient/internal/store"
	"prescient/sql/migrate"
)

func TestPartitionsOfHistoryAreWeeksFromMonday(t *testing.T) {
	now := rig.At("10:05") // a Friday
	names := func(list []partition) (all []string) {
		for _, p := range list {
			all = append(all, p.name+"<"+p.before.Format("0102"))
		}
		return all
	}
	monday := time.Date(2026, 11, 16, 0, 0, 0, 0, time.UTC)
	for _, test := range []struct {
		name        string
		last, begin time.Time
		n           int
		first       string
	}{
		{"none yet", time.Time{}, now, 9, "p_20261116<1123"},
		{"none yet, and ends of earlier weeks", time.Time{}, now.AddDate(0, 0, -14), 11, "p_20261102<1109"},
		{"the week that is now is there", monday.AddDate(0, 0, 7), now, 8, "p_20261123<1130"},
		{"one is missing", monday.AddDate(0, 0, 8*7), now, 1, "p_20270111<0118"},
		{"all are there", monday.AddDate(0, 0, 9*7), now, 0, ""},
		{"more are there", monday.AddDate(1, 0, 0), now, 0, ""},
		{"somebody made one that ends on a Wednesday", monday.AddDate(0, 0, 9), now, 8, "p_20261123<1130"},
		{"nobody did this for four weeks", monday.AddDate(0, 0, -21), now.AddDate(0, 0, -14), 11, "p_20261102<1109"},
		{"nobody did this, and nothing ended", monday.AddDate(0, 0, -21), now, 9, "p_20261116<1123"},
		{"ends of centuries ago", time.Time{}, now.AddDate(-300, 0, 0), mostBehind + 9, "p_20161128<1205"},
	} {
		got := names(missing(history.span, test.last, test.begin, now))
		if len(got) != test.n || test.n > 0 && (got[0] != test.first || got[test.n-1] != "p_20270111<0118") {
			t.Errorf("%s: %d: %v; want %d from %s", test.name, len(got), got, test.n, test.first)
		}
	}
}

// end writes an end of a row that nobody ever saw, on a day that is so many before the tests'.
func (r *testRig) end(daysAgo int, key string) {
	r.T.Helper()
	ended := rig.At("10:00").AddDate(0, 0, -daysAgo)
	job := prescient.FutureJob{EntityName: "order", EntityKey: key, JobExec: "check", DueAt: ended, FirstCheckAt: ended, NextCheckAt: ended,
		InsertedAt: ended, Revision: 1}
	row := store.AppendEnd(nil, store.End{Job: job, Key: job.Key(), Outcome: prescient.Done, Started: ended, Ended: ended, Worker: "w"})
	_, err := r.Root.ExecContext(r.T.Context(), r.Tables().Fill("slotrun/history_insert", "{rows}", string(row)))
	r.Must(err)
}

func (r *testRig) prune(now time.Time, options Options) Report {
	r.T.Helper()
	options.Prefix = "p_"
	report, err := Run(r.T.Context(), r.Pool(now), options)
	r.Must(err)
	return report
}

func (r *testRig) keepPartitions(now time.Time, options Options) Report {
	r.T.Helper()
	options.Prefix = "p_"
	report, err := KeepPartitions(r.T.Context(), r.Pool(now), options)
	r.Must(err)
	return report
}

// A check that was cancelled before it was tried again leaves a run that has not ended.
func TestPruneTakesLongRunsWhoseChecksAreGone(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *testRig) {
		r.Exec("INSERT INTO p_future_job (entity_name, entity_key, job_exec, due_at) VALUES ('e', 'pending', 'export', '2026-11-20 12:00:00')")
		for _, run := range []struct{ name, key, until, inserted, ended string }{
			{"its check is pending", "(SELECT job_key FROM p_future_job)", "NULL", "2026-01-01", "NULL"},
			{"its lease lives", "REPEAT('a', 16)", "'2026-11-20 10:06:00'", "2026-01-01", "NULL"},
			{"gone not long ago", "REPEAT('b', 16)", "NULL", "2026-11-19", "NULL"},
			{"ended not long ago", "REPEAT('c', 16)", "NULL", "2026-01-01", "'2026-11-19'"},
			{"left in between", "REPEAT('d', 16)", "NULL", "2026-01-01", "NULL"},
			{"its agent died", "REPEAT('e', 16)", "'2026-11-20 10:04:00'", "2026-01-01", "NULL"},
			{"ended long ago", "REPEAT('f', 16)", "NULL", "2026-01-01", "'2026-01-02'"},
			{"kept by a foreign key", "REPEAT('0', 16)", "NULL", "2026-01-01", "'2026-01-01'"},
			{"kept by one, and left", "REPEAT('1', 16)", "NULL", "2026-01-01", "NULL"},
		} {
			r.Exec(fmt.Sprintf("INSERT INTO p_long_run (job_key, agent, token, allocated_until, slot, due_at, inserted_at, check_count, ended_at) "+
				"VALUES (%s, '%s', 1, %s, '2026-01-01', '2026-01-01', '%s', 0, %s)", run.key, run.name, run.until, run.inserted, run.ended))
		}
		r.Exec("CREATE TABLE keeps (job_key BINARY(16) NOT NULL, FOREIGN KEY (job_key) REFERENCES p_long_run (job_key))")
		r.Exec("INSERT INTO keeps VALUES (REPEAT('0', 16)), (REPEAT('1', 16))")
		report := r.prune(rig.At("10:05"), Options{Keep: 11 * 24 * time.Hour})
		var left string
		r.Must(r.Pool(rig.At("10:05")).QueryRow("SELECT GROUP_CONCAT(agent ORDER BY agent) FROM p_long_run").Scan(&left))
		if want := "ended not long ago,gone not long ago,its check is pending,its lease lives,kept by a foreign key,kept by one, and left"; left != want || report.LongRuns != 3 {
			t.Errorf("left: %s, %d pruned; want %s, and 3", left, report.LongRuns, want)
		}
	})
}

func TestPruneDropsPartitionsThatAreWhollyOlder(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *testRig) {
		long := rig.Day.AddDate(0, 0, -100).Add(10 * time.Hour)
		report := r.keepPartitions(long, Options{})
		if len(report.Made) != PartitionsAhead+1 || report.Made[0] != "p_20260810" {
			t.Fatalf("%+v", report)
		}
		for _, ago := range []int{100, 95, 60, 40, 11, 10, 4, 0} {
			r.end(ago, fmt.Sprint(ago))
		}
		// Nobody looked after the partitions since: those of ten weeks are to be made for a handful of rows.
		report = r.prune(rig.At("10:05"), Options{Keep: 90 * 24 * time.Hour})
		if fmt.Sprint(report.Dropped) != "[p_20260810]" || len(report.Made) != 10 || report.Made[0] != "p_20261109" {
			t.Errorf("%+v", report)
		}
		if want := time.Date(2027, 1, 18, 0, 0, 0, 0, time.UTC); !report.ReadyUntil.Equal(want) {
			t.Errorf("ready until %s; want %s", report.ReadyUntil, want)
		}
		if left := r.kept(); left != "0 4 10 11 40 60 95" {
			t.Errorf("kept: %s", left)
		}
		// The week of the 11th day began 18 days ago, and ended 12 days ago.
		report = r.prune(rig.At("10:05"), Options{Keep: 11 * 24 * time.Hour})
		if left := r.kept(); left != "0 4 10 11" || len(report.Made) != 0 {
			t.Errorf("kept: %s; %+v", left, report)
		}
		report = r.prune(rig.At("10:05"), Options{Keep: 11 * 24 * time.Hour})
		if len(report.Made)+len(report.Dropped)+report.HistoryRows > 0 || !report.ReadyUntil.Equal(time.Date(2027, 1, 18, 0, 0, 0, 0, time.UTC)) {
			t.Errorf("again: %+v", report)
		}
		if n := r.Count("SELECT COUNT(*) FROM p_job_history PARTITION (p_later)"); n != 0 {
			t.Errorf("%d rows in the last partition", n)
		}
	})
}

// kept is which of the ends are left, the latest first.
func (r *testRig) kept() string {
	r.T.Helper()
	var keys []string
	for _, end := range r.History() {
		keys = append(keys, end.EntityKey)
	}
	return strings.Join(keys, " ")
}

func TestAFullLastPartitionIsLeftUntilItIsNearlyEmpty(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *testRig) {
		for ago := range 30 {
			r.end(ago, fmt.Sprint(ago))
		}
		report := r.keepPartitions(rig.At("10:05"), Options{MaxCopy: 10})
		if !report.Undivided || len(report.Made) != 0 {
			t.Errorf("%+v", report)
		}
		// What is old is deleted there, row by row, since it can never be dropped.
		report = r.prune(rig.At("10:05"), Options{MaxCopy: 10, Keep: 20 * 24 * time.Hour})
		if !report.Undivided || report.HistoryRows != 10 || len(report.Made)+len(report.Dropped) > 0 || len(r.History()) != 20 {
			t.Errorf("%+v, %d ends left", report, len(r.History()))
		}
		report = r.prune(rig.At("10:05"), Options{MaxCopy: 10, Keep: 10*24*time.Hour - time.Hour})
		if report.Undivided || report.HistoryRows != 10 || len(report.Made) != PartitionsAhead+2 || r.kept() != "0 1 2 3 4 5 6 7 8 9" {
			t.Errorf("%+v, kept %s", report, r.kept())
		}
	})
}

func TestPruneKeepsTheLedgerOfSlotsThatHoldRowsOrAreBeingRun(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.ColumnDefaults)
		slot := func(ago int) string { return rig.Day.AddDate(0, 0, -ago).Format(literal.SecondLayout) }
		for ago := range 120 {
			_, err := r.Root.Exec("INSERT INTO p_slot_run (slot, bucket, buckets, finished_at) VALUES (?, 0, 2, ?), (?, 1, 2, ?)",
				slot(ago), slot(ago), slot(ago), slot(ago))
			r.Must(err)
		}
		for _, q := range []string{
			// Something came to be pending in one; one is being run; a worker died in one.
			"INSERT INTO p_future_job (entity_name, entity_key, job_exec, due_at) VALUES ('order', '42', 'check', '" + slot(100) + "')",
			"UPDATE p_slot_run SET allocated_until = '2026-11-20 10:05:30' WHERE bucket = 1 AND slot = '" + slot(101) + "'",
			"UPDATE p_slot_run SET allocated_until = '2026-11-20 10:04:30' WHERE bucket = 1 AND slot = '" + slot(102) + "'",
		} {
			_, err := r.Root.Exec(q)
			r.Must(err)
		}
		report := r.prune(rig.At("10:05"), Options{Keep: 90 * 24 * time.Hour})
		if report.LedgerRows != 2*(30-2) || report.LedgerSlotsKept != 2 {
			t.Errorf("%+v", report)
		}
		if n := r.Count("SELECT COUNT(*) FROM p_slot_run WHERE slot <= ?", slot(90)); n != 4 {
			t.Errorf("%d rows of the ledger are left of old slots; want two of each of two", n)
		}
		if n := r.Count("SELECT COUNT(*) FROM p_slot_run"); n != 2*90+4 {
			t.Errorf("%d rows of the ledger are left", n)
		}
	})
}

func TestPruneRefusesToKeepLessThanADay(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *testRig) {
		for _, keep := range []time.Duration{0, -time.Hour, 23 * time.Hour} {
			if _, err := Run(t.Context(), r.Pool(time.Time{}), Options{Prefix: "p_", Keep: keep}); !errors.Is(err, prescient.ErrInvalid) {
				t.Errorf("keep %s: %v", keep, err)
			}
		}
		if _, err := Run(t.Context(), r.Pool(time.Time{}), Options{Prefix: "q_", Keep: MinKeep}); !errors.Is(err, prescient.ErrNotMigrated) {
			t.Errorf("without tables: %v", err)
		}
	})
}

func TestOnlyOnePruneAtATime(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *testRig) {
		conn, err := r.App.Conn(t.Context())
		r.Must(err)
		defer conn.Close()
		if r.Server.Placed() { // where it is no named lock
			unlock, err := migrate.Schema{Prefix: "p_"}.LockPrune(t.Context(), conn, r.App)
			r.Must(err)
			defer unlock()
		} else {
			_, err = conn.ExecContext(t.Context(), "DO GET_LOCK(CONCAT('prescient-prune:', LEFT(SHA2(CONCAT(DATABASE(), '/p_'), 256), 32)), 0)")
			r.Must(err)
		}
		if _, err := Run(t.Context(), r.Pool(time.Time{}), Options{Prefix: "p_", Keep: MinKeep}); !errors.Is(err, ErrPruning) {
			t.Error(err)
		}
	})
}

func TestNoStatementOfPruneScansATableOrSorts(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.ReadPlans)
		f := r.Fill()
		r.Exec("INSERT INTO p_rule (name, version, occasion, job_exec, state, since, created_at, updated_at) VALUES ('a', 1, 'placed', 'check', 'on', '2026-11-20', '2026-11-20', '2026-11-20'), ('b', 1, 'placed', 'check', 'on', '2026-11-20', '2026-11-20', '2026-11-20')")
		conn, err := r.Pool(time.Time{}).Conn(t.Context())
		r.Must(err)
		defer conn.Close()
		for _, e := range []rig.Explained{
			{Statement: "prune/ledger", Query: f.Tables.Stmt.Get("prune/ledger"), Args: []any{rig.At("01:00"), rig.At("06:00"), 500},
				Reached: map[string]string{"run": "PRIMARY 5", "job": rig.BySlot}},
			{Statement: "prune/ledger_lock", Query: f.Tables.Fill("prune/ledger_lock", "{slots}", slotList([]time.Time{rig.At("01:00"), rig.At("01:15"), rig.At("01:30")})), Args: nil,
				Reached: map[string]string{"run": "PRIMARY 5", "job": rig.BySlot}},
			{Statement: "prune/ledger_end", Query: f.Tables.Fill("prune/ledger_end", "{slots}", slotList([]time.Time{rig.At("01:00"), rig.At("01:15"), rig.At("01:30")})), Args: nil,
				Reached: map[string]string{"run": "PRIMARY 5"}},
			{Statement: "prune/exec_end", Query: f.Tables.Fill("prune/exec_end", "{slots}", slotList([]time.Time{rig.At("01:00"), rig.At("01:15"), rig.At("01:30")})),
				Reached: map[string]string{"line": "PRIMARY 5"}},
			{Statement: "prune/exec_known", Query: f.Tables.Stmt.Get("prune/exec_known"), Args: []any{rig.At("04:01"), 1000}, Reached: map[string]string{"p_exec_known": "seen_at 8"}},
			{Statement: "prune/stats", Query: f.Tables.Fill("prune/stats", "{table}", "stats", "{grain}", "hour"), Args: []any{rig.At("04:01"), 1000}, Reached: map[string]string{"p_stats": "PRIMARY 6"}},
			{Statement: "prune/stats_hours", Query: f.Tables.Stmt.Get("prune/stats_hours"), Args: []any{rig.At("04:01"), 1000}, Reached: map[string]string{"p_stats_hour": "PRIMARY 5"}},
			{Statement: "prune/kept", Query: f.Tables.Stmt.Get("prune/kept"), Args: []any{rig.At("04:01"), rig.At("04:01"), rig.At("04:01"), rig.At("06:00"), rig.At("04:01"), rig.At("06:00")},
				Reached: map[string]string{"p_slot_run": "PRIMARY 5", "p_job_history": "PRIMARY 8"}},
			{Statement: "prune/later_end", Query: (&pruner{tables: f.Tables}).fill(history, "prune/later_end"), Args: []any{rig.At("04:01"), 1000},
				Reached: map[string]string{"p_job_history": "PRIMARY 8"}},
			{Statement: "prune/long_runs", Query: f.Tables.Stmt.Get("prune/long_runs"), Args: []any{rig.At("04:01"), 1000},
				Reached: map[string]string{"p_long_run": "ended_at 9"}},
			{Statement: "prune/long_runs_left", Query: f.Tables.Stmt.Get("prune/long_runs_left"), Args: []any{rig.At("04:01"), 1000},
				Reached: map[string]string{"p_long_run": "ended_at 9", "job": "job_key 16"}},
			{Statement: "prune/rules_pending", Query: f.Tables.Fill("prune/rules_pending", "{slot}", "'2026-11-20 04:00'", "{key}", "X'00'", "{until}", "AND (job.next_check_at < '2026-11-20 04:15' OR job.next_check_at = '2026-11-20 04:15' AND job.job_key <= X'80')", "{tags}", "'rule:a', 'rule:b'"),
				Reached: map[string]string{"job": rig.BySlotAndKey}},
			{Statement: "prune/rule_lock", Query: f.Tables.Fill("prune/rule_lock", "{name}", "'a'"), Args: []any{rig.At("04:01")}, Reached: map[string]string{"p_rule": "PRIMARY 61"}},
			{Statement: "prune/rule_versions", Query: f.Tables.Fill("prune/rule_versions", "{name}", "'a'"), Reached: map[string]string{"p_rule_version": "PRIMARY 61"}},
			{Statement: "prune/job_runs", Query: f.Tables.Stmt.Get("prune/job_runs"), Args: []any{rig.At("04:01"), 1000},
				Reached: map[string]string{"p_job_run_log": "scheduled_at 8", "run": "PRIMARY 16"}},
			{Statement: "prune/step_runs", Query: f.Tables.Stmt.Get("prune/step_runs"), Args: []any{rig.At("04:01"), 1000},
				Reached: map[string]string{"p_step_run_log": "started_at 8", "run": "PRIMARY 132"}},
		} {
			t.Run(e.Statement, func(t *testing.T) { e.Check(t, conn) })
		}
	})
}

func TestListingsOfHistoryStayOnTheirKeysWithPartitions(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		begin := time.Now()
		r.keepPartitions(rig.Day.AddDate(0, 0, -60), Options{})
		r.keepPartitions(rig.Day, Options{})
		t.Logf("18 partitions were made in %s", time.Since(begin))
		r.Fill()
		db := sqlx.NewDb(r.Pool(time.Time{}).DB, "mysql")
		db.SetMaxOpenConns(1) // the counters are those of a connection
		var page []client.Ended
		var err error
		read := rig.ReadsOf(t, db, func() {
			page, err = r.Client.History(t.Context(), db, client.ListFilter{From: rig.At("04:00"), Limit: 100})
		})
		if err != nil || len(page) != 100 || read > 450 {
			t.Errorf("%d entries were read for %d rows, %v", read, len(page), err)
		}
	})
}
