package prescient

import (
	"testing"
	"testing/synctest"
	"time"
)

// The database said 13:15 in a zone and at a moment of its own; the machine's clock says something else altogether.
func TestTheClockGoesOnFromWhatTheDatabaseSaid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		here := time.Now()
		c := clockAt(at("13:15").In(time.FixedZone("", 14*3600)))
		if got := c.now(); !got.Equal(at("13:15")) || got.Location() != time.UTC {
			t.Errorf("now %s; want 13:15 UTC", got)
		}
		time.Sleep(90 * time.Second)
		if got := c.now(); !got.Equal(at("13:16:30")) {
			t.Errorf("after 90 s it is %s; want 13:16:30", got)
		}
		for after, want := range map[time.Duration]time.Time{0: at("13:15"), time.Hour: at("14:15"), -time.Minute: at("13:14")} {
			if got := c.when(here.Add(after)); !got.Equal(want) {
				t.Errorf("%s after the look it was %s; want %s", after, got, want)
			}
		}
	})
}
