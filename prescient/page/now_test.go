package page_test

import (
	"testing"

	"prescient/prescient/internal/rig"
	"prescient/prescient/internal/rig/served"
	"prescient/prescient/ops"
)

func TestNowSaysWhatIsWrongAndShowsWhereNobodyWas(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		r.look(ops.Viewer, "/").wants(t, 200, "No slot run is under way.", "Nothing is overdue.", "No forecast was made yet", "shop &lt;test&gt;")
		for _, slot := range []string{"12:00", "12:30"} {
			r.Exec("INSERT INTO p_slot_run (slot, bucket, buckets, token, batch_seq, worker, started_at, finished_at, done) VALUES ('2026-11-20 " + slot + ":00', 0, 1, 1, 1, 'w', '2026-11-20 " + slot + ":01', '2026-11-20 " + slot + ":02', 30)")
		}
		r.Exec("INSERT INTO p_slot_run (slot, bucket, buckets, token, batch_seq, worker, started_at, allocated_until, done) VALUES ('2026-11-20 13:00:00', 0, 2, 1, 1, '<b>w</b>', '2026-11-20 13:00:01', '2026-11-20 13:01:00', 50), ('2026-11-20 13:00:00', 1, 2, 1, 1, 'w', '2026-11-20 13:00:01', NULL, 0)")
		r.Exec("INSERT INTO p_forecast_made (id, made_at, worker, took_ms, slots_from, slots_before, entries_read, schedules, schedules_all) VALUES (1, '2026-11-20 13:00:00', 'w', 5, '2026-11-20 13:00:00', '2026-11-20 15:00:00', 9, 0, 0)")
		for slot, verdict := range map[string]string{"13:00": "fits", "13:15": "next"} {
			r.Exec("INSERT INTO p_forecast_fit (grain, start, due, low, high, occurrences, how, concurrency, `unknown`, begins_at, last_start_at, ends_at, verdict, over_ms, made_at) VALUES ('slot', '2026-11-20 " + slot +
				":00', 150, 150, 150, 0, 'exact', 64, 0, '2026-11-20 13:30:00', '2026-11-20 13:49:00', '2026-11-20 13:50:00', '" + verdict + "', 300000, '2026-11-20 13:00:00')")
		}
		r.serveAt(rig.At("13:00:31"))
		_, err := ops.InsertChecks.Do(t.Context(), r.OpsAt(rig.At("10:00")), served.By(ops.Operator), ops.Inserting{Checks: []ops.NewCheck{served.Check("42", "ship", rig.At("12:01"))}})
		r.Must(err)
		for _, role := range ops.Roles {
			got := r.look(role, "/").wants(t, 200,
				"2 slots were left out", "2026-11-20 12:15:00 UTC: no worker was there", // and 12:45
				"2026-11-20 12:30:00 UTC: 30 checks served", "2026-11-20 13:15:00 UTC: 150 checks by the forecast, which do not end in time",
				"0 of 2", "30 s ago", "&lt;b&gt;w&lt;/b&gt;", "1 part is nobody's", "1 min", // 50 of 150 in half a minute
				"1 check is overdue", `data-again="5000"`)
			got.lacks(t, "<b>w</b>", "secret")
		}
	})
}
