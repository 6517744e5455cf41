package prescient

import (
	"testing"
	"time"
)

// Slots that are a second apart leave no time for a look before each; the clock is looked at all the same, now and then.
func TestTheClockIsLookedAtAlsoWhereSlotsFollowCloselyOnOneAnother(t *testing.T) {
	eachServerAt(t, time.Second, func(t *testing.T, r *rig) {
		w := r.worker(time.Time{}, NewRegistry(), WorkerOptions{})
		now, err := w.Now(t.Context())
		r.must(err)
		for name, c := range map[string]struct {
			age   time.Duration
			fresh bool
		}{"looked at lately": {time.Minute, false}, "long ago": {lookEvery + time.Minute, true}} {
			// The server's clock was set an hour forth since.
			old := clock{said: now.Add(-time.Hour - c.age), at: time.Now().Add(-c.age)}
			got, err := w.await(t.Context(), w.grid.Next(old.now()), old)
			r.must(err)
			if fresh := got.now().Sub(old.now()) > 50*time.Minute; fresh != c.fresh {
				t.Errorf("%s: looked again: %t; want %t", name, fresh, c.fresh)
			}
		}
	})
}
