package front

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func newTest() *shared[string] {
	return newShared(time.Now, func(s string) int { return len(s) })
}

func TestWhatSeveralWantIsMadeOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newTest()
		var n atomic.Int32
		slow := func(context.Context) (string, error) {
			is := fmt.Sprint("made ", n.Add(1))
			time.Sleep(time.Second)
			return is, nil
		}
		get := func(ctx context.Context, want string) {
			t.Helper()
			if got, err := s.get(ctx, "a", slow); got != want || err != nil {
				t.Errorf("%s, %v; want %s", got, err, want)
			}
		}
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() { get(t.Context(), "made 1") })
		}
		all.Wait()
		time.Sleep(keptFor - time.Millisecond)
		get(t.Context(), "made 1")
		time.Sleep(time.Millisecond)
		get(t.Context(), "made 2")
		s.forget()
		get(t.Context(), "made 3")
		// What was begun before something was changed is shown to nobody who comes later.
		time.Sleep(keptFor)
		all.Go(func() { get(t.Context(), "made 4") })
		synctest.Wait()
		s.forget()
		get(t.Context(), "made 5")
		all.Wait()
		get(t.Context(), "made 5")
	})
}

func TestWhoIsGoneTakesNothingFromOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newTest()
		ctx, cancel := context.WithCancel(t.Context())
		var all sync.WaitGroup
		all.Go(func() {
			if _, err := s.get(ctx, "a", func(ctx context.Context) (string, error) { time.Sleep(time.Second); return "made", ctx.Err() }); !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		})
		synctest.Wait()
		all.Go(func() {
			if got, err := s.get(t.Context(), "a", nil); got != "made" || err != nil {
				t.Errorf("%s, %v", got, err)
			}
		})
		synctest.Wait()
		cancel()
		all.Wait()
	})
}

// Somebody who asks for more than a user may would else keep everybody of the role out.
func TestThatSomebodyHasNoPlaceIsNoAnswerForOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newTest()
		var all sync.WaitGroup
		all.Go(func() {
			if _, err := s.get(t.Context(), "a", func(context.Context) (string, error) { time.Sleep(placeWithin); return "", errBusy }); !errors.Is(err, errBusy) {
				t.Error(err)
			}
		})
		synctest.Wait()
		get := func() {
			if got, err := s.get(t.Context(), "a", func(context.Context) (string, error) { return "made", nil }); got != "made" || err != nil {
				t.Errorf("%s, %v", got, err)
			}
		}
		all.Go(get)
		all.Wait()
		get()
		if len(s.all) != 1 {
			t.Errorf("%d are kept", len(s.all))
		}
	})
}

func TestAPanicIsAnErrorOfAllWhoWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newTest()
		for range 2 {
			if _, err := s.get(t.Context(), "a", func(context.Context) (string, error) { panic("at the disco") }); !errors.Is(err, errPanic) || !strings.Contains(err.Error(), "disco") {
				t.Error(err)
			}
		}
	})
}

func TestWhatIsKeptIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newTest()
		for i := range 3 * mostKept {
			if _, err := s.get(t.Context(), fmt.Sprint(i), func(context.Context) (string, error) { return "x", nil }); err != nil {
				t.Fatal(err)
			}
			if len(s.all) > mostKept || s.bytes > mostKept {
				t.Fatalf("%d are kept, %d bytes", len(s.all), s.bytes)
			}
		}
		big := strings.Repeat("x", mostKeptBytes/2+1)
		for i := range 5 {
			if _, err := s.get(t.Context(), fmt.Sprint("big", i), func(context.Context) (string, error) { return big, nil }); err != nil {
				t.Fatal(err)
			}
			if s.bytes > 2*mostKeptBytes {
				t.Fatalf("%d bytes are kept", s.bytes)
			}
		}
		time.Sleep(keptFor)
		if _, err := s.get(t.Context(), "last", func(context.Context) (string, error) { return "y", nil }); err != nil || len(s.all) != 1 || s.bytes != 1 {
			t.Errorf("%d are kept, %d bytes, %v", len(s.all), s.bytes, err)
		}
	})
}
