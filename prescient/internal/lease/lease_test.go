package lease_test

import (
	"testing"
	"time"

	"prescient/prescient/internal/lease"
)

func TestATermEndsUnlessItIsRenewed(t *testing.T) {
	began := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	at := func(seconds int) time.Time { return began.Add(time.Duration(seconds) * time.Second) }
	var term lease.Term
	term.Begin(at(0), time.Minute)
	for _, c := range []struct {
		about       string
		do          func()
		at          int
		lives, due  bool
		alive, lost bool
	}{
		{"at first it lives", func() {}, 19, true, false, true, false},
		{"after a third it is to be renewed", func() {}, 20, true, true, true, false},
		{"renewed it lives for another term", func() { term.Renewed(at(20)) }, 79, true, true, true, false},
		{"it is over at its end", func() {}, 80, false, false, false, true},
		{"and stays so, renewed or not", func() { term.Renewed(at(81)) }, 82, false, false, false, true},
	} {
		c.do()
		// Lives and IsDue come first: Alive takes note.
		lives, due := term.Lives(at(c.at)), term.IsDue(at(c.at))
		alive := term.Alive(at(c.at))
		if c.lost { // by Alive
			due = term.IsDue(at(c.at))
		}
		if lives != c.lives || due != c.due || alive != c.alive || term.Lost() != c.lost {
			t.Errorf("%s: lives %t, due %t, alive %t, lost %t", c.about, lives, due, alive, term.Lost())
		}
	}
}

// Who only asks whether it lives may renew it after its end.
func TestATermThatNobodyFoundOverIsRenewedAfterItsEnd(t *testing.T) {
	began := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	var term lease.Term
	term.Begin(began, time.Minute)
	if term.Lives(began.Add(time.Minute)) {
		t.Error("it lives at its end")
	}
	term.Renewed(began.Add(2 * time.Minute))
	if !term.Lives(began.Add(2*time.Minute)) || term.Until() != began.Add(3*time.Minute) {
		t.Errorf("it ends at %s", term.Until())
	}
	if !term.Lose() || term.Lose() || term.Lives(began.Add(2*time.Minute)) {
		t.Error("lost it lives, or is lost twice")
	}
}

func TestStepsAreTheirOwn(t *testing.T) {
	seen := make(map[uint64]bool)
	for range 100 {
		if step := lease.Step(); step == 0 || step > 1<<32 || seen[step] {
			t.Fatalf("step %d", step)
		} else {
			seen[step] = true
		}
	}
}
