package prune

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"prescient/prescient/audit"
	"prescient/prescient/internal/rig"
)

func TestPruneKeepsTheAuditUnlessAskedAndWhatProvesVersions(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *testRig) {
		log, err := audit.Open(t.Context(), r.App, audit.Options{Prefix: "p_", Dialect: r.Setting})
		r.Must(err)
		now := time.Now().Truncate(time.Microsecond)
		made := now.AddDate(0, 0, -500)
		at := now.AddDate(0, 0, -400)
		write := func(kind audit.Kind, id string, verb string, version uint64) {
			at = at.Add(time.Second)
			e := audit.Entry{Kind: kind, ID: id, Verb: verb, Version: version}
			if version > 0 && verb != audit.Run {
				e.Incarnation = made
			}
			r.Must(log.Record(t.Context(), r.AppAt(at), e))
		}
		is := func(id string, version int) {
			r.Exec(fmt.Sprintf("INSERT INTO p_schedule (id, crontabs, topic, version, created_at) VALUES ('%s', '@daily', 't', %d, '%s')", id, version, made.UTC().Format("2006-01-02 15:04:05.999999")))
		}
		r.Exec("UPDATE p_audit_log SET at = at - INTERVAL 600 DAY") // of the migration
		is("old", 4)
		is("both", 5)
		is("young", 2)
		for i, verb := range []string{"create", "update", "update", "update"} {
			write(audit.Schedule, "old", verb, uint64(i+1))
		}
		write(audit.Schedule, "old", "run", 4)
		write(audit.Schedule, "gone", "create", 1)
		write(audit.Schedule, "gone", "delete", 2)
		write(audit.Check, "order/1 x", "cancel", 0)
		write(audit.JobExec, "x", "pause", 0)
		write(audit.JobExec, "x", "resume", 0)
		for i, verb := range []string{"create", "update", "update"} {
			write(audit.Schedule, "both", verb, uint64(i+1))
		}
		write(audit.Installation, audit.InstallationID, "prune", 0)
		at = now.AddDate(0, 0, -10)
		write(audit.Schedule, "both", "update", 4)
		write(audit.Schedule, "both", "update", 5)
		write(audit.Schedule, "young", "create", 1)
		write(audit.Schedule, "young", "update", 2)
		left := func() string {
			found, err := log.List(t.Context(), r.As("operator", time.Time{}), audit.Filter{})
			r.Must(err)
			var all []string
			for _, e := range found {
				if e.At.Before(now) {
					all = append(all, fmt.Sprintf("%s-%s%d%v", e.ID, e.Verb, e.Version, map[bool]string{true: "!"}[e.Pruned]))
				}
			}
			slices.Sort(all)
			return strings.Join(all, " ")
		}
		whole := left()
		run := func(keep time.Duration) Report {
			report, err := Run(t.Context(), r.Pool(time.Time{}), Options{Prefix: "p_", Keep: 30 * 24 * time.Hour, KeepAudit: keep, TrustClock: true})
			r.Must(err)
			return report
		}
		if report := run(0); report.AuditRows != 0 || left() != whole {
			t.Errorf("%+v: %s", report, left())
		}
		for _, want := range []int{12, 0} {
			if report := run(365 * 24 * time.Hour); report.AuditRows != want {
				t.Errorf("%d entries were deleted, %s are left; want %d", report.AuditRows, left(), want)
			}
			if got, want := left(), "both-update4! both-update5 old-update4! prescient-begin0 x-resume0 young-create1 young-update2"; got != want {
				t.Errorf("%s are left; want %s", got, want)
			}
			amiss, _, done, err := log.Versions(t.Context(), r.As("operator", time.Time{}), audit.Place{}, 1000)
			if err != nil || !done || len(amiss) > 0 {
				t.Errorf("%v, %v", amiss, err)
			}
		}
		found, err := log.List(t.Context(), r.As("operator", time.Time{}), audit.Filter{Kind: audit.Installation, Verb: "prune"})
		if err != nil || len(found) != 3 || !strings.Contains(string(found[1].After), `"audit_rows":12`) {
			t.Errorf("%+v, %v", found, err)
		}
		// What is missing after that is missing.
		r.Exec("DELETE FROM p_audit_log WHERE id = 'both' AND version = 5")
		write(audit.Schedule, "both", "update", 6)
		write(audit.Schedule, "young", "update", 4)
		amiss, _, _, err := log.Versions(t.Context(), r.As("operator", time.Time{}), audit.Place{}, 1000)
		if got := fmt.Sprint(amiss); err != nil || len(amiss) != 2 || !strings.Contains(got, `schedule "both" lacks version 5`) || !strings.Contains(got, `schedule "young" lacks version 3`) {
			t.Errorf("%v, %v", amiss, err)
		}
	})
}

