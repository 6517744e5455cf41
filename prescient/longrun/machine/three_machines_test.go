//go:build !race

package machine

import (
	"testing"
	"time"
)

// One goroutine goes through all states, in which the race detector finds nothing, and takes five times as long.
func TestThreeMachinesNeverExecuteTogetherAndNeverForgetARun(t *testing.T) {
	for name, wakeUp := range map[string]bool{"with a wake-up": true, "without": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			began := time.Now()
			wrong, states := model{table: &Table, wakeUp: wakeUp}.check(depth)
			if wrong != "" {
				t.Error(wrong)
			}
			t.Logf("%d states in %s", states, time.Since(began))
		})
	}
}
