package notify

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// A timer's process tells what one that stays would, and remembers nothing but the table.
func TestATimerTellsReceivers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, team, dead := newPatient(bad("missed")), new(inbox), &inbox{down: errors.New("no such host")}
		s := Settings{Receivers: []Receiver{{Name: "team", Sender: team}, {Name: "dead", Sender: dead}}, Hold: 2 * time.Minute}
		once := func(want error) {
			t.Helper()
			told, err := p.notifier(t, s).Once(t.Context(), "w")
			if !told || !errors.Is(err, want) || want != nil && !strings.Contains(err.Error(), "dead: no such host") {
				t.Errorf("%t, %v; want %v", told, err, want)
			}
			after(time.Minute)
		}
		once(nil) // nothing has held for long enough
		once(nil)
		once(ErrUntold)
		wantsTold(t, team, "bad: missed")
		for range 3 {
			once(ErrUntold)
		}
		if got := team.subjects(); !strings.HasPrefix(got, "bad: missed, bad: notify") || strings.Contains(got, "over") {
			t.Errorf("it was told %q", got)
		}
		id := func() string {
			p.table.mu.Lock()
			defer p.table.mu.Unlock()
			return p.table.rows[[2]string{"missed", "dead"}].message
		}
		before := id()
		dead.set(nil)
		once(nil)
		if all := dead.all(); before == "" || len(all) == 0 || all[0].ID != before || id() != "" {
			t.Errorf("of %s came %v, and %s waits", before, all, id())
		}
		p.finds(nil)
		for range 8 {
			once(nil)
		}
		if got := team.subjects(); strings.Count(got, "over") != 2 || strings.Count(got, "bad: missed") != 1 {
			t.Errorf("it was told %q", got)
		}
	})
}

func TestATimerLeavesItToAProcessThatStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, team := newPatient(bad("missed")), new(inbox)
		s := Settings{Receivers: []Receiver{{Name: "team", Sender: team}}}
		stop := p.serve(t, s)
		after(time.Second)
		if told, err := p.notifier(t, s).Once(t.Context(), "timer"); told || err != nil {
			t.Errorf("%t, %v", told, err)
		}
		stop()
		p.finds(errors.New("the database is away"))
		if told, err := p.notifier(t, s).Once(t.Context(), "timer"); told || err == nil {
			t.Errorf("%t, %v", told, err)
		}
		if lease, err := p.table.take(t.Context()); lease == nil || err != nil {
			t.Errorf("the duty was not given back: %v", err)
		}
	})
}
