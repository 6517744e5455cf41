package forecast

import (
	"strings"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/literal"
	"prescient/prescient/internal/rig"
	"prescient/prescient/internal/store"
)

func TestNoStatementOfAForecastScansATable(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.ReadPlans)
		f := r.Fill()
		r.Exec("INSERT INTO p_exec_known (job_exec, fingerprint, form, guards, worker, first_at, seen_at) VALUES ('check', '12345678', 'func', '{}', 'w', '2026-11-20', '2026-11-20'), ('other', '12345678', 'func', '{}', 'w', '2026-11-20', '2026-11-21')")
		if _, err := r.maker(rig.At("05:59")).Make(t.Context()); err != nil {
			t.Fatal(err)
		}
		conn, err := r.Pool(time.Time{}).Conn(t.Context())
		r.Must(err)
		defer conn.Close()
		s := f.Tables.Stmt
		from, before := rig.At("06:00"), rig.At("09:00")
		first, last := store.BucketRange(1, 8)
		_, estimate, _ := strings.Cut(s.Get("forecast/estimate"), "FORMAT=TRADITIONAL ")
		rig.CheckPlans(t, conn, []rig.Explained{
			{Statement: "forecast/slot", Query: s.Get("forecast/slot"), Args: []any{f.Slots[rig.BigSlot], 26}, Reached: map[string]string{"p_future_job": rig.BySlot}},
			{Statement: "forecast/keys", Query: s.Get("forecast/keys"), Args: []any{first[:], last[:], 101}, Reached: map[string]string{"p_future_job": "job_key 16"}},
			{Statement: "forecast/names", Query: f.Tables.Fill("forecast/names", "{keys}", literal.KeysOf([]prescient.Key{first, last})), Reached: map[string]string{"p_future_job": "job_key 16"}},
			{Statement: "forecast/span", Query: s.Get("forecast/span"), Args: []any{from, before, 101}, Reached: map[string]string{"p_future_job": rig.BySlot}},
			{Statement: "forecast/estimate", Query: estimate, Args: []any{from, before}, Reached: map[string]string{"p_future_job": rig.BySlot}},
			{Statement: "forecast/calls", Query: s.Get("forecast/calls"), Args: []any{from.Add(-time.Hour), from, 120}, Reached: map[string]string{"p_exec_run": rig.BySlot}},
			{Statement: "forecast/known", Query: s.Get("forecast/known"), Args: []any{rig.At("12:00"), rig.At("13:00"), 100}, Reached: map[string]string{"p_exec_known": "seen_at 8"}},
			{Statement: "forecast/made", Query: s.Get("forecast/made"), Reached: map[string]string{"p_forecast_made": "PRIMARY 1"}},
			{Statement: "forecast/turns", Query: s.Get("forecast/turns"), Reached: map[string]string{"p_forecast_fit": "PRIMARY 1"}},
			{Statement: "forecast/lines", Query: s.Get("forecast/lines"), Args: []any{"slot", 100}, Reached: map[string]string{"p_forecast": "PRIMARY 1"}},
			{Statement: "forecast/fits", Query: s.Get("forecast/fits"), Args: []any{"slot", from, 1}, Reached: map[string]string{"p_forecast_fit": "PRIMARY 6"}},
		}, s, []string{"forecast"}, "forecast/schedules", "forecast/schedules_all", "forecast/clear", "forecast/clear_fits", "forecast/insert", "forecast/insert_fits", "forecast/set_made")
	})
}

// However many rows there are, a look at a slot or a day reads its limit.
func TestALookReadsItsLimit(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.ReadPlans)
		f := r.Fill()
		conn, err := r.Pool(time.Time{}).Conn(t.Context())
		r.Must(err)
		defer conn.Close()
		s := f.Tables.Stmt
		first, last := store.BucketRange(1, 8)
		for what, read := range map[string]int{
			"a slot":         rig.Reads(t, conn, s.Get("forecast/slot"), f.Slots[rig.BigSlot], 26),
			"a day":          rig.Reads(t, conn, s.Get("forecast/span"), rig.At("06:00"), rig.At("20:00"), 26),
			"an estimate":    rig.Reads(t, conn, s.Get("forecast/estimate"), rig.At("06:00"), rig.At("20:00")),
			"keys":           rig.Reads(t, conn, s.Get("forecast/keys"), first[:], last[:], 26),
			"four slots":     rig.Reads(t, conn, store.Together(s.Get("forecast/slot"), 4), f.Slots[rig.BigSlot], 6, f.Slots[0], 6, f.Slots[1], 6, f.Slots[2], 6),
			"four estimates": rig.Reads(t, conn, explained(s.Get("forecast/estimate"), 4), rig.At("06:00"), rig.At("20:00"), rig.At("06:00"), rig.At("20:00"), rig.At("06:00"), rig.At("20:00"), rig.At("06:00"), rig.At("20:00")),
			"an hour":        rig.Reads(t, conn, s.Get("forecast/calls"), rig.At("01:00"), rig.At("09:00"), 26),
			"schedules":      rig.Reads(t, conn, s.Get("forecast/schedules"), 26),
		} {
			if read > 40 {
				t.Errorf("%s: %d entries were read", what, read)
			}
		}
	})
}
