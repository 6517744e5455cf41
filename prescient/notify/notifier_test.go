package notify

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"prescient/prescient"
	"prescient/prescient/doctor"
)

func TestOneProcessTellsAndAnotherTakesOverInSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, team := newPatient(bad("missed")), new(inbox)
		s := Settings{Receivers: []Receiver{{Name: "team", Sender: team}}, Reminder: time.Hour}
		stopA := p.serve(t, s)
		after(time.Second)
		stopB := p.serve(t, s)
		after(10 * time.Minute)
		wantsTold(t, team, "bad: missed")
		// It ends: it gives the duty back, and the other looks within seconds.
		stopA()
		p.finds(nil)
		began := time.Now()
		after(5*time.Minute + 30*time.Second)
		for range 60 {
			if strings.Contains(team.subjects(), "over") {
				break
			}
			after(time.Second)
		}
		wantsTold(t, team, "bad: missed, over: missed")
		if took := time.Since(began); took > 6*time.Minute+30*time.Second {
			t.Errorf("it took %s", took)
		}
		// It dies: its lease lapses.
		p.table.mu.Lock()
		p.table.holder.dead = true
		first := p.table.holder
		p.table.mu.Unlock()
		stopB()
		stopC := p.serve(t, s)
		defer stopC()
		after(term + 2*tryEvery + time.Second)
		p.table.mu.Lock()
		if p.table.holder == first || p.table.holder == nil {
			t.Error("nobody took over")
		}
		p.table.mu.Unlock()
	})
}

// One that does not answer holds up no other, and is told to these.
func TestAReceiverThatHangsHoldsNobodyUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, dead, live := newPatient(bad("missed")), &inbox{hangs: true}, new(inbox)
		stop := p.serve(t, Settings{Receivers: []Receiver{{Name: "dead", Sender: dead}, {Name: "live", Sender: live}}})
		after(2*time.Minute + time.Second)
		wantsTold(t, live, "bad: missed")
		p.finds(nil, bad("missed"), bad("clock"))
		after(3 * time.Minute)
		wantsTold(t, live, "bad: missed, bad: clock, bad: notify")
		if text := live.all()[2].Items[0].Text; !strings.Contains(text, "The receiver dead of notify.receivers has not been reached") {
			t.Error(text)
		}
		began := time.Now()
		stop()
		if took := time.Since(began); took > time.Second {
			t.Errorf("the end took %s", took)
		}
	})
}

// Whoever mended a receiver waits for no distance between tries: with the lease what the process knew of the receiver is gone.
func TestWhatWaitsIsToldAtOnceWhereTheDutyIsRecalled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, team := newPatient(bad("missed")), new(inbox)
		team.set(errors.New("no answer"))
		stop := p.serve(t, Settings{Receivers: []Receiver{{Name: "team", Sender: team}}})
		defer stop()
		after(time.Hour)
		missed, _ := p.table.row("missed")
		team.set(nil)
		p.table.mu.Lock()
		p.table.holder = nil
		p.table.mu.Unlock()
		after(30 * time.Second)
		wantsTold(t, team, "bad: missed")
		if got := team.all(); len(got) == 1 && got[0].ID != missed.message {
			t.Errorf("its id is %s; it was %s", got[0].ID, missed.message)
		}
	})
}

// What a receiver was to be told while it could not be reached it is told then: the first with the id that it had, the rest summed up.
func TestWhatCouldNotBeToldIsToldLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, team := newPatient(bad("missed")), new(inbox)
		team.set(errors.New("no answer"))
		stop := p.serve(t, Settings{Receivers: []Receiver{{Name: "team", Sender: team, Rate: 2}}})
		defer stop()
		after(3 * time.Minute)
		missed, _ := p.table.row("missed")
		id := missed.message
		p.finds(nil, bad("missed"), bad("clock"), bad("purge"), bad("leases"))
		after(time.Hour)
		missed, _ = p.table.row("missed")
		if itself, is := p.table.row(Code); missed.message != id || !is {
			t.Errorf("%+v, %+v", missed, itself)
		}
		team.set(nil)
		after(7 * time.Minute)
		wantsTold(t, team, "bad: missed, bad: 3 findings")
		if first := team.all()[0]; first.ID != id || id == "" {
			t.Errorf("%s was told; it was %s", first.ID, id)
		}
		after(10 * time.Minute)
		if _, is := p.table.row(Code); is {
			t.Error("it still counts as out of reach")
		}
		if log := p.log.String(); strings.Count(log, "cannot be told") != 1 || strings.Count(log, "can be told of findings again") != 1 {
			t.Errorf("the log has %s", log)
		}
	})
}

