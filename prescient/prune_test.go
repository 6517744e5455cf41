package prescient

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestPartitionsOfHistoryAreWeeksFromMonday(t *testing.T) {
	now := at("10:05") // a Friday
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
		got := names(missing(test.last, test.begin, now))
		if len(got) != test.n || test.n > 0 && (got[0] != test.first || got[test.n-1] != "p_20270111<0118") {
			t.Errorf("%s: %d: %v; want %d from %s", test.name, len(got), got, test.n, test.first)
		}
	}
}

// end writes an end of a row that nobody ever saw, on a day that is so many before the tests'.
func (r *rig) end(daysAgo int, key string) {
	r.t.Helper()
	ended := at("10:00").AddDate(0, 0, -daysAgo)
	job := FutureJob{EntityName: "order", EntityKey: key, JobExec: "check", DueAt: ended, FirstCheckAt: ended, NextCheckAt: ended,
		InsertedAt: ended, Revision: 1}
	row := appendHistory(nil, historyRow{job: job, key: job.Key(), outcome: Done, started: ended, ended: ended, worker: "w"})
	_, err := r.root.ExecContext(r.t.Context(), r.client.fill("slotrun/history_insert", "{rows}", string(row)))
	r.must(err)
}

func (r *rig) prune(now time.Time, options PruneOptions) PruneReport {
	r.t.Helper()
	options.Prefix = "p_"
	report, err := Prune(r.t.Context(), r.pool(now), options)
	r.must(err)
	return report
}

func (r *rig) keepPartitions(now time.Time, options PruneOptions) PruneReport {
	r.t.Helper()
	options.Prefix = "p_"
	report, err := KeepPartitions(r.t.Context(), r.pool(now), options)
	r.must(err)
	return report
}

func TestPruneDropsPartitionsThatAreWhollyOlder(t *testing.T) {
	eachServer(t, func(t *testing.T, r *rig) {
		long := day.AddDate(0, 0, -100).Add(10 * time.Hour)
		report := r.keepPartitions(long, PruneOptions{})
		if len(report.Made) != PartitionsAhead+1 || report.Made[0] != "p_20260810" {
			t.Fatalf("%+v", report)
		}
		for _, ago := range []int{100, 95, 60, 40, 11, 10, 4, 0} {
			r.end(ago, fmt.Sprint(ago))
		}
		// Nobody looked after the partitions since: those of ten weeks are to be made for a handful of rows.
		report = r.prune(at("10:05"), PruneOptions{Keep: 90 * 24 * time.Hour})
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
		report = r.prune(at("10:05"), PruneOptions{Keep: 11 * 24 * time.Hour})
		if left := r.kept(); left != "0 4 10 11" || len(report.Made) != 0 {
			t.Errorf("kept: %s; %+v", left, report)
		}
		report = r.prune(at("10:05"), PruneOptions{Keep: 11 * 24 * time.Hour})
		if len(report.Made)+len(report.Dropped)+report.HistoryRows > 0 || !report.ReadyUntil.Equal(time.Date(2027, 1, 18, 0, 0, 0, 0, time.UTC)) {
			t.Errorf("again: %+v", report)
		}
		if n := r.count("SELECT COUNT(*) FROM p_job_history PARTITION (p_later)"); n != 0 {
			t.Errorf("%d rows in the last partition", n)
		}
	})
}

// kept is which of the ends are left, the latest first.
func (r *rig) kept() string {
	r.t.Helper()
	var keys []string
	for _, end := range r.history() {
		keys = append(keys, end.EntityKey)
	}
	return strings.Join(keys, " ")
}

func TestAFullLastPartitionIsLeftUntilItIsNearlyEmpty(t *testing.T) {
	eachServer(t, func(t *testing.T, r *rig) {
		for ago := range 30 {
			r.end(ago, fmt.Sprint(ago))
		}
		report := r.keepPartitions(at("10:05"), PruneOptions{MaxCopy: 10})
		if !report.Undivided || len(report.Made) != 0 {
			t.Errorf("%+v", report)
		}
		// What is old is deleted there, row by row, since it can never be dropped.
		report = r.prune(at("10:05"), PruneOptions{MaxCopy: 10, Keep: 20 * 24 * time.Hour})
		if !report.Undivided || report.HistoryRows != 10 || len(report.Made)+len(report.Dropped) > 0 || len(r.history()) != 20 {
			t.Errorf("%+v, %d ends left", report, len(r.history()))
		}
		report = r.prune(at("10:05"), PruneOptions{MaxCopy: 10, Keep: 10*24*time.Hour - time.Hour})
		if report.Undivided || report.HistoryRows != 10 || len(report.Made) != PartitionsAhead+2 || r.kept() != "0 1 2 3 4 5 6 7 8 9" {
			t.Errorf("%+v, kept %s", report, r.kept())
		}
	})
}

