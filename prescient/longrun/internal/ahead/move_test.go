package ahead

import (
	"testing"
	"time"
)

func TestACheckIsMovedWhereItsSlotComesBeforeTheNextRenewal(t *testing.T) {
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	const lease = time.Minute
	for _, test := range []struct {
		name string
		in   time.Duration // its slot, from now
		want bool
	}{
		{"its slot comes long after the next renewal", 40 * time.Second, false},
		{"... a while after it, which may be late", 30 * time.Second, false},
		{"... or just before it", 29 * time.Second, true},
		{"its slot comes at once", time.Second, true},
		{"its slot has come: a slot run meets it", 0, false},
		{"... or is to be swept", -time.Hour, false},
	} {
		if got := (Check{Wanted: true, Slot: now.Add(test.in), Until: now.Add(lease)}).isDue(lease); got != test.want {
			t.Errorf("%s: %v", test.name, got)
		}
	}
}
