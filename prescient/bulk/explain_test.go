package bulk_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"prescient/prescient/internal/rig"
)

func TestNoStatementOfABulkRunScansATable(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.ReadPlans)
		f := r.Fill()
		var runs, checks []string
		for i := range 500 {
			runs = append(runs, fmt.Sprintf("(%d, 'cancel', '{}', '2026-11-20', 'a', '', '', 0, 1, REPEAT('x', 32), '2026-11-20', '2026-11-20', '2026-11-20')", i+1))
			for j := range 10 {
				checks = append(checks, fmt.Sprintf("(%d, SUBSTRING(UNHEX(SHA2(%d, 256)), 1, 16))", i+1, 10*i+j))
			}
		}
		r.Exec("INSERT INTO p_bulk_run (number, deed, filter, cutoff, person, reason, host, matched, is_exact, token, token_until, started_at, ended_at) VALUES " + strings.Join(runs, ", "))
		r.Exec("INSERT INTO p_bulk_check (number, job_key) VALUES " + strings.Join(checks, ", "))
		r.Exec("ANALYZE TABLE p_bulk_run, p_bulk_check")
		conn, err := r.Pool(time.Time{}).Conn(t.Context())
		r.Must(err)
		defer conn.Close()
		s := f.Tables.Stmt
		columns := func(name string) string { return f.Tables.Fill(name, "{columns}", "number, deed") }
		one := map[string]string{"p_bulk_run": "PRIMARY 8"}
		stretch := "next_check_at >= '2026-11-20 06:00:00' AND next_check_at < '2026-11-20 06:30:00'"
		rig.CheckPlans(t, conn, []rig.Explained{
			{Statement: "bulk/find", Query: columns("bulk/find"), Args: []any{7}, Reached: one},
			{Statement: "bulk/list", Query: columns("bulk/list"), Args: []any{400, 10}, Reached: one},
			{Statement: "bulk/waiting", Query: s.Get("bulk/waiting"), Reached: map[string]string{"p_bulk_run": "ended_at 18"}},
			{Statement: "bulk/start", Query: s.Get("bulk/start"), Args: []any{7, strings.Repeat("x", 32)}, Reached: one},
			{Statement: "bulk/stop", Query: s.Get("bulk/stop"), Args: []any{7}, Reached: one},
			{Statement: "bulk/step", Query: s.Get("bulk/step"), Args: []any{1, "", 1, 0, 0, 7}, Reached: one},
			{Statement: "bulk/end", Query: s.Get("bulk/end"), Args: []any{"", 7}, Reached: one},
			{Statement: "bulk/of_check", Query: columns("bulk/of_check"), Args: []any{strings.Repeat("x", 16), 100}, Reached: map[string]string{"p_bulk_check": "job_key 16", "p_bulk_run": "PRIMARY 8"}},
			{Statement: "bulk/noted", Query: f.Tables.Fill("bulk/noted", "{keys}", "X'00112233445566778899AABBCCDDEEFF', X'01112233445566778899AABBCCDDEEFF'"), Args: []any{7}, Reached: map[string]string{"p_bulk_check": "PRIMARY 24"}},
			{Statement: "list/pending_count", Query: f.Tables.Fill("list/pending_count", "{filter}", "job_exec = 'exec1'", "{bounds}", stretch, "{index}", "PRIMARY"), Reached: map[string]string{"p_future_job": rig.BySlot}},
		}, s, []string{"bulk"}, "bulk/insert", "bulk/checks", "bulk/lock")
	})
}
