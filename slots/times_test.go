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
