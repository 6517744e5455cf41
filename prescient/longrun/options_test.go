package longrun_test

import (
	"errors"
	"strings"
	"testing"

	"prescient/prescient"
	"prescient/prescient/longrun"
)

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
