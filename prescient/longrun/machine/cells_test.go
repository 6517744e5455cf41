package machine

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"
)

// What the rows of the table test are told by.
var (
	noon  = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	never time.Time
)

func in(d time.Duration) time.Time { return noon.Add(d) }

const (
	load   = 300 * time.Millisecond
	again  = time.Second
	wide   = 8 * time.Millisecond
	lease  = time.Minute
	tokens = 100
)

// us is an agent with a wake-up and a place.
var us = Agent{ID: "m", Room: true, Delay: load, Window: wide, Again: again, Priority: 50}

func without(what ...string) Agent {
	a := us
	for _, w := range what {
		switch w {
		case "a place":
			a.Room = false
		case "a wake-up":
			a.Window = 0
		}
	}
	return a
}

// The rows that are read, or told of.
var (
	free   = Row{Token: tokens, Until: noon}
	theirs = Row{Token: tokens, Agent: "x", Until: in(lease)}
	lapsed = Row{Token: tokens, Agent: "x", Until: noon}
	since  = Row{Token: tokens, Until: in(-time.Hour)}
	ours   = Row{Token: tokens, Agent: "m", Until: in(lease)}
	after  = Row{Token: tokens + 5, Agent: "x", Until: in(lease)}
	old    = Row{Token: tokens - 5, Agent: "x", Until: in(lease)}
)

func at(s State, row Row, timer time.Time) Machine { return Machine{State: s, Row: row, Timer: timer} }

// yielded is a machine that has given way.
func yielded(timer time.Time, priority uint64) Machine {
	return Machine{State: Scheduled, Row: free, Timer: timer, Priority: priority, GaveWay: true}
}

func electing(priority uint64) Machine {
	return Machine{State: Electing, Row: free, Timer: in(wide), Priority: priority}
}

func announces(from string, priority uint64) Event {
	return Event{Kind: Claimed, From: from, Announced: true, Priority: priority, Row: Row{Token: tokens}}
}

