package api

import (
	"net/http/httptest"
	"testing"
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
	s.note(of("10.0.0.7:1", "good"), nil, now)
	for range failuresAtOnce {
		if !s.may(of("10.0.0.7:1", "guess"), now) {
			t.Fatal("it is not heard before it guessed much")
		}
		s.note(of("10.0.0.7:2", "guess"), ops.ErrUnauthorized, now)
	}
	for _, test := range []struct {
		what  string
		is    stranger
		after time.Duration
		heard bool
	}{
		{"the same address", of("10.0.0.7:3", "another guess"), 0, false},
		{"as IPv6 writes it", of("[::ffff:10.0.0.7]:3", "another guess"), 0, false},
		{"a token that was good", of("10.0.0.7:3", "good"), 0, true},
		{"no token", of("10.0.0.7:3", ""), 0, true},
		{"another address", of("10.0.0.8:3", "guess"), 0, true},
		{"later", of("10.0.0.7:3", "guess"), time.Second, true},
	} {
		if s.may(test.is, now.Add(test.after)) != test.heard {
			t.Errorf("%s is heard: %v", test.what, !test.heard)
		}
	}
	// One has a whole network of IPv6.
	for range failuresAtOnce {
		s.note(of("[2001:db8::1]:1", "guess"), ops.ErrUnauthorized, now)
	}
	if s.may(of("[2001:db8::ffff:2%eth0]:1", "guess"), now) || !s.may(of("[2001:db8:0:1::1]:1", "guess"), now) {
		t.Error("IPv6")
	}
	// What was good is forgotten when it is not any more.
	s.note(of("10.0.0.7:1", "good"), ops.ErrUnauthorized, now)
	if s.may(of("10.0.0.7:1", "good"), now) {
		t.Error("a token that was revoked is heard")
	}
}