func TestPruneKeepsTheLedgerOfSlotsThatHoldRowsOrAreBeingRun(t *testing.T) {
	eachServer(t, func(t *testing.T, r *rig) {
		r.needs(t, columnDefaults)
		slot := func(ago int) string { return day.AddDate(0, 0, -ago).Format(secondLayout) }
		for ago := range 120 {
			_, err := r.root.Exec("INSERT INTO p_slot_run (slot, bucket, buckets, finished_at) VALUES (?, 0, 2, ?), (?, 1, 2, ?)",
				slot(ago), slot(ago), slot(ago), slot(ago))
			r.must(err)
		}
		for _, q := range []string{
			// Something came to be pending in one; one is being run; a worker died in one.
			"INSERT INTO p_future_job (entity_name, entity_key, job_exec, due_at) VALUES ('order', '42', 'check', '" + slot(100) + "')",
			"UPDATE p_slot_run SET allocated_until = '2026-11-20 10:05:30' WHERE bucket = 1 AND slot = '" + slot(101) + "'",
			"UPDATE p_slot_run SET allocated_until = '2026-11-20 10:04:30' WHERE bucket = 1 AND slot = '" + slot(102) + "'",
		} {
			_, err := r.root.Exec(q)
			r.must(err)
		}
		report := r.prune(at("10:05"), PruneOptions{Keep: 90 * 24 * time.Hour})
		if report.LedgerRows != 2*(30-2) || report.LedgerSlotsKept != 2 {
			t.Errorf("%+v", report)
		}
		if n := r.count("SELECT COUNT(*) FROM p_slot_run WHERE slot <= ?", slot(90)); n != 4 {
			t.Errorf("%d rows of the ledger are left of old slots; want two of each of two", n)
		}
		if n := r.count("SELECT COUNT(*) FROM p_slot_run"); n != 2*90+4 {
			t.Errorf("%d rows of the ledger are left", n)
		}
	})
}

func TestPruneRefusesToKeepLessThanADay(t *testing.T) {
	eachServer(t, func(t *testing.T, r *rig) {
		for _, keep := range []time.Duration{0, -time.Hour, 23 * time.Hour} {
			if _, err := Prune(t.Context(), r.pool(time.Time{}), PruneOptions{Prefix: "p_", Keep: keep}); !errors.Is(err, ErrInvalid) {
				t.Errorf("keep %s: %v", keep, err)
			}
		}
		if _, err := Prune(t.Context(), r.pool(time.Time{}), PruneOptions{Prefix: "q_", Keep: MinKeep}); !errors.Is(err, ErrNotMigrated) {
			t.Errorf("without tables: %v", err)
		}
	})
}

func TestOnlyOnePruneAtATime(t *testing.T) {
	eachServer(t, func(t *testing.T, r *rig) {
		conn, err := r.app.Conn(t.Context())
		r.must(err)
		defer conn.Close()
		_, err = conn.ExecContext(t.Context(), "DO GET_LOCK(CONCAT('prescient-prune:', LEFT(SHA2(CONCAT(DATABASE(), '/p_'), 256), 32)), 0)")
		r.must(err)
		if _, err := Prune(t.Context(), r.pool(time.Time{}), PruneOptions{Prefix: "p_", Keep: MinKeep}); !errors.Is(err, ErrPruning) {
			t.Error(err)
		}
	})
}

func TestNoStatementOfPruneScansATableOrSorts(t *testing.T) {
	eachServer(t, func(t *testing.T, r *rig) {
		r.needs(t, readPlans)
		f := fill(t, r)
		conn, err := r.pool(time.Time{}).Conn(t.Context())
		r.must(err)
		defer conn.Close()
		for _, e := range []explained{
			{"prune/ledger", f.w.stmt.Get("prune/ledger"), []any{at("01:00"), at("06:00"), 500},
				map[string]string{"run": "PRIMARY 5", "job": bySlot}},
			{"prune/ledger_lock", f.w.fill("prune/ledger_lock", "{slots}", slotList([]time.Time{at("01:00"), at("01:15"), at("01:30")})), nil,
				map[string]string{"run": "PRIMARY 5", "job": bySlot}},
			{"prune/ledger_end", f.w.fill("prune/ledger_end", "{slots}", slotList([]time.Time{at("01:00"), at("01:15"), at("01:30")})), nil,
				map[string]string{"run": "PRIMARY 5"}},
			{"prune/kept", f.w.stmt.Get("prune/kept"), []any{at("04:01"), at("04:01"), at("04:01"), at("06:00"), at("04:01"), at("06:00")},
				map[string]string{"p_slot_run": "PRIMARY 5", "p_job_history": "PRIMARY 8"}},
			{"prune/later_end", f.w.stmt.Get("prune/later_end"), []any{at("04:01"), 1000},
				map[string]string{"p_job_history": "PRIMARY 8"}},
		} {
			t.Run(e.statement, func(t *testing.T) { e.check(t, conn) })
		}
	})
}

func TestListingsOfHistoryStayOnTheirKeysWithPartitions(t *testing.T) {
	eachServer(t, func(t *testing.T, r *rig) {
		begin := time.Now()
		r.keepPartitions(day.AddDate(0, 0, -60), PruneOptions{})
		r.keepPartitions(day, PruneOptions{})
		t.Logf("18 partitions were made in %s", time.Since(begin))
		f := fill(t, r)
		conn, err := r.pool(time.Time{}).Conn(t.Context())
		r.must(err)
		defer conn.Close()
		for _, e := range f.listStatements() {
			if strings.HasPrefix(e.statement, "list/history") {
				t.Run(strings.ReplaceAll(e.statement, " ", "_"), func(t *testing.T) { e.check(t, conn) })
			}
		}
	})
}