// cells are what each cell of the table does, by examples. The name of one begins with the state and the event.
var cells = []struct {
	name string
	m    Machine
	here Agent
	e    Event
	want Machine
	do   []Effect
}{
	{"loaded claimed: a claim for a run that was never heard of changes nothing", Machine{}, us, announces("x", 9), Machine{}, nil},
	{"loaded claimed: another has it", at(Loaded, free, never), us, Event{Kind: Claimed, From: "x", Row: after}, at(Loaded, after, never), nil},
	{"loaded claimed: it has started here", Machine{}, us, Event{Kind: Claimed, From: "m", Runs: true, Row: ours}, at(Executing, ours, in(lease)), nil},
	{"loaded claimed: what comes late counts for nothing", at(Loaded, free, never), us, Event{Kind: Claimed, From: "x", Row: old}, at(Loaded, free, never), nil},
	{"loaded done: it is forgotten", at(Loaded, theirs, never), us, Event{Kind: Done, From: "x", Row: theirs}, Machine{}, []Effect{Forget}},
	{"loaded done: an end that comes late counts for nothing", at(Loaded, after, never), us, Event{Kind: Done, From: "x", Row: free}, at(Loaded, after, never), nil},
	{"loaded readnew: what is free is claimed by the load", Machine{}, us, Event{Kind: ReadNew, Row: free}, at(Scheduled, free, in(load)), nil},
	{"loaded readnew: what is free since long is claimed at once: nobody with less to do wants it", Machine{}, us, Event{Kind: ReadNew, Row: since}, at(Scheduled, since, noon), nil},
	{"loaded readnew: what another has, when its lease ends", Machine{}, us, Event{Kind: ReadNew, Row: theirs}, at(Scheduled, theirs, in(lease+load)), nil},
	{"loaded readnew: not without a place", Machine{}, without("a place"), Event{Kind: ReadNew, Row: free}, at(Loaded, free, never), nil},
	{"loaded refresh: there is a place by now", at(Loaded, free, never), us, Event{Kind: Refresh, Row: free}, at(Scheduled, free, in(load)), nil},
	{"loaded refresh: its agent has let it lapse", at(Loaded, theirs, never), us, Event{Kind: Refresh, Row: lapsed}, at(Scheduled, lapsed, in(load)), nil},
	{"loaded refresh: a read that is older than what was heard counts for nothing", at(Loaded, after, never), us, Event{Kind: Refresh, Row: free}, at(Loaded, after, never), nil},
	{"loaded release: it is claimed by the load", at(Loaded, theirs, never), us, Event{Kind: Release, From: "x", Row: free}, at(Scheduled, free, in(load)), nil},
	{"loaded release: an offer that comes late waits no longer than one that was heard at once", at(Loaded, theirs, never), us,
		Event{Kind: Release, From: "x", Row: Row{Token: tokens, Until: in(-load / 3)}}, at(Scheduled, Row{Token: tokens, Until: in(-load / 3)}, in(load-load/3)), nil},
	{"loaded release: not without a place", at(Loaded, theirs, never), without("a place"), Event{Kind: Release, From: "x", Row: free}, at(Loaded, free, never), nil},
	{"loaded remove: it is forgotten", at(Loaded, theirs, never), us, Event{Kind: Remove}, Machine{}, []Effect{Forget}},
	{"loaded timer: it comes too late", at(Loaded, free, never), us, Event{Kind: Timer}, at(Loaded, free, never), nil},

	{"scheduled claimed: who announces first goes first, and this agent looks again later", at(Scheduled, free, in(load)), us, announces("x", 1), yielded(in(again+load), 0), nil},
	{"scheduled claimed: who only announces, again and again, is not given way to again", yielded(in(again), 0), us, announces("x", 1), yielded(in(again), 0), nil},
	{"scheduled claimed: under another token it gives way anew", yielded(in(again), 0), us, Event{Kind: Claimed, From: "x", Row: after}, at(Scheduled, after, in(lease+load)), nil},
	{"scheduled claimed: another has it until its lease ends", at(Scheduled, free, in(load)), us, Event{Kind: Claimed, From: "x", Row: after}, at(Scheduled, after, in(lease+load)), nil},
	{"scheduled claimed: another has it, nobody knows for how long", at(Scheduled, free, in(load)), us, Event{Kind: Claimed, From: "x", Row: Row{Token: tokens + 5, Agent: "x"}},
		at(Loaded, Row{Token: tokens + 5, Agent: "x"}, never), nil},
	{"scheduled claimed: it has started here", at(Scheduled, free, in(load)), us, Event{Kind: Claimed, From: "m", Runs: true, Row: ours}, at(Executing, ours, in(lease)), nil},
	{"scheduled done: it is forgotten", at(Scheduled, theirs, in(lease)), us, Event{Kind: Done, From: "x", Row: theirs}, Machine{}, []Effect{Forget}},
	{"scheduled readnew: it was told of before it was read", at(Scheduled, free, in(load)), us, Event{Kind: ReadNew, Row: free}, at(Scheduled, free, in(load)), nil},
	{"scheduled refresh: a read does not put the claim off", at(Scheduled, free, in(time.Millisecond)), us, Event{Kind: Refresh, Row: free}, at(Scheduled, free, in(time.Millisecond)), nil},
	{"scheduled refresh: its agent has renewed it", at(Scheduled, Row{tokens, "x", in(time.Second)}, in(time.Second)), us, Event{Kind: Refresh, Row: theirs}, at(Scheduled, theirs, in(lease+load)), nil},
	{"scheduled refresh: under the same token it has given way", yielded(in(load), 0), us, Event{Kind: Refresh, Row: theirs},
		Machine{State: Scheduled, Row: theirs, Timer: in(lease + load), GaveWay: true}, nil},
	{"scheduled refresh: it was handed on", at(Scheduled, theirs, in(lease)), us, Event{Kind: Refresh, Row: free}, at(Scheduled, free, in(load)), nil},
	{"scheduled refresh: the place is gone", at(Scheduled, free, in(load)), without("a place"), Event{Kind: Refresh, Row: free}, at(Loaded, free, never), nil},
	{"scheduled release: it need not wait for the end of the lease", at(Scheduled, theirs, in(lease)), us, Event{Kind: Release, From: "x", Row: free}, at(Scheduled, free, in(load)), nil},
	{"scheduled release: one that comes late counts for nothing", at(Scheduled, after, in(lease)), us, Event{Kind: Release, From: "x", Row: free}, at(Scheduled, after, in(lease)), nil},
	{"scheduled remove: it is forgotten", at(Scheduled, free, in(load)), us, Event{Kind: Remove}, Machine{}, []Effect{Forget}},
	{"scheduled timer: the claim is announced", at(Scheduled, free, noon), us, Event{Kind: Timer}, electing(50), []Effect{Announce}},
	{"scheduled timer: one that gave way asks nobody", yielded(noon, 0), us, Event{Kind: Timer}, Machine{State: Elected, Row: free, GaveWay: true}, []Effect{Claim}},
	{"scheduled timer: without a wake-up it is made", at(Scheduled, free, noon), without("a wake-up"), Event{Kind: Timer}, at(Elected, free, never), []Effect{Claim}},
	{"scheduled timer: not without a place", at(Scheduled, free, noon), without("a place"), Event{Kind: Timer}, at(Loaded, free, never), nil},
	{"scheduled timer: not while a lease lives", at(Scheduled, theirs, noon), us, Event{Kind: Timer}, at(Scheduled, theirs, in(lease+load)), nil},
	{"scheduled timer: one that was set anew counts for nothing", at(Scheduled, free, in(load)), us, Event{Kind: Timer}, at(Scheduled, free, in(load)), nil},

	{"electing claimed: the higher priority goes first", electing(50), us, announces("x", 51), yielded(in(again+load), 50), nil},
	{"electing claimed: we go first by our priority", electing(50), us, announces("x", 49), electing(50), nil},
	{"electing claimed: of simultaneous claims of equal priority the lower id goes first: another's", electing(50), us, announces("l", 50), yielded(in(again+load), 50), nil},
	{"electing claimed: of simultaneous claims of equal priority the lower id goes first: ours", electing(50), us, announces("n", 50), electing(50), nil},
	{"electing claimed: another has it already", electing(50), us, Event{Kind: Claimed, From: "x", Row: after}, Machine{State: Scheduled, Row: after, Timer: in(lease + load), Priority: 50}, nil},
	{"electing claimed: it has started here", electing(50), us, Event{Kind: Claimed, From: "m", Runs: true, Row: ours}, Machine{State: Executing, Row: ours, Timer: in(lease), Priority: 50}, nil},
	{"electing done: it is forgotten", electing(50), us, Event{Kind: Done, From: "x", Row: free}, Machine{}, []Effect{Forget}},
	{"electing readnew: it is free", electing(50), us, Event{Kind: ReadNew, Row: free}, electing(50), nil},
	{"electing refresh: another has it who announces nothing", electing(50), us, Event{Kind: Refresh, Row: after}, Machine{State: Scheduled, Row: after, Timer: in(lease + load), Priority: 50}, nil},
	{"electing release: it is free", electing(50), us, Event{Kind: Release, From: "x", Row: free}, electing(50), nil},
	{"electing remove: it is forgotten", electing(50), us, Event{Kind: Remove}, Machine{}, []Effect{Forget}},
	{"electing timer: nobody goes first", Machine{State: Electing, Row: free, Timer: noon, Priority: 50}, us, Event{Kind: Timer}, Machine{State: Elected, Row: free, Priority: 50}, []Effect{Claim}},
	{"electing timer: the place is gone", Machine{State: Electing, Row: free, Timer: noon, Priority: 50}, without("a place"), Event{Kind: Timer}, Machine{State: Loaded, Row: free, Priority: 50}, nil},

	{"elected claimed: the claim came to nothing", at(Elected, free, never), us, Event{Kind: Claimed, From: "m"}, at(Loaded, free, never), []Effect{Look}},
	{"elected claimed: what others say changes nothing", at(Elected, free, never), us, announces("a", 99), at(Elected, free, never), nil},
	{"elected claimed: it has started here", at(Elected, free, never), us, Event{Kind: Claimed, From: "m", Runs: true, Row: ours}, at(Executing, ours, in(lease)), nil},
	{"elected done: the claim decides", at(Elected, free, never), us, Event{Kind: Done, From: "x", Row: free}, at(Elected, free, never), nil},
	{"elected readnew: the claim decides", at(Elected, free, never), us, Event{Kind: ReadNew, Row: free}, at(Elected, free, never), nil},
	{"elected refresh: the claim decides", at(Elected, free, never), us, Event{Kind: Refresh, Row: after}, at(Elected, free, never), nil},
	{"elected release: the claim decides", at(Elected, free, never), us, Event{Kind: Release, From: "x", Row: free}, at(Elected, free, never), nil},
	{"elected remove: the claim decides", at(Elected, free, never), us, Event{Kind: Remove}, at(Elected, free, never), nil},
	{"elected timer: the claim has a deadline", at(Elected, free, never), us, Event{Kind: Timer}, at(Elected, free, never), nil},

	{"executing claimed: a claim of what runs here has it look, and goes on", at(Executing, ours, in(lease)), us, announces("a", 99), at(Executing, ours, in(lease)), []Effect{Look}},
	{"executing claimed: another has it under a higher token", at(Executing, ours, in(lease)), us, Event{Kind: Claimed, From: "x", Row: after}, at(Loaded, after, never), []Effect{Stop, Look}},
	{"executing claimed: one that comes late counts for nothing", at(Executing, ours, in(lease)), us, Event{Kind: Claimed, From: "x", Row: old}, at(Executing, ours, in(lease)), nil},
	{"executing claimed: it was started again here", at(Executing, ours, in(lease)), us, Event{Kind: Claimed, From: "m", Runs: true, Row: Row{tokens + 5, "m", in(2 * lease)}},
		at(Executing, Row{tokens + 5, "m", in(2 * lease)}, in(2*lease)), nil},
	{"executing done: our own end", at(Executing, ours, in(lease)), us, Event{Kind: Done, From: "m", Row: ours}, Machine{}, []Effect{Forget}},
	{"executing done: another's word for the end of what runs here counts for nothing", at(Executing, ours, in(lease)), us, Event{Kind: Done, From: "x", Row: ours}, at(Executing, ours, in(lease)), nil},
	{"executing done: another has ended it under a higher token", at(Executing, ours, in(lease)), us, Event{Kind: Done, From: "x", Row: after}, Machine{}, []Effect{Stop, Forget}},
	{"executing readnew: it is ours", at(Executing, ours, in(lease)), us, Event{Kind: ReadNew, Row: ours}, at(Executing, ours, in(lease)), nil},
	{"executing refresh: we have renewed it", at(Executing, ours, in(lease)), us, Event{Kind: Refresh, From: "m", Row: Row{tokens, "m", in(2 * lease)}}, at(Executing, Row{tokens, "m", in(2 * lease)}, in(2*lease)), nil},
	{"executing refresh: another has it", at(Executing, ours, in(lease)), us, Event{Kind: Refresh, Row: after}, at(Loaded, after, never), []Effect{Stop, Look}},
	{"executing refresh: a read is older than our claim", at(Executing, ours, in(lease)), us, Event{Kind: Refresh, Row: old}, at(Executing, ours, in(lease)), nil},
	{"executing release: our own hand-over", at(Executing, ours, in(lease)), us, Event{Kind: Release, From: "m", Row: ours}, Machine{}, []Effect{Forget}},
	{"executing release: a release from another for what this one runs has it look, and goes on", at(Executing, ours, in(lease)), us, Event{Kind: Release, From: "x", Row: free}, at(Executing, ours, in(lease)), []Effect{Look}},
	{"executing release: under a higher token it was another's meanwhile", at(Executing, ours, in(lease)), us, Event{Kind: Release, From: "x", Row: Row{tokens + 5, "", in(0)}},
		at(Loaded, Row{tokens + 5, "", in(0)}, never), []Effect{Stop, Look}},
	{"executing remove: what runs was removed, and its call ends", at(Executing, ours, in(lease)), us, Event{Kind: Remove}, at(Loaded, ours, never), []Effect{Drop}},
	{"executing timer: allocated_until is past while this process still executes", at(Executing, Row{tokens, "m", in(-time.Second)}, in(-time.Second)), us, Event{Kind: Timer},
		at(Loaded, Row{tokens, "m", in(-time.Second)}, never), []Effect{Stop, Look}},
	{"executing timer: it was renewed just before", at(Executing, ours, in(lease)), us, Event{Kind: Timer}, at(Executing, ours, in(lease)), nil},
	// What is known already is not put back by what comes late.
	{"loaded readnew: what comes late counts for nothing", at(Loaded, after, never), us, Event{Kind: ReadNew, Row: old}, at(Loaded, after, never), nil},
	{"loaded refresh: not without a place", at(Loaded, free, never), without("a place"), Event{Kind: Refresh, Row: lapsed}, at(Loaded, lapsed, never), nil},
	{"loaded refresh: when its lease ends", at(Loaded, free, never), us, Event{Kind: Refresh, Row: theirs}, at(Scheduled, theirs, in(lease+load)), nil},
	{"loaded release: what comes late counts for nothing", at(Loaded, after, never), us, Event{Kind: Release, From: "x", Row: old}, at(Loaded, after, never), nil},
	{"scheduled claimed: what comes late counts for nothing", at(Scheduled, free, in(load)), us, Event{Kind: Claimed, From: "x", Row: old}, at(Scheduled, free, in(load)), nil},
	{"scheduled done: what comes late counts for nothing", at(Scheduled, free, in(load)), us, Event{Kind: Done, From: "x", Row: old}, at(Scheduled, free, in(load)), nil},
	{"scheduled readnew: what comes late counts for nothing", at(Scheduled, free, in(load)), us, Event{Kind: ReadNew, Row: old}, at(Scheduled, free, in(load)), nil},
	{"scheduled readnew: not without a place", at(Scheduled, free, in(load)), without("a place"), Event{Kind: ReadNew, Row: free}, at(Loaded, free, never), nil},
	{"scheduled readnew: another has it", at(Scheduled, free, in(load)), us, Event{Kind: ReadNew, Row: theirs}, at(Scheduled, theirs, in(lease+load)), nil},
	{"scheduled readnew: its agent has let it lapse", at(Scheduled, theirs, in(lease)), us, Event{Kind: ReadNew, Row: lapsed}, at(Scheduled, lapsed, in(load)), nil},
	{"scheduled refresh: what comes late counts for nothing", at(Scheduled, free, in(load)), us, Event{Kind: Refresh, Row: old}, at(Scheduled, free, in(load)), nil},
	{"electing claimed: what comes late counts for nothing", electing(50), us, Event{Kind: Claimed, From: "x", Row: old}, electing(50), nil},
	{"electing claimed: another has it, nobody knows for how long", electing(50), us, Event{Kind: Claimed, From: "x", Row: Row{Token: tokens + 5, Agent: "x"}},
		Machine{State: Loaded, Row: Row{Token: tokens + 5, Agent: "x"}, Priority: 50}, nil},
	{"electing done: what comes late counts for nothing", electing(50), us, Event{Kind: Done, From: "x", Row: old}, electing(50), nil},
	{"electing readnew: what comes late counts for nothing", electing(50), us, Event{Kind: ReadNew, Row: old}, electing(50), nil},
	{"electing readnew: another has it", electing(50), us, Event{Kind: ReadNew, Row: theirs}, Machine{State: Scheduled, Row: theirs, Timer: in(lease + load), Priority: 50}, nil},
	{"electing refresh: what comes late counts for nothing", electing(50), us, Event{Kind: Refresh, Row: old}, electing(50), nil},
	{"electing refresh: it is free", electing(50), us, Event{Kind: Refresh, Row: lapsed}, Machine{State: Electing, Row: lapsed, Timer: in(wide), Priority: 50}, nil},
	{"electing release: what comes late counts for nothing", electing(50), us, Event{Kind: Release, From: "x", Row: old}, electing(50), nil},
	{"electing timer: one that was set anew counts for nothing", electing(50), us, Event{Kind: Timer}, electing(50), nil},
	{"executing readnew: what this agent says of itself", at(Executing, ours, in(lease)), us, Event{Kind: ReadNew, From: "m", Row: Row{tokens, "m", in(2 * lease)}},
		at(Executing, Row{tokens, "m", in(2 * lease)}, in(2*lease)), nil},
	{"executing readnew: another has it", at(Executing, ours, in(lease)), us, Event{Kind: ReadNew, Row: after}, at(Loaded, after, never), []Effect{Stop, Look}},
	// What a read shows is noted also where nothing else comes of it.
	{"scheduled readnew: the place is gone, and the row has changed", at(Scheduled, free, in(load)), without("a place"), Event{Kind: ReadNew, Row: lapsed}, at(Loaded, lapsed, never), nil},
	{"scheduled refresh: the place is gone, and the row has changed", at(Scheduled, free, in(load)), without("a place"), Event{Kind: Refresh, Row: lapsed}, at(Loaded, lapsed, never), nil},
	{"electing readnew: the row has changed", electing(50), us, Event{Kind: ReadNew, Row: lapsed}, Machine{State: Electing, Row: lapsed, Timer: in(wide), Priority: 50}, nil},
	{"electing release: the row has changed", electing(50), us, Event{Kind: Release, From: "x", Row: since}, Machine{State: Electing, Row: since, Timer: in(wide), Priority: 50}, nil},
	{"elected timer: one that is left does not come again", at(Elected, free, noon), us, Event{Kind: Timer}, at(Elected, free, never), nil},
}

