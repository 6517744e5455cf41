package front

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestOneUserLeavesPlacesToOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPlaces(4)
		take := func(ctx context.Context, user string) func() {
			t.Helper()
			leave, err := p.take(ctx, user)
			if err != nil {
				t.Fatal(err)
			}
			return leave
		}
		first, second := take(t.Context(), "ada"), take(t.Context(), "ada")
		began := time.Now()
		if _, err := p.take(t.Context(), "ada"); !errors.Is(err, errBusy) || time.Since(began) != placeWithin {
			t.Errorf("%v after %s", err, time.Since(began))
		}
		third, fourth := take(t.Context(), "eve"), take(t.Context(), "eve")
		if _, err := p.take(t.Context(), "joe"); !errors.Is(err, errBusy) {
			t.Error(err)
		}
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := p.take(gone, "joe"); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		go func() { time.Sleep(time.Second); first() }()
		fifth := take(t.Context(), "ada") // who waits has the place that becomes free
		for _, leave := range []func(){second, third, fourth, fifth} {
			leave()
		}
		synctest.Wait()
		if len(p.of) != 0 || len(p.all) != 0 {
			t.Errorf("%d users, %d places", len(p.of), len(p.all))
		}
	})
}
