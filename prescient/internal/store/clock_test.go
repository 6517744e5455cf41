package store_test

import (
	"testing"
	"testing/synctest"
	"time"

	"prescient/prescient/internal/rig"
	"prescient/prescient/internal/store"
)

// The database said 13:15 in a zone and at a moment of its own; the machine's clock says something else altogether.
func TestTheClockGoesOnFromWhatTheDatabaseSaid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		here := time.Now()
		c := store.ClockAt(rig.At("13:15").In(time.FixedZone("", 14*3600)))
		if got := c.Now(); !got.Equal(rig.At("13:15")) || got.Location() != time.UTC {
			t.Errorf("now %s; want 13:15 UTC", got)
		}
		time.Sleep(90 * time.Second)
		if got := c.Now(); !got.Equal(rig.At("13:16:30")) {
			t.Errorf("after 90 s it is %s; want 13:16:30", got)
		}
		for after, want := range map[time.Duration]time.Time{0: rig.At("13:15"), time.Hour: rig.At("14:15"), -time.Minute: rig.At("13:14")} {
			if got := c.When(here.Add(after)); !got.Equal(want) {
				t.Errorf("%s after the look it was %s; want %s", after, got, want)
			}
		}
	})
}
