package api

import (
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"prescient/prescient/ops"
)

func TestAnAddressThatGuessesTokensIsNotHeard(t *testing.T) {
	s, now := newStrangers(), time.Date(2026, 11, 20, 13, 0, 0, 0, time.UTC)
	of := func(address, proof string) stranger {
		r := httptest.NewRequest("GET", "/", nil)
		r.RemoteAddr = address
		if proof != "" {
			r.Header.Set("Authorization", "Bearer "+proof)
		}
		return strangerOf(r)
	}
	s.note(of("10.0.0.7:1", "good"), nil)
	if wait, may := s.turn(of("10.0.0.7:1", "guess"), now); wait != 0 || !may {
		t.Error("who did nothing yet waits")
	}
	guesses := func(address string) (n int) {
		s.note(of(address, "guess"), ops.ErrUnauthorized)
		for ; ; n++ {
			if wait, may := s.turn(of(address, "guess"), now); !may || wait > tryWithin || n > 1000 {
				return n
			}
		}
	}
	if n := guesses("10.0.0.7:2"); n != triesAtOnce+triesEach*int(tryWithin/time.Second) {
		t.Errorf("it is heard %d times", n)
	}
	for _, test := range []struct {
		what  string
		is    stranger
		heard bool
	}{
		{"the same address", of("10.0.0.7:3", "another guess"), false},
		{"as IPv6 writes it", of("[::ffff:10.0.0.7]:3", "another guess"), false},
		{"a token that was good", of("10.0.0.7:3", "good"), true},
		{"no token", of("10.0.0.7:3", ""), true},
		{"another address", of("10.0.0.8:3", "guess"), true},
	} {
		if _, may := s.turn(test.is, now); may != test.heard {
			t.Errorf("%s is heard: %v", test.what, may)
		}
	}
	// One has a whole network of IPv6.
	guesses("[2001:db8::1]:1")
	_, same := s.turn(of("[2001:db8::ffff:2%eth0]:1", "guess"), now)
	_, next := s.turn(of("[2001:db8:0:1::1]:1", "guess"), now)
	if same || !next {
		t.Errorf("IPv6: %v, %v", same, next)
	}
	// What was good is forgotten when it is not any more.
	s.note(of("10.0.0.7:1", "good"), ops.ErrUnauthorized)
	if _, may := s.turn(of("10.0.0.7:1", "good"), now); may {
		t.Error("a token that was revoked is heard")
	}
	if _, may := s.turn(of("10.0.0.7:1", "guess"), now.Add(time.Second)); !may {
		t.Error("it is not heard later")
	}
}

// The guard asks nobody of more than it may.
func TestGuessesAreNotLookedUp(t *testing.T) {
	var looked atomic.Int64
	handler := guard(Options{Authenticate: func(*http.Request) (ops.Caller, error) {
		looked.Add(1)
		return ops.Caller{}, ops.ErrUnauthorized
	}}, http.NotFoundHandler())
	synctest.Test(t, func(t *testing.T) {
		var all sync.WaitGroup
		var refused atomic.Int64
		for range 1000 {
			all.Go(func() {
				r, to := httptest.NewRequest(http.MethodGet, Base+"/checks/pending", nil), httptest.NewRecorder()
				r.Header.Set("Authorization", "Bearer guess")
				if handler.ServeHTTP(to, r); to.Code == http.StatusTooManyRequests {
					refused.Add(1)
				}
			})
			synctest.Wait()
		}
		all.Wait()
		if n := looked.Load(); n > 200 || n+refused.Load() != 1000 {
			t.Errorf("%d were looked up, %d refused", n, refused.Load())
		}
	})
}
