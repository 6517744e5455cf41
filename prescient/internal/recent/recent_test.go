package recent

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// source answers after a second with how often it was asked.
type source struct {
	asked int
	err   error
}

func (s *source) ask(ctx context.Context) (any, error) {
	s.asked++
	n := s.asked
	select {
	case <-time.After(time.Second):
		return n, s.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func TestManyAskOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, s := Answers{Most: 8}, &source{}
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() {
				if got, err := a.Get(t.Context(), "a", 2*time.Second, s.ask); got != 1 || err != nil {
					t.Error(got, err)
				}
			})
		}
		all.Wait()
		for i, want := range []int{1, 1, 2} { // after 1, 2 and 3 seconds
			if got, _ := a.Get(t.Context(), "a", 2*time.Second, s.ask); got != want {
				t.Errorf("%d: %v; want %d", i, got, want)
			}
			time.Sleep(time.Second)
		}
		if got, _ := a.Get(t.Context(), "b", 2*time.Second, s.ask); got != 3 {
			t.Errorf("another key: %v", got)
		}
	})
}

func TestAnErrorIsForThoseWhoWaited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, s := Answers{Most: 8}, &source{err: errors.New("gone")}
		var both sync.WaitGroup
		for range 2 {
			both.Go(func() {
				if _, err := a.Get(t.Context(), "a", time.Minute, s.ask); err == nil {
					t.Error("no error")
				}
			})
			time.Sleep(time.Millisecond)
		}
		both.Wait()
		// The second came after the first had begun to ask: what it is told may be older than its question.
		if s.asked != 2 {
			t.Errorf("asked %d times", s.asked)
		}
		s.err = nil
		if got, err := a.Get(t.Context(), "a", time.Minute, s.ask); err != nil {
			t.Error(got, err)
		}
	})
}

func TestWhoGivesUpLeavesTheTurnToTheNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, s := Answers{Most: 8}, &source{}
		first, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second/2, cancel)
		var both sync.WaitGroup
		both.Go(func() {
			if _, err := a.Get(first, "a", time.Minute, s.ask); !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		})
		synctest.Wait()
		both.Go(func() {
			if got, err := a.Get(t.Context(), "a", time.Minute, s.ask); got != 2 || err != nil {
				t.Error(got, err)
			}
		})
		synctest.Wait()
		late, stop := context.WithTimeout(t.Context(), time.Millisecond)
		defer stop()
		if _, err := a.Get(late, "a", time.Minute, s.ask); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		both.Wait()
	})
}

func TestKeysAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, s := Answers{Most: 8}, &source{}
		for i := range 20 {
			if _, err := a.Get(t.Context(), fmt.Sprint(i), time.Minute, s.ask); err != nil {
				t.Fatal(err)
			}
		}
		if len(a.by) != 8 {
			t.Errorf("%d are kept", len(a.by))
		}
		time.Sleep(time.Minute)
		if _, err := a.Get(t.Context(), "new", time.Minute, s.ask); err != nil || len(a.by) != 1 {
			t.Errorf("%d are kept, %v", len(a.by), err)
		}
	})
}

func TestWhatWasForgottenIsAskedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, s := Answers{Most: 8}, &source{}
		var both sync.WaitGroup
		for i := range 2 { // the second comes after the change, while the first is still being answered
			both.Go(func() {
				if got, err := a.Get(t.Context(), "a", time.Minute, s.ask); got != i+1 || err != nil {
					t.Error(got, err)
				}
			})
			synctest.Wait()
			if i == 0 {
				a.Forget()
			}
		}
		both.Wait()
	})
}
