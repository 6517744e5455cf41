package forward

import (
	"testing"
	"time"
)

func TestALookTakesATenthOfTheTimeAtMost(t *testing.T) {
	for took, want := range map[time.Duration]time.Duration{0: 0, time.Millisecond: 9 * time.Millisecond, 400 * time.Millisecond: 3600 * time.Millisecond, time.Minute: longestRest} {
		if got := restOf(took); got != want {
			t.Errorf("after %s it rests for %s; want %s", took, got, want)
		}
	}
}
