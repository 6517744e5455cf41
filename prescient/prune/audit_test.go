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

func TestPruneKeepsTheAuditUnlessAskedAndLeavesNoGap(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		log, err := audit.Open(t.Context(), r.App, audit.Options{Prefix: "p_", Dialect: r.Setting})
		r.Must(err)
		now := time.Now()
		write := func(daysAgo int, kind audit.Kind, id string, verbs ...string) {
			for _, verb := range verbs {
				r.Must(log.Record(t.Context(), r.AppAt(now.AddDate(0, 0, -daysAgo)), audit.Entry{Kind: kind, ID: id, Verb: verb}))
			}
		}
		write(400, audit.Schedule, "old", "create", "update", "update", "update")
		write(400, audit.Schedule, "gone", "create", "delete")
		write(400, audit.Check, "order/1 x", "cancel", "requeue")
		write(400, audit.Schedule, "both", "create", "update", "update")
		write(10, audit.Schedule, "both", "update", "delete")
		write(10, audit.Schedule, "young", "create", "update")
		left := func() string {
			found, err := log.List(t.Context(), r.As("operator", time.Time{}), audit.Filter{})
			r.Must(err)
			var all []string
			for _, e := range found {
				if e.Kind != audit.Installation {
					all = append(all, fmt.Sprintf("%s%d%v", e.ID, e.Seq, map[bool]string{true: "!"}[e.Pruned]))
				}
			}
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
		for _, want := range []int{8, 0} {
			if report := run(365 * 24 * time.Hour); report.AuditRows != want {
				t.Errorf("%d entries were deleted, %s are left; want %d", report.AuditRows, left(), want)
			}
			for _, one := range strings.Fields("young1 young2 both1 both4! both5 old1 old4!") {
				if !strings.Contains(" "+left()+" ", " "+one+" ") {
					t.Errorf("%s is gone: %s", one, left())
				}
			}
			gaps, _, done, err := log.Gaps(t.Context(), r.As("operator", time.Time{}), audit.Place{}, 1000)
			if err != nil || !done || len(gaps) > 0 {
				t.Errorf("%v, %v", gaps, err)
			}
		}
		found, err := log.List(t.Context(), r.As("operator", time.Time{}), audit.Filter{Kind: audit.Installation, Verb: "prune"})
		if err != nil || len(found) != 3 || !strings.Contains(string(found[1].After), `"audit_rows":8`) {
			t.Errorf("%+v, %v", found, err)
		}
		// What is made anew goes on, though its first entries are gone.
		r.Must(log.Record(t.Context(), r.App, audit.Entry{Kind: audit.Schedule, ID: "both", Verb: "create", New: true}))
		r.Must(log.Record(t.Context(), r.App, audit.Entry{Kind: audit.Schedule, ID: "gone", Verb: "create", New: true}))
		if gaps, _, _, err := log.Gaps(t.Context(), r.As("operator", time.Time{}), audit.Place{}, 1000); err != nil || len(gaps) > 0 || !strings.Contains(left(), "both6") {
			t.Errorf("%v, %v: %s", gaps, err, left())
		}
	})
}

func TestNoStatementOfPruneScansTheAudit(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.ReadPlans)
		const entries = 8000 // four of each schedule, and one each second
		stream := func(i int) string { return fmt.Sprintf("X'%032X'", i) }
		rows := make([]string, entries)
		for i := range rows {
			rows[i] = fmt.Sprintf("('2026-11-20' + INTERVAL %d SECOND, 'app@h', %s, %d, 'schedule', 's%d', 'update')", i, stream(i/4), i%4+1, i/4)
		}
		for some := range slices.Chunk(rows, 1000) {
			r.Exec("INSERT INTO p_audit_log (at, account, stream, seq, kind, id, verb) VALUES " + strings.Join(some, ","))
		}
		r.Exec("ANALYZE TABLE p_audit_log")
		conn, err := r.Pool(time.Time{}).Conn(t.Context())
		r.Must(err)
		defer conn.Close()
		fill := r.Fill().Tables.Fill
		const cutoff = "'2026-11-20 01:00:00'"
		place := old{at: "2026-11-20 00:10:00.000000", stream: strings.Repeat("80", 16), seq: "2"}
		table := func(name, key string) map[string]string { return map[string]string{name: key} }
		for _, e := range []rig.Explained{
			{Statement: "prune/audit_old first", Query: fill("prune/audit_old", "{cutoff}", cutoff, "{behind}", "1 = 1", "{limit}", "500"), Reached: table("p_audit_log", "PRIMARY 8")},
			{Statement: "prune/audit_old behind", Query: fill("prune/audit_old", "{cutoff}", cutoff, "{behind}", place.behind(), "{limit}", "500"), Reached: table("p_audit_log", "PRIMARY 28")},
			{Statement: "prune/audit_streams", Query: fill("prune/audit_streams", "{streams}", stream(7)+","+stream(8)+","+stream(9), "{cutoff}", cutoff),
				Reached: map[string]string{"p_audit_log": "stream 16", "entry": "stream 20"}},
			{Statement: "prune/audit_end", Query: fill("prune/audit_end", "{ranges}", "entry.stream = "+stream(7)+" AND entry.seq >= 2 AND entry.seq < 4 OR entry.stream = "+stream(8)+" AND entry.seq >= 2 AND entry.seq < 3"),
				Reached: table("entry", "stream 20")},
			{Statement: "prune/audit_mark", Query: fill("prune/audit_mark", "{entries}", "stream = "+stream(7)+" AND seq = 4 OR stream = "+stream(8)+" AND seq = 3"), Reached: table("p_audit_log", "stream 20")},
		} {
			t.Run(e.Statement, func(t *testing.T) { e.Check(t, conn) })
		}
	})
}
