package login

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestTriesAreCountedByAddressByAccountAndByBrowser(t *testing.T) {
	now := time.Date(2026, 11, 26, 3, 0, 0, 0, time.UTC)
	for kind, l := range map[limitKind]limit{ofAddress: byAddress, ofAccount: byAccount, ofBrowser: byBrowser} {
		th := newThrottle()
		for i := range l.burst {
			if wait := th.wait(now, kind, "a"); wait != 0 {
				t.Errorf("try %d waits for %s", i, wait)
			}
		}
		for range 3 { // a try that is refused does not count
			if wait := th.wait(now, kind, "a"); wait <= 0 || wait > l.every {
				t.Errorf("it waits for %s", wait)
			}
		}
		if wait := th.wait(now.Add(l.every), kind, "a"); wait != 0 {
			t.Errorf("later it waits for %s", wait)
		}
		for other := range th.kinds {
			if wait := th.wait(now, other, "a"); other != kind && wait != 0 {
				t.Errorf("%d is counted with %d", kind, other)
			}
		}
	}
}

// However many names and addresses there are, none is forgotten, and the memory is bounded.
func TestNoNumberOfNamesMakesAnAccountForgotten(t *testing.T) {
	now, th := time.Now(), newThrottle()
	for range byAccount.burst {
		th.wait(now, ofAccount, "ada")
	}
	for i := range 100_000 {
		th.wait(now, ofAccount, fmt.Sprint("x", i))
	}
	if th.wait(now, ofAccount, "ada") == 0 {
		t.Error("it is forgotten")
	}
}

// A name that is nobody's is slowed down as an account is, and shares nothing with one, however many there are.
func TestNamesThatAreNobodysKeepNobodyOut(t *testing.T) {
	now := time.Now()
	l := &Login{throttle: newThrottle(), now: func() time.Time { return now }}
	for _, hash := range []string{"", "$argon2id$"} {
		for i := range byAccount.burst + 1 {
			if wait := l.waitOfAccount("ada", hash, ""); (wait > 0) != (i == byAccount.burst) {
				t.Errorf("try %d of %q waits for %s", i, hash, wait)
			}
		}
	}
	l.throttle = newThrottle()
	for i := range 100 * cells {
		l.waitOfAccount(fmt.Sprint("x", i), "", "")
	}
	if l.waitOfAccount("ada", "$argon2id$", "") > 0 {
		t.Error("strangers' names keep it out")
	}
}

// Somebody with a site of IPv6 has 65,536 networks.
func TestTheNetworksOfASiteAreBoundedTogether(t *testing.T) {
	now, th := time.Now(), newThrottle()
	heard := 0
	for i := range 1000 {
		if th.waitAt(now, fmt.Sprintf("2001:db8:1:%x::1", i)) == 0 {
			heard++
		}
	}
	if heard != bySite.burst {
		t.Errorf("%d tries are heard", heard)
	}
	if th.waitAt(now, "2001:db8:2::1") != 0 || th.waitAt(now, "10.0.0.7") != 0 {
		t.Error("others wait for them")
	}
}

func TestABrowserIsKnownToTheAccountThatWasSignedInTo(t *testing.T) {
	const hash, other = "$argon2id$v=19$m=1$a$b", "$argon2id$v=19$m=1$a$c"
	cookie := newKnown(hash)
	if !isKnown(cookie, hash) || newKnown(hash) == cookie {
		t.Error(cookie)
	}
	random, sum, _ := strings.Cut(cookie, ".")
	for _, bad := range []struct{ cookie, hash string }{{cookie, other}, {cookie, ""}, {newKnown(""), ""}, {"", hash}, {".", hash}, {random, hash}, {random + ".", hash}, {"." + sum, hash}, {cookie + "A", hash},
		{"A" + random + "." + sum, hash}, {strings.Repeat("A", 22) + "." + sum, hash}, {"!." + sum, hash}} {
		if isKnown(bad.cookie, bad.hash) {
			t.Errorf("%q, %q", bad.cookie, bad.hash)
		}
	}
}