// A process that dies between what it sends and what it notes has the other send it again, with the same id.
func TestWhatWasSentAndNotNotedIsSentAgainWithTheSameID(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, team := newPatient(bad("missed")), new(inbox)
		p.table.loses = true
		s := Settings{Receivers: []Receiver{{Name: "team", Sender: team}}}
		stop := p.serve(t, s)
		after(2*time.Minute + 30*time.Second)
		stop()
		wantsTold(t, team, "bad: missed")
		p.table.loses = false
		p.finds(nil) // it is gone meanwhile
		stop = p.serve(t, s)
		defer stop()
		after(4 * time.Minute)
		wantsTold(t, team, "bad: missed, bad: missed")
		if all := team.all(); all[0].ID != all[1].ID {
			t.Errorf("%s and %s", all[0].ID, all[1].ID)
		}
		after(5 * time.Minute)
		wantsTold(t, team, "bad: missed, bad: missed, over: missed")
	})
}

func TestALookThatFailsSaysNothingIsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, team := newPatient(bad("missed")), new(inbox)
		stop := p.serve(t, Settings{Receivers: []Receiver{{Name: "team", Sender: team}}, Reminder: -1})
		defer stop()
		after(3 * time.Minute)
		p.finds(errors.New("the database is away"))
		after(time.Hour)
		wantsTold(t, team, "bad: missed")
		if log := p.log.String(); strings.Count(log, "the database is away") != 1 {
			t.Errorf("the log has %s", log)
		}
		p.finds(nil)
		after(7 * time.Minute)
		wantsTold(t, team, "bad: missed, over: missed")
	})
}

// However much there is, a receiver gets no more than its rate.
func TestAReceiverGetsNoMoreThanItsRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, team := newPatient(), new(inbox)
		stop := p.serve(t, Settings{Every: time.Second, Hold: -1, Gone: -1, Receivers: []Receiver{{Name: "team", Sender: team, Rate: 3}}})
		defer stop()
		for round := range 120 { // everything comes and goes each second
			var found []doctor.Finding
			for n := range 20 * (round % 2) {
				found = append(found, bad(fmt.Sprintf("code%02d", n)))
			}
			p.finds(nil, found...)
			after(time.Second)
		}
		for i := range team.at {
			if i >= 3 && team.at[i].Sub(team.at[i-3]) < time.Minute {
				t.Errorf("4 messages from %s to %s", team.at[i-3], team.at[i])
			}
		}
		if len(team.at) < 4 {
			t.Errorf("%d messages", len(team.at))
		}
	})
}

// Somebody has the row locked: what has arrived is noted later, by the process that sent it, and not sent again.
func TestWhatArrivedAndCouldNotBeNotedIsNotSentAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, team := newPatient(bad("missed")), new(inbox)
		p.table.loses = true
		stop := p.serve(t, Settings{Receivers: []Receiver{{Name: "team", Sender: team}}})
		defer stop()
		after(30 * time.Minute)
		wantsTold(t, team, "bad: missed")
		p.table.mu.Lock()
		p.table.loses = false
		p.table.mu.Unlock()
		after(2 * time.Minute)
		if r, _ := p.table.row("missed"); r.told == nil || r.message != "" {
			t.Errorf("%+v", r)
		}
		p.finds(nil)
		after(7 * time.Minute)
		wantsTold(t, team, "bad: missed, over: missed")
	})
}

