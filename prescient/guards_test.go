package prescient

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"
)

func TestGuardsOfAJobExecAreItsOwnThenTheWorkersThenTheDocumentedOnes(t *testing.T) {
	documented := Guards{Timeout: 30 * time.Second, MaxChecks: 5, MaxErrors: 5, Horizon: 720 * time.Hour}
	if got := (Guards{}).Or(DefaultGuards()); got != documented {
		t.Errorf("the defaults are %+v; want %+v", got, documented)
	}
	workers := Guards{Timeout: time.Minute, MaxErrors: None, SLA: time.Second, Concurrency: 7}.Or(DefaultGuards())
	own := Guards{MaxChecks: None, Horizon: time.Hour, Concurrency: 3}
	want := Guards{Timeout: time.Minute, MaxChecks: None, MaxErrors: None, Horizon: time.Hour, Concurrency: 3, SLA: time.Second}
	registry := NewRegistry()
	registry.MustRegister("x", func(context.Context, FutureJob) (*time.Time, error) { return nil, nil }, own)
	if got := registry.GuardsOf("x", workers); got != want {
		t.Errorf("those of x are %+v; want %+v", got, want)
	}
	if got := registry.GuardsOf("nobody", workers); got != workers {
		t.Errorf("those of an unknown job_exec are %+v; want the worker's", got)
	}
	if got := (*Registry)(nil).GuardsOf("x", workers); got != workers {
		t.Errorf("without a registry they are %+v; want the worker's", got)
	}
}

// The timers of schedules come back at the next open slot, whatever the worker's guards say.
func TestAnEndlessCheckTakesNoRetryWithinFromTheWorker(t *testing.T) {
	workers := Guards{RetryWithin: time.Hour}.Or(DefaultGuards())
	for _, test := range []struct {
		own  Guards
		want time.Duration
	}{
		{Guards{}, time.Hour},
		{Guards{RetryWithin: time.Minute}, time.Minute},
		{Guards{Endless: true}, 0},
		{Guards{Endless: true, RetryWithin: time.Minute}, time.Minute},
	} {
		if got := test.own.Or(workers).RetryWithin; got != test.want {
			t.Errorf("%+v: %s; want %s", test.own, got, test.want)
		}
	}
	both := Guards{Endless: true, RetryWithin: time.Minute}
	if got := (Guards{}).Or(both); !got.Endless || got.RetryWithin != time.Minute {
		t.Errorf("of a worker that has both: %+v", got)
	}
}

func TestGuardsOutOfRangeAreRefusedByName(t *testing.T) {
	for _, test := range []struct {
		guards Guards
		says   string // empty where it is allowed
	}{
		{Guards{}, ""},
		{Guards{Timeout: 1, MaxChecks: 1, MaxErrors: 1, RetryWithin: 1, Horizon: 1, Concurrency: 1, SLA: 1}, ""},
		{Guards{MaxChecks: None, MaxErrors: None, Horizon: MaxHorizon}, ""},
		{Guards{Timeout: -1}, "guard timeout -1ns"},
		{Guards{MaxChecks: -2}, "guard max_checks -2"},
		{Guards{MaxErrors: -2}, "guard max_errors -2"},
		{Guards{RetryWithin: -time.Second}, "guard retry_within -1s"},
		{Guards{Horizon: -time.Hour}, "guard horizon -1h0m0s"},
		{Guards{Horizon: MaxHorizon + 1}, "positive times up to 87840h0m0s"},
		{Guards{Concurrency: -1}, "guard concurrency -1"},
		{Guards{SLA: -1}, "guard sla -1ns"},
	} {
		err := test.guards.Validate()
		if test.says == "" {
			if err != nil {
				t.Errorf("%+v: %v", test.guards, err)
			}
		} else if !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%+v: %v; want ErrInvalid with %q", test.guards, err, test.says)
		}
	}
}
