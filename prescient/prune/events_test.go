package prune

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"prescient/prescient/internal/rig"
	"prescient/sql/migrate"
)

func TestWhatIsKnownOfPublishedEventsLeavesByDays(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *testRig) {
		options := Options{Keep: 10 * 24 * time.Hour, TrustClock: true}
		partitions := func() int {
			return r.Count("SELECT COUNT(*) FROM information_schema.PARTITIONS WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 'p_event_published' AND PARTITION_NAME IS NOT NULL")
		}
		r.prune(rig.At("10:05"), options)
		if n := partitions(); n != 1 {
			t.Errorf("%d partitions where nothing is kept; want one", n)
		}
		days := func(table, column, columns, values string, ages ...int) {
			for _, age := range ages {
				at := rig.At("10:00").AddDate(0, 0, -age).Format(time.DateTime)
				r.Exec(fmt.Sprintf("INSERT INTO p_%s (%s, %s) VALUES ('%s', %s)", table, column, columns, at, fmt.Sprintf(values, age)))
			}
		}
		days("event_count", "slot", "topic, published, set_aside", "'t%d', 1, 0", 1, 9, 11, 12)
		days("event_seen", "seen_at", "consumer, id", "'c', '%d'", 1, 9, 11, 12, 13)
		days("event_published", "published_at", "seq, id, topic, event_key, generated_at, inserted_at", "%d, 'e', 't', 'k', '2026-11-01', '2026-11-01'", 1, 5, 9, 11)
		report := r.prune(rig.At("10:05"), options)
		if n := report.EventRows; n != 2+3+1 || len(report.DroppedDays) > 0 {
			t.Errorf("%d rows, %q; want 6 rows and no day", n, report.DroppedDays)
		}
		if n := partitions(); n < 10 {
			t.Errorf("%d partitions; want one a day", n)
		}
		// Five days later two of the days are old, each in a partition of its own.
		if report = r.prune(rig.At("10:05").AddDate(0, 0, 5), options); len(report.DroppedDays) == 0 || report.EventRows != 1+1 {
			t.Errorf("%d rows, %q", report.EventRows, report.DroppedDays)
		}
		if n := r.Count("SELECT COUNT(*) FROM p_event_published"); n != 2 {
			t.Errorf("%d published events are left; want 2", n)
		}
	})
}

func TestNoStatementForPublishedEventsScansATable(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.ReadPlans)
		f := r.Fill()
		for table, row := range map[string]string{"event_count": "('2026-11-20' + INTERVAL %d MINUTE, 't', 1, 0)", "event_seen": "('c', '%d', '2026-11-20')",
			"event_published": "('2026-11-20', %d, 'e', 't', 'k', '2026-11-20', NULL, '2026-11-20', NULL, NULL)"} {
			for i := range 300 {
				r.Exec("INSERT INTO p_" + table + " VALUES " + fmt.Sprintf(row, i))
			}
		}
		r.Exec("ANALYZE TABLE p_event_count, p_event_seen, p_event_published")
		conn, err := r.Pool(time.Time{}).Conn(t.Context())
		r.Must(err)
		defer conn.Close()
		old := time.Date(2026, 10, 1, 0, 0, 0, 0, time.UTC)
		for _, e := range []rig.Explained{
			{Statement: "prune/later_end", Query: (&pruner{tables: f.Tables}).fill(published, "prune/later_end"), Args: []any{old, 1000},
				Reached: map[string]string{"p_event_published": "PRIMARY 8"}},
			{Statement: "prune/events_counted", Query: f.Tables.Stmt.Get("prune/events_counted"), Args: []any{old, 1000},
				Reached: map[string]string{"p_event_count": "PRIMARY 5"}},
			{Statement: "prune/events_seen", Query: f.Tables.Stmt.Get("prune/events_seen"), Args: []any{old, 1000},
				Reached: map[string]string{"p_event_seen": "seen_at 8"}},
		} {
			t.Run(e.Statement, func(t *testing.T) { e.Check(t, conn) })
		}
	})
}

// What an app has locked is left, and named; all else goes.
func TestWhatIsLockedIsLeftToTheNextPrune(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		r.Exec("INSERT INTO p_api_token (hash, name, role, created_at, expires_at, revoked_at) VALUES ('1', 'gone', 'admin', '2025-01-01', '2026-01-01', NULL), ('2', 'revoked', 'admin', '2026-01-01', '2027-01-01', '2026-01-02'), ('3', 'ended of late', 'admin', '2026-01-01', '2026-11-20', NULL)")
		r.Exec("INSERT INTO p_schedule_deleted (id, fired_until) VALUES ('gone', '2026-01-01'), ('again', '2026-01-01'), ('of late', '2026-11-20')")
		r.Exec("INSERT INTO p_schedule (id, crontabs, job_exec) VALUES ('again', '0 * * * *', 'x')")
		for _, id := range []string{"gone", "again", "of late"} {
			r.Exec("INSERT INTO p_schedule_version (schedule, created_at, version, ended_at, crontabs, zone, job_exec, topic, owner_name, owner_key, catch_up, may_coalesce, is_long, pool, heartbeat) " +
				"VALUES ('" + id + "', '2025-01-01', 1, '2026-01-01', '0 * * * *', 'UTC', 'x', '', '', '', 'once', 0, 0, '', '')")
		}
		r.Exec("INSERT INTO p_event_count (slot, topic, published, set_aside) VALUES ('2026-01-01', 't', 1, 0)")
		r.Exec("INSERT INTO p_event_seen (consumer, id, seen_at) VALUES ('c', 'gone', '2026-01-01')")
		tx, err := r.Root.BeginTx(t.Context(), nil)
		r.Must(err)
		defer tx.Rollback()
		_, err = tx.Exec("INSERT INTO p_event_seen (consumer, id, seen_at) VALUES ('c', 'held', '2025-01-01')")
		r.Must(err)
		options := Options{Prefix: "p_", Keep: 10 * 24 * time.Hour, TrustClock: true, Patience: 2 * time.Second}
		report, err := Run(t.Context(), r.Pool(rig.At("10:05")), options)
		if held := new(migrate.HeldError); !errors.As(err, &held) || !held.Rows {
			t.Errorf("%v; want who has rows locked", err)
		}
		if report.EventRows < 1 || r.Count("SELECT COUNT(*) FROM p_schedule_deleted") != 1 || r.Count("SELECT COUNT(*) FROM p_schedule_version WHERE schedule IN ('again', 'of late')") != 2 || r.Count("SELECT COUNT(*) FROM p_schedule_version") != 2 || r.Count("SELECT COUNT(*) FROM p_api_token WHERE number <> 1") != 2 || r.Count("SELECT COUNT(*) FROM p_api_token") != 2 || r.Count("SELECT COUNT(*) FROM p_audit_log WHERE verb = 'prune'") != 1 {
			t.Errorf("%+v; want all gone but what is locked", report)
		}
		r.Must(tx.Rollback())
		if report := r.prune(rig.At("10:05"), options); report.EventRows < 1 || r.Count("SELECT COUNT(*) FROM p_event_seen") != 0 {
			t.Errorf("%+v; want the rest gone", report)
		}
	})
}
