package slots_test

import (
	"testing"
	"time"

	"prescient/slots"
)

// The sweeper leaves the current slot alone, and one that is only just over, so that a late timer keeps its own.
func TestTheSweeperTakesSlotsBeforeTheCurrentOneAndOlderThanTheGrace(t *testing.T) {
	const grace = 10 * time.Second
	for _, test := range []struct {
		resolution time.Duration
		now        string
		takes      string // the last slot that is swept
	}{
		{15 * time.Minute, "13:15:00", "13:00:00"},
		{15 * time.Minute, "13:15:09.999999", "13:00:00"},
		{15 * time.Minute, "13:29:59.999999", "13:00:00"},
		{time.Second, "13:15:30", "13:15:19"}, // older than the grace, not as old
		{time.Second, "13:15:30.5", "13:15:20"},
		{5 * time.Second, "13:15:30", "13:15:15"},
		{5 * time.Second, "13:15:30.000001", "13:15:20"},
		{10 * time.Second, "13:15:30", "13:15:10"},
		{10 * time.Second, "13:15:39.999999", "13:15:20"},
		{20 * time.Second, "13:15:40", "13:15:20"},
	} {
		g := grid(t, test.resolution)
		if got := g.Prev(slots.OverdueBefore(g, at(t, "2026-11-20 "+test.now), grace)); !got.Equal(at(t, "2026-11-20 "+test.takes)) {
			t.Errorf("%s slots, at %s: up to %s is swept; want %s", test.resolution, test.now, got, test.takes)
		}
	}
}

func TestShortDuration(t *testing.T) {
	const day = 24 * time.Hour
	for d, want := range map[time.Duration]string{
		0: "0s", time.Millisecond: "1ms", 2 * time.Second: "2s", time.Minute: "1m", 90 * time.Second: "1m30s", time.Hour: "1h",
		90 * time.Minute: "1h30m", day: "24h", 2 * day: "2d", 3660 * day: "3660d", 10 * time.Minute: "10m", 20 * time.Hour: "20h",
	} {
		if got := slots.Short(d); got != want {
			t.Errorf("%v is %s, want %s", d, got, want)
		}
	}
}
