package claimer

import (
	"testing"
	"time"

	"github.com/rs/zerolog"

	"prescient/prescient"
	"prescient/prescient/internal/store"
	"prescient/prescient/longrun/machine"
	"prescient/prescient/longrun/wakeup"
	"prescient/slots"
)

// idle is a caller that has a place, and calls everything.
type idle struct{ stopped, met int }

func (idle) Full(string) bool            { return false }
func (idle) Reserve(string) bool         { return true }
func (idle) Unreserve(string)            {}
func (idle) Load(string, int) float64    { return 0 }
func (idle) Execs() []string             { return []string{"export"} }
func (idle) Calls(string) bool           { return true }
func (idle) Claim(some []Claim) []Became { return make([]Became, len(some)) }
func (h *idle) Met(n int)                { h.met = n }
func (h *idle) Stop(prescient.Key)       { h.stopped++ }
func (idle) Drop(prescient.Key)          {}

// looking is a claimer of the pool heavy that hears of looks by hand, and what it sees of a free run under a token.
func looking(t *testing.T) (c *Claimer, h *idle, sees func(token uint64)) {
	t.Helper()
	grid, err := slots.NewGrid(time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	h = new(idle)
	c = New(h, Options{Agent: "m", Lease: time.Minute, Pools: []string{"heavy"}, Tables: &store.Tables{Grid: grid}, Log: zerolog.Nop()})
	c.serving, c.clock = true, store.ClockAt(time.Now().UTC())
	return c, h, func(token uint64) {
		now := time.Now().UTC()
		row := machine.Row{Token: token, Until: now.Add(-time.Second)}
		c.saw(store.ClockAt(now), []found{{aRun, "heavy", "export", time.Time{}, true, row}})
	}
}

var aRun = prescient.Key{1}

func TestARunWhoseTokenWentBackIsClaimedAfterTwoLooks(t *testing.T) {
	c, _, sees := looking(t)
	until := time.Now().UTC().Add(time.Hour)
	c.heard(wakeup.Message{Kind: wakeup.Has, From: "x", Agent: "x", Pool: "heavy", JobExec: "export", Key: aRun, Token: 1 << 62, Until: until})
	sees(7) // may be older than the claim
	if got := c.machines[aRun]; got.Row.Token != 1<<62 {
		t.Fatalf("after one look: %+v", got)
	}
	sees(7)
	if got := c.machines[aRun]; got.Row.Token != 7 || got.State != machine.Scheduled {
		t.Errorf("after two looks: %+v", got)
	}
}

func TestALookThatIsOlderThanWhatOthersSaidSinceIsNotBelieved(t *testing.T) {
	c, _, sees := looking(t)
	for token := uint64(10); token < 20; token++ {
		c.heard(wakeup.Message{Kind: wakeup.Has, From: "x", Agent: "x", Pool: "heavy", JobExec: "export", Key: aRun, Token: token, Until: time.Now().Add(time.Minute)})
		sees(token - 1)
		if got := c.machines[aRun]; got.Row.Token != token {
			t.Fatalf("%+v", got)
		}
	}
}

func TestWhatOthersSayDoesNotEndACall(t *testing.T) {
	c, h, _ := looking(t)
	until := time.Now().UTC().Add(time.Hour)
	c.Started(Run{Key: aRun, Pool: "heavy", JobExec: "export", Token: 7, Until: until})
	for _, kind := range []wakeup.Kind{wakeup.Offer, wakeup.Claim, wakeup.Has, wakeup.End} {
		c.heard(wakeup.Message{Kind: kind, From: "x", Agent: "x", Pool: "heavy", JobExec: "export", Key: aRun, Token: 1 << 62, Until: until})
		if got := c.machines[aRun]; h.stopped > 0 || got == nil || got.State != machine.Executing || got.Row.Token != 7 {
			t.Fatalf("after %s: %+v", kind, got)
		}
	}
	c.Gone(Run{Key: aRun, Pool: "heavy", JobExec: "export", Token: 7})
	if h.stopped != 1 {
		t.Error("it goes on though the row is another's")
	}
}
