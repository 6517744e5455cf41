package rulebook_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/literal"
	"prescient/prescient/internal/rig"
)

func TestNoStatementOfRulesScansATable(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.ReadPlans)
		f := r.Fill()
		var rules, versions []string
		for i := range 300 {
			rules = append(rules, fmt.Sprintf("('rule%d', 3, 'placed', 'check', 'on', '2026-11-20', '2026-11-20', '2026-11-20')", i))
			for v := range 3 {
				versions = append(versions, fmt.Sprintf("('rule%d', %d, '2026-11-20', 'on', 60, 0, 'keep', '')", i, v+1))
			}
		}
		r.Exec("INSERT INTO p_rule (name, version, occasion, job_exec, state, since, created_at, updated_at) VALUES " + strings.Join(rules, ", "))
		r.Exec("INSERT INTO p_rule_version (rule, version, created_at, state, delay, spread, on_pending, ends) VALUES " + strings.Join(versions, ", "))
		r.Exec("ANALYZE TABLE p_rule, p_rule_version")
		conn, err := r.Pool(time.Time{}).Conn(t.Context())
		r.Must(err)
		defer conn.Close()
		some := f.Some(rig.BigSlot, 100)
		var due, rows []string
		for _, job := range some {
			key := literal.Of(literal.AppendKey, job.Key())
			due = append(due, fmt.Sprintf(" WHEN %s THEN '2026-11-20 06:00:00'", key))
			rows = append(rows, fmt.Sprintf("job.next_check_at = %s AND job.job_key = %s AND job.revision = %d", literal.Of(literal.AppendSecond, job.NextCheckAt), key, job.Revision))
		}
		times := "CASE job.job_key" + strings.Join(due, "") + " END"
		slot, key := literal.Of(literal.AppendSecond, f.Slots[rig.BigSlot]), literal.Of(literal.AppendKey, some[0].Key())
		one, version := map[string]string{"p_rule": "PRIMARY 61"}, "PRIMARY 65"
		joined := map[string]string{"rule": "PRIMARY 61", "says": version}
		rig.CheckPlans(t, conn, []rig.Explained{
			{Statement: "rule/standing", Query: f.Tables.Fill("rule/standing", "{names}", "'rule1', 'rule7'"), Reached: one},
			{Statement: "rule/version", Query: f.Tables.Fill("rule/version", "{versions}", "says.rule = 'rule1' AND says.version = 2 OR says.rule = 'rule7' AND says.version = 1"), Reached: joined},
			{Statement: "rule/stored", Query: f.Tables.Fill("rule/stored", "{payload}", "HEX(says.payload)", "{condition}", "rule.name = 'rule7'", "{limit}", "1"), Reached: joined},
			{Statement: "rule/versions", Query: f.Tables.Fill("rule/versions", "{payload}", "HEX(says.payload)", "{name}", "'rule7'", "{before}", "3", "{limit}", "10"), Reached: joined},
			{Statement: "rule/lock", Query: f.Tables.Fill("rule/lock", "{name}", "'rule7'"), Reached: one},
			{Statement: "rule/emptied", Query: f.Tables.Fill("rule/emptied", "{name}", "'rule7'"), Reached: one},
			{Statement: "rule/update", Query: f.Tables.Fill("rule/update", "{version}", "4", "{state}", "'on'", "{since}", "'2026-11-20'", "{moved_to}", "4", "{ended_to}", "0", "{now}", "'2026-11-20'", "{name}", "'rule7'"), Reached: one},
			{Statement: "rule/walk", Query: f.Tables.Fill("rule/walk", "{pass}", "1", "{reached}", "''", "{found}", "1", "{moved}", "1", "{late}", "0", "{ended}", "0", "{at}", "NULL", "{walked_to}", "0", "{name}", "'rule7'",
				"{version}", "3", "{was_pass}", "0", "{was}", "''"), Reached: one},
			{Statement: "list/end_of_page", Query: f.Tables.Fill("list/end_of_page", "{slot}", slot, "{key}", key, "{rows}", "4999"), Reached: map[string]string{"p_future_job": rig.BySlotAndKey}},
			{Statement: "rule/older", Query: f.Tables.Fill("rule/older", "{slot}", slot, "{key}", key, "{until}", fmt.Sprintf("AND (job.next_check_at < %s OR job.next_check_at = %[1]s AND job.job_key <= X'FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF')", slot),
				"{tag}", "'rule:rule7'", "{before}", "3"), Reached: map[string]string{"job": rig.BySlotAndKey}},
			{Statement: "rule/ended", Query: f.Tables.Fill("rule/ended", "{from}", "'2026-11-20 06:00:00'", "{to}", "'2026-11-20 07:00:00'", "{since}", "'2026-11-13'", "{until}", "'2026-11-20'", "{tag}", "'rule:rule7'"), Args: []any{math.MaxInt},
				Reached: map[string]string{"job": "PRIMARY 8"}},
			{Statement: "rule/move", Query: f.Tables.Fill("rule/move", "{due_at}", times, "{next_check_at}", times, "{expires_at}", times, "{version}", "3", "{new_revision}", "7", "{rows}", strings.Join(rows, " OR ")), Reached: map[string]string{"job": rig.BySlotAndKey}},
			{Statement: "rule/under_way", Query: f.Tables.Fill("rule/under_way", "{keys}", literal.Keys(some, prescient.FutureJob.Key)), Reached: map[string]string{"p_long_run": "PRIMARY 16"}},
		}, f.Tables.Stmt, []string{"rule"}, "rule/known", "rule/waiting", "rule/insert", "rule/insert_version") // all rules, and new rows
	})
}