// An app's entries of versions that there never were, and an open transaction of its, hold up no prune, and take nothing from the proof.
func TestForgedEntriesAreNoMatterToPrune(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		log, err := audit.Open(t.Context(), r.App, audit.Options{Prefix: "p_", Dialect: r.Setting})
		r.Must(err)
		now := time.Now().Truncate(time.Microsecond)
		made := now.AddDate(0, 0, -500)
		r.Exec("UPDATE p_audit_log SET at = at - INTERVAL 600 DAY")
		r.Exec(fmt.Sprintf("INSERT INTO p_schedule (id, crontabs, topic, version, created_at) VALUES ('a', '@daily', 't', 4, '%s')", made.UTC().Format("2006-01-02 15:04:05.999999")))
		write := func(daysAgo int, version uint64) {
			r.Must(log.Record(t.Context(), r.AppAt(now.AddDate(0, 0, -daysAgo)), audit.Entry{Kind: audit.Schedule, ID: "a", Verb: audit.Update, Version: version, Incarnation: made}))
		}
		for i := range 3 {
			write(400-i, uint64(i+1))
		}
		write(380, 18446744073709551615) // forged
		write(10, 4)
		tx := rig.Begin(t, r.App, 0)
		r.Must(log.Record(t.Context(), tx, audit.Entry{Kind: audit.Installation, ID: audit.InstallationID, Verb: "prune"}))
		defer tx.Rollback()
		began := time.Now()
		report, err := Run(t.Context(), r.Pool(time.Time{}), Options{Prefix: "p_", Keep: 30 * 24 * time.Hour, KeepAudit: 365 * 24 * time.Hour, TrustClock: true})
		if err != nil || report.AuditRows != 4 {
			t.Errorf("%+v, %v after %s", report, err, time.Since(began))
		}
		if amiss, _, _, err := log.Versions(t.Context(), r.As("operator", time.Time{}), audit.Place{}, 1000); err != nil || len(amiss) > 0 {
			t.Errorf("%v, %v", amiss, err)
		}
	})
}

func TestNoStatementOfPruneScansTheAudit(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.ReadPlans)
		const entries = 8000 // four of each schedule, and one each second
		rows := make([]string, entries)
		for i := range rows {
			rows[i] = fmt.Sprintf("('2026-11-20' + INTERVAL %[1]d SECOND, UNHEX('%016[1]X'), 'app@h', SUBSTRING(UNHEX(SHA2(CONCAT('schedule', UNHEX('00'), 's%[2]d'), 256)), 1, 16), 'schedule', 's%[2]d', 'update', %[3]d, '2026-11-20')", i, i/4, i%4+1)
		}
		for some := range slices.Chunk(rows, 1000) {
			r.Exec("INSERT INTO p_audit_log (at, entry, account, stream, kind, id, verb, version, incarnation) VALUES " + strings.Join(some, ","))
		}
		rows = rows[:0]
		for i := range entries / 4 {
			rows = append(rows, fmt.Sprintf("('s%d', '@daily', 't', 4, '2026-11-20'), ('t%[1]d', '@daily', 't', 4, '2026-11-20')", i))
		}
		r.Exec("INSERT INTO p_schedule (id, crontabs, topic, version, created_at) VALUES " + strings.Join(rows, ","))
		r.Exec("INSERT INTO p_schedule_deleted (id, fired_until) SELECT id, '2026-11-20' + INTERVAL LENGTH(id) DAY FROM p_schedule")
		r.Exec("ANALYZE TABLE p_audit_log, p_schedule, p_schedule_deleted")
		conn, err := r.Pool(time.Time{}).Conn(t.Context())
		r.Must(err)
		defer conn.Close()
		fill := r.Fill().Tables.Fill
		const cutoff = "'2026-11-20 01:00:00'"
		place := old{at: "2026-11-20 00:10:00.000000", entry: strings.Repeat("80", 8)}
		const one = "SUBSTRING(UNHEX(SHA2(CONCAT('schedule', UNHEX('00'), 's7'), 256)), 1, 16)"
		reached := func(key string) map[string]string {
			return map[string]string{"old": key, "one": "PRIMARY 514", "job": "PRIMARY 66", "step": "PRIMARY 66", "later": "stream 16", "first": "stream 16"}
		}
		for _, e := range []rig.Explained{
			{Statement: "prune/audit_old first", Query: fill("prune/audit_old", "{cutoff}", cutoff, "{behind}", "1 = 1", "{limit}", "500"), Reached: reached("PRIMARY 8")},
			{Statement: "prune/audit_old behind", Query: fill("prune/audit_old", "{cutoff}", cutoff, "{behind}", place.behind(), "{limit}", "500"), Reached: reached("PRIMARY 16")},
			{Statement: "prune/audit_end", Query: fill("prune/audit_end", "{entries}",
				"SELECT CAST('2026-11-20 00:10:00.000000' AS DATETIME(6)) AS at, X'0000000000000258' AS entry UNION ALL SELECT CAST('2026-11-20 00:10:01.000000' AS DATETIME(6)), X'0000000000000259'"),
				Reached: map[string]string{"old": "PRIMARY 16"}},
			{Statement: "prune/audit_mark", Query: fill("prune/audit_mark", "{stream}", one, "{incarnation}", "'2026-11-20'", "{version}", "2"),
				Reached: map[string]string{"entry": "incarnation 34"}},
			{Statement: "prune/schedules_gone", Query: fill("prune/schedules_gone"), Args: []any{"2026-11-20", 10}, Reached: map[string]string{"gone": "fired_until 8", "one": "PRIMARY 514"}},
			{Statement: "prune/schedules_deleted", Query: fill("prune/schedules_deleted", "{ids}", "'s7','s8'"), Args: []any{"2026-12-20"}, Reached: map[string]string{"p_schedule_deleted": "PRIMARY 514"}},
			{Statement: "prune/schedule_versions", Query: fill("prune/schedule_versions", "{ids}", "'s7','s8'"), Reached: map[string]string{"p_schedule_version": "PRIMARY 514"}},
			{Statement: "prune/tokens", Query: fill("prune/tokens"), Args: []any{"2026-11-20", 10}, Reached: map[string]string{"p_api_token": "expires_at 8"}},
		} {
			t.Run(e.Statement, func(t *testing.T) { e.Check(t, conn) })
		}
	})
}
