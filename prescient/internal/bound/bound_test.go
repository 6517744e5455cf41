package bound

import (
	"testing"
	"time"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func TestAnAddressOfIPv6CountsByItsNetwork(t *testing.T) {
	for address, want := range map[string][2]string{"10.0.0.7": {"10.0.0.7/32", "10.0.0.7/32"}, "10.0.0.7:80": {"10.0.0.7/32", "10.0.0.7/32"}, "::ffff:10.0.0.7": {"10.0.0.7/32", "10.0.0.7/32"},
		"[::ffff:10.0.0.7]:80": {"10.0.0.7/32", "10.0.0.7/32"}, "2001:db8:1:2:3:4:5:6": {"2001:db8:1:2::/64", "2001:db8:1::/48"}, "[2001:db8:1:2::1]:443": {"2001:db8:1:2::/64", "2001:db8:1::/48"},
		"fe80::1%eth0": {"fe80::/64", "fe80::/48"}, "::1": {"::/64", "::/48"}, "@": {"invalid Prefix", "invalid Prefix"}, "": {"invalid Prefix", "invalid Prefix"}} {
		if got := [2]string{Network(address).String(), Site(address).String()}; got != want {
			t.Errorf("%s: %s; want %s", address, got, want)
		}
	}
}

func TestEachCallerSendsAsMuchAsItMay(t *testing.T) {
	r := NewRates[string](2)
	for i := range 4 {
		if wait := r.Take("ada", noon); wait != 0 {
			t.Errorf("%d waits for %s", i, wait)
		}
	}
	for range 3 { // what is refused does not count
		if wait := r.Take("ada", noon); wait != time.Second {
			t.Errorf("it waits for %s", wait)
		}
	}
	if r.Take("grace", noon) != 0 || r.Take("ada", noon.Add(time.Second)) != 0 {
		t.Error("another is held up, or the same later")
	}
}

// Whoever comes from everywhere is rid of nothing that was counted of it, and takes nobody's rate.
func TestOnlySoManyRatesAreKept(t *testing.T) {
	r := NewRates[int](2)
	r.most = 100
	for i := range 1000 {
		r.Take(i, noon)
	}
	if len(r.of) != 100 || r.Take(0, noon) != 0 || r.Take(0, noon) != 0 || r.Take(0, noon) != 0 || r.Take(0, noon) == 0 {
		t.Errorf("%d are kept, or the first was forgotten", len(r.of))
	}
	if r.Take(2000, noon) == 0 {
		t.Error("the rest have more than one rate")
	}
	later := noon.Add(time.Second)
	if r.Take(2000, later) != 0 || len(r.of) > 2 {
		t.Errorf("%d are kept of those that sent nothing", len(r.of))
	}
}

func TestAnAddressThatGuessesIsNotHeard(t *testing.T) {
	s := NewStrangers()
	s.Good(NewStranger("10.0.0.7:1", "good"))
	if wait, may := s.Turn(NewStranger("10.0.0.7:1", "guess"), noon); wait != 0 || !may {
		t.Error("who did nothing yet waits")
	}
	guesses := func(address string) (n int) {
		s.Bad(NewStranger(address, "guess"))
		for ; ; n++ {
			if wait, may := s.Turn(NewStranger(address, "guess"), noon); !may || wait > tryWithin || n > 1000 {
				return n
			}
		}
	}
	if n := guesses("10.0.0.7:2"); n != triesAtOnce+triesEach*int(tryWithin/time.Second) {
		t.Errorf("it is heard %d times", n)
	}
	for _, test := range []struct {
		what, address, proof string
		heard                bool
	}{
		{"the same address", "10.0.0.7:3", "another guess", false},
		{"as IPv6 writes it", "[::ffff:10.0.0.7]:3", "another guess", false},
		{"a proof that was good", "10.0.0.7:3", "good", true},
		{"no proof", "10.0.0.7:3", "", true},
		{"another address", "10.0.0.8:3", "guess", true},
	} {
		if _, may := s.Turn(NewStranger(test.address, test.proof), noon); may != test.heard {
			t.Errorf("%s is heard: %v", test.what, may)
		}
	}
	// One has a whole network of IPv6.
	guesses("[2001:db8::1]:1")
	_, same := s.Turn(NewStranger("[2001:db8::ffff:2%eth0]:1", "guess"), noon)
	_, next := s.Turn(NewStranger("[2001:db8:0:1::1]:1", "guess"), noon)
	if same || !next {
		t.Errorf("IPv6: %v, %v", same, next)
	}
	// What was good is forgotten when it is not any more.
	s.Bad(NewStranger("10.0.0.7:1", "good"))
	if _, may := s.Turn(NewStranger("10.0.0.7:1", "good"), noon); may {
		t.Error("a proof that was revoked is heard")
	}
	if _, may := s.Turn(NewStranger("10.0.0.7:1", "guess"), noon.Add(time.Second)); !may {
		t.Error("it is not heard later")
	}
}