// Who may only look can lock rows, too, and leave its transaction open: receivers are told all the same, once.
func TestLockedRowsKeepNobodyFromBeingTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, team := newPatient(bad("missed")), new(inbox)
		locks := func(locked bool) {
			p.table.mu.Lock()
			defer p.table.mu.Unlock()
			p.table.locked, p.table.loses = locked, locked
		}
		locks(true)
		stop := p.serve(t, Settings{Receivers: []Receiver{{Name: "team", Sender: team}}, Reminder: -1})
		defer stop()
		after(30 * time.Minute)
		p.finds(nil, bad("missed"), warn("clock"))
		after(10 * time.Minute)
		wantsTold(t, team, "bad: missed, warn: clock")
		locks(false)
		after(3 * time.Minute)
		if r, _ := p.table.row("missed"); r.told == nil || r.message != "" {
			t.Errorf("%+v", r)
		}
		p.finds(nil)
		after(7 * time.Minute)
		wantsTold(t, team, "bad: missed, warn: clock, over: missed, over: clock")
	})
}

// Who could not be told is tried again before the next look, which may be an hour away.
func TestWhoCouldNotBeToldWaitsForNoLook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, team := newPatient(bad("missed")), new(inbox)
		team.set(errors.New("no answer"))
		stop := p.serve(t, Settings{Every: time.Hour, Hold: -1, Receivers: []Receiver{{Name: "team", Sender: team}}})
		defer stop()
		after(time.Second)
		team.set(nil)
		after(firstWait + keepEvery)
		wantsTold(t, team, "bad: missed")
	})
}

// A receiver that takes its time for each message is no receiver that cannot be reached.
func TestASlowReceiverIsReached(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var found []doctor.Finding
		for n := range 20 {
			found = append(found, bad(fmt.Sprintf("code%02d", n)))
		}
		p, team := newPatient(found...), &inbox{takes: 4 * time.Second}
		stop := p.serve(t, Settings{Receivers: []Receiver{{Name: "team", Sender: team, Rate: 60}}, Reminder: -1})
		defer stop()
		after(10 * time.Minute)
		if n := len(team.all()); n != len(found) || p.log.String() != "" {
			t.Errorf("%d messages; the log has %s", n, p.log.String())
		}
	})
}

// A receiver of which a part was told is not told again, and others are told of the part.
func TestAPartThatWasNotToldIsAFinding(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, list, team := newPatient(bad("missed")), new(inbox), new(inbox)
		list.set(&PartError{errors.New("bob is refused")})
		stop := p.serve(t, Settings{Receivers: []Receiver{{Name: "list", Sender: list}, {Name: "team", Sender: team}}})
		defer stop()
		after(10 * time.Minute)
		wantsTold(t, team, "bad: missed, warn: notify")
		wantsTold(t, list, "bad: missed")
		if text := team.all()[1].Items[0].Text; text != "A part of the receiver list of notify.receivers was not reached when it was told last: bob is refused." {
			t.Error(text)
		}
	})
}

func TestWrongSettingsAreRefused(t *testing.T) {
	good := Receiver{Name: "a", Sender: nobody{}}
	for want, s := range map[string]Settings{
		"0 receivers; 1 to 20 are allowed":        {},
		"two receivers are called a":              {Receivers: []Receiver{good, good}},
		"the receiver a has no Sender":            {Receivers: []Receiver{{Name: "a"}}},
		`receiver "a b"`:                          {Receivers: []Receiver{{Name: "a b", Sender: nobody{}}}},
		`is told from "ok" on`:                    {Receivers: []Receiver{{Name: "a", Sender: nobody{}, Least: doctor.SeverityOK}}},
		"gets -1 messages a minute":               {Receivers: []Receiver{{Name: "a", Sender: nobody{}, Rate: -1}}},
		"from 25h0m0s until 0s":                   {Receivers: []Receiver{{Name: "a", Sender: nobody{}, Quiet: Hours{From: 25 * time.Hour}}}},
		`no finding has the code "overdoe"`:       {Receivers: []Receiver{good}, Ignore: []string{"overdoe"}},
		"1ms from one look to the next; at least": {Receivers: []Receiver{good}, Every: time.Millisecond},
	} {
		if _, err := New(nil, Options{Settings: s}); !errors.Is(err, prescient.ErrInvalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v; want %s", err, want)
		}
	}
}