func TestCells(t *testing.T) {
	seen := make(map[string]bool)
	for _, tt := range cells {
		cell := fmt.Sprintf("%s %s", tt.m.State, tt.e.Kind)
		seen[cell] = true
		t.Run(strings.ReplaceAll(tt.name, " ", "_"), func(t *testing.T) {
			if !strings.HasPrefix(tt.name, cell+":") {
				t.Errorf("it is of the cell %s", cell)
			}
			got, do := Step(tt.m, tt.here, noon, tt.e)
			if got != tt.want || !reflect.DeepEqual(do, tt.do) {
				t.Errorf("got  %+v, %v\nwant %+v, %v", got, do, tt.want, tt.do)
			}
		})
	}
	for _, s := range States {
		for _, k := range Kinds {
			if cell := fmt.Sprintf("%s %s", s, k); !seen[cell] {
				t.Errorf("the cell %s has no test", cell)
			}
			if Table[s][k].Why == "" || len(Table[s][k].Rules) == 0 {
				t.Errorf("the cell %s %s is empty", s, k)
			}
		}
	}
}

// Each rule of the table is reached by one of the tests.
func TestEveryRuleIsReached(t *testing.T) {
	reached := make(map[string]bool)
	for _, tt := range cells {
		s := step{m: tt.m, here: tt.here, now: noon, e: tt.e}
		for i, rule := range Table[tt.m.State][tt.e.Kind].Rules {
			if rule.If.holds == nil || rule.If.holds(&s) {
				reached[fmt.Sprint(tt.m.State, tt.e.Kind, i)] = true
				break
			}
		}
	}
	missing := 0
	for _, s := range States {
		for _, k := range Kinds {
			for i, rule := range Table[s][k].Rules {
				if !reached[fmt.Sprint(s, k, i)] {
					missing++
					t.Errorf("%s %s: no test of %q", s, k, rule.If.Name)
				}
			}
		}
	}
}
