package longrun_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/longrun"
)

// Everybody knows the limits of long runs, not those of the calls that start them.
func TestTheLimitsOfLongRunsAreKnown(t *testing.T) {
	runs(t, func(t *testing.T, r *testRig) {
		r.Must(r.runner.RegisterIn("heavy", r.registry, "other", r.called, prescient.Guards{Timeout: time.Hour, MaxErrors: 3, MaxChecks: 7}))
		r.slot("12:00:00")
		var known string
		r.Must(r.Root.QueryRow(`SELECT CONCAT_WS(' ', form, JSON_EXTRACT(guards, '$.timeout_ms'), JSON_EXTRACT(guards, '$.max_errors'), JSON_EXTRACT(guards, '$.max_checks'), JSON_EXTRACT(guards, '$.endless'),
			JSON_EXTRACT(guards, '$.concurrency'), JSON_EXTRACT(guards, '$.long.lease_ms'), JSON_EXTRACT(guards, '$.long.pool')) FROM p_exec_known WHERE job_exec = 'other'`).Scan(&known))
		if want := `tx_batch 3600000 3 7 false 4 60000 "heavy"`; known != want {
			t.Errorf("%s; want %s", known, want)
		}
	})
}

func TestPoolsThatAreNoneAreRefused(t *testing.T) {
	for want, pools := range map[string]map[string]int{
		`pool "a b"`:                      {"a b": 1},
		"pool is empty":                   {"": 1},
		"capacity 0 of the pool heavy":    {"heavy": 0},
		"capacity -1 of the pool a.b-c_D": {"a.b-c_D": -1},
	} {
		_, err := longrun.New(t.Context(), nil, longrun.Options{Name: "a", Pools: pools})
		if !errors.Is(err, prescient.ErrInvalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v; want %s", pools, err, want)
		}
	}
}
