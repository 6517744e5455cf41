package metrics

import (
	"context"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"prescient/prescient/forecast"
)

func TestTheMetricIsOfTheWorstSlotOfAFreshForecast(t *testing.T) {
	slots := []forecast.Part{
		{Fit: forecast.Fit{Verdict: forecast.Fits}},
		{Fit: forecast.Fit{Verdict: forecast.SLA, Over: 1500}},
		{Fit: forecast.Fit{Verdict: forecast.Next, Over: 90_000}},
	}
	for _, test := range []struct {
		report forecast.Report
		err    error
		want   float64
		none   bool
	}{
		{report: forecast.Report{Slots: slots}, want: 90},
		{report: forecast.Report{Slots: slots[:2]}, want: 1.5},
		{report: forecast.Report{Slots: slots[:1]}},
		{report: forecast.Report{Slots: slots, Age: forecast.Millis((6 * time.Minute).Milliseconds())}, none: true},
		{err: forecast.ErrNone, none: true},
	} {
		registry := prometheus.NewRegistry()
		registry.MustRegister(&forecastLook{ask: func(context.Context) (forecast.Report, error) { return test.report, test.err }})
		got, there := series(t, registry)["prescient_forecast_over_seconds{}"]
		if there == test.none || got != test.want {
			t.Errorf("%+v: %v, %t", test, got, there)
		}
	}
}
