package doctor

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"prescient/prescient/forecast"
	"prescient/prescient/internal/rig"
)

func TestADoctorNamesSlotsThatWillNotEndInTime(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *testRig) {
		wantFinding(t, r.examine(rig.At("13:00"), Options{}), "forecast", SeverityOK, "No forecast was made yet.")
		m, err := forecast.New(t.Context(), r.As("worker", rig.At("13:00")), forecast.Options{Prefix: "p_", Dialect: r.Setting})
		r.Must(err)
		_, err = m.Make(t.Context())
		r.Must(err)
		wantFinding(t, r.examine(rig.At("13:00:30"), Options{}), "forecast", SeverityOK, "which is 30s old")
		r.Exec("UPDATE p_forecast_fit SET due = 12345, verdict = 'next', over_ms = 61500, begins_at = '2026-11-20 13:30', ends_at = '2026-11-20 13:46:01.5', last_start_at = '2026-11-20 13:46' WHERE grain = 'slot' AND start = '2026-11-20 13:30'")
		wantFinding(t, r.examine(rig.At("13:01"), Options{}), "forecast", SeverityWarn, "1 slot to come does not end in time", "2026-11-20T13:30:00Z with 12,345 checks ends 2026-11-20T13:46:01Z, 1m2s after the next begins")
		r.Exec("UPDATE p_forecast_fit SET verdict = 'sla', over_ms = 5000, job_exec = 'check', last_start_at = '2026-11-20 14:01', ends_at = '2026-11-20 14:02' WHERE grain = 'slot' AND start >= '2026-11-20 14:00'")
		wantFinding(t, r.examine(rig.At("13:01"), Options{}), "forecast", SeverityWarn, "slots to come do not end in time", "5s past the SLA of check; and more")
		wantFinding(t, r.examine(rig.At("13:31"), Options{}), "forecast", SeverityUnseen, "The last forecast is 31m0s old.")
	})
}

// A slot whose run times nobody knows is not one that ends in time.
func TestADoctorSaysOfHowManySlotsNobodyKnows(t *testing.T) {
	d := &doctor{now: rig.At("13:00")}
	d.tables.Grid = rig.GridOf(t, 15*time.Minute)
	ends := rig.At("13:20")
	dark := forecast.Part{Fit: forecast.Fit{Verdict: forecast.Unknown, Unknown: 1000}}
	late := forecast.Part{Fit: forecast.Fit{Verdict: forecast.Next, EndsAt: &ends}}
	const says = "Slots of which nobody knows it: 2. The run time of 2,000 of their calls is not known."
	for _, parts := range [][]forecast.Part{{dark, dark}, {dark, late, dark}} {
		if f := d.judgeForecast(forecast.Report{MadeAt: rig.At("13:00"), Slots: parts}); !strings.Contains(f.Text, says) {
			t.Errorf("%+v", f)
		}
	}
	if f := d.judgeForecast(forecast.Report{MadeAt: rig.At("13:00"), Slots: []forecast.Part{late}}); strings.Contains(f.Text, "nobody") {
		t.Errorf("%+v", f)
	}
}

// Days say nothing of slots.
func TestADayIsNoFindingOfTheForecast(t *testing.T) {
	d := &doctor{now: rig.At("13:00")}
	d.tables.Grid = rig.GridOf(t, 15*time.Minute)
	ends := rig.At("13:20")
	r := forecast.Report{MadeAt: rig.At("13:00"), Days: []forecast.Part{{Start: rig.Day, Fit: forecast.Fit{Verdict: forecast.Next, EndsAt: &ends}}}}
	if f := d.judgeForecast(r); f.Severity != SeverityOK {
		t.Error(fmt.Sprint(f))
	}
}
