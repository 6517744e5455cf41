package bucket

import (
	"testing"
	"time"
)

func TestLockedRowsAreWaitedForNoLongerThanTwoSlots(t *testing.T) {
	for _, c := range []struct {
		lease, resolution time.Duration
		background        bool
		want              time.Duration
	}{
		{time.Minute, 15 * time.Minute, false, time.Minute},
		{time.Minute, 10 * time.Second, false, 20 * time.Second},
		{3 * time.Second, time.Second, false, 2 * time.Second},
		{time.Minute, 15 * time.Minute, true, 6 * time.Second},
	} {
		if got := lockPatience(c.lease, c.resolution, c.background); got != c.want {
			t.Errorf("lease %s, slots of %s, sweep %t: %s; want %s", c.lease, c.resolution, c.background, got, c.want)
		}
	}
}
