package checker

import (
	"slices"
	"testing"
	"time"

	"prescient/scripts/chaos/checker/evidence"
)

var (
	noon  = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	rules = Rules{Resolution: time.Second, Entity: "e", Batch: 2, Streams: 1, MaxLate: 5 * time.Second, MaxChecks: 1, MaxErrors: 1,
		InFlight: 2 * time.Second, Outcomes: map[string]string{"check": "done"}, Tx: map[string]bool{}}
)

// The clock said noon when the journal began.
func told(after time.Duration) Event {
	return Event{Kind: Clock, At: after, Told: noon.Add(after)}
}

// setBack is an hour's.
func setBack(after time.Duration) Event {
	return Event{Kind: Clock, At: after, Told: noon.Add(after - time.Hour)}
}

func inserted(result Result) Event {
	return Event{Kind: Insert, ID: 1, Key: "k", Exec: "check", Result: result, Due: noon.Add(1500 * time.Millisecond)}
}

// calledAt is a call of the slot at noon and two seconds.
func calledAt(at time.Duration, number int64, worker string) Event {
	return Event{Kind: Call, At: at, N: number, ID: 1, Key: "k", Exec: "check", Worker: worker, Revision: 7, Slot: noon.Add(2 * time.Second)}
}

func done(worker string) evidence.Ended {
	return evidence.Ended{ID: 1, Outcome: "done", Slot: noon.Add(2 * time.Second), Worker: worker, Revision: 7}
}

func booked(n int) []evidence.Run {
	return []evidence.Run{{Slot: noon.Add(2 * time.Second), Buckets: 1, ByOutcome: map[string]int{"done": n}}}
}

func line(calls, done int) []evidence.Line {
	return []evidence.Line{{Slot: noon.Add(2 * time.Second), JobExec: "check", Calls: calls, ByOutcome: map[string]int{"done": done}}}
}

func TestEachRuleIsHeld(t *testing.T) {
	at := func(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
	later := noon.Add(3 * time.Second)
	good := evidence.Tables{Ended: []evidence.Ended{done("a")}, Runs: booked(1)}
	for _, tt := range []struct {
		name   string
		events []Event
		tables evidence.Tables
		want   []string
	}{
		{"all is well", []Event{inserted(Committed), calledAt(at(2.1), 1, "a")}, good, nil},
		{"the books by job_exec agree", []Event{inserted(Committed), calledAt(at(2.1), 1, "a")},
			evidence.Tables{Ended: good.Ended, Runs: good.Runs, Lines: line(1, 1)}, nil},
		{"they lack an end", []Event{inserted(Committed), calledAt(at(2.1), 1, "a")}, evidence.Tables{Ended: good.Ended, Runs: good.Runs, Lines: line(1, 0)}, []string{"exec-books"}},
		{"they have one too many", []Event{inserted(Committed), calledAt(at(2.1), 1, "a")}, evidence.Tables{Ended: good.Ended, Runs: good.Runs, Lines: line(1, 2)}, []string{"exec-books"}},
		{"they lack a line", []Event{inserted(Committed), calledAt(at(2.1), 1, "a")}, evidence.Tables{Ended: good.Ended, Runs: good.Runs, Lines: []evidence.Line{}}, []string{"exec-books"}},
		{"they have a call that was not made", []Event{inserted(Committed), calledAt(at(2.1), 1, "a")}, evidence.Tables{Ended: good.Ended, Runs: good.Runs, Lines: line(2, 1)}, []string{"exec-books"}},
		{"they lack a call", []Event{inserted(Committed), calledAt(at(2.1), 1, "a")}, evidence.Tables{Ended: good.Ended, Runs: good.Runs, Lines: line(0, 1)}, []string{"exec-books"}},
		{"it is gone", []Event{inserted(Committed), calledAt(at(2.1), 1, "a")}, evidence.Tables{}, []string{"lost"}},
		{"an unknown insert may be gone", []Event{inserted(Unknown)}, evidence.Tables{}, nil},
		{"one that ran may not", []Event{inserted(Unknown), calledAt(at(2.1), 1, "a")}, evidence.Tables{}, []string{"lost"}},
		{"two ends", []Event{inserted(Committed), calledAt(at(2.1), 1, "a")}, evidence.Tables{Ended: []evidence.Ended{done("a"), done("a")}, Runs: booked(2)}, []string{"ended-twice"}},
		{"ended and pending", []Event{inserted(Committed), calledAt(at(2.1), 1, "a")},
			evidence.Tables{Ended: []evidence.Ended{done("a")}, Pending: []evidence.Pending{{ID: 1, Next: noon.Add(time.Hour)}}, Runs: booked(1)}, []string{"ended-twice"}},
		{"rolled back, and it ran", []Event{inserted(RolledBack), calledAt(at(2.1), 1, "a")}, good, []string{"phantom"}},
		{"nobody asked for it", []Event{told(at(2))}, good, []string{"phantom", "outcome"}},
		{"before its slot", []Event{inserted(Committed), calledAt(at(1.9), 1, "a")}, good, []string{"early"}},
		{"its slot had begun when the clock was set back", []Event{inserted(Committed), told(at(1.98)), setBack(at(2.03)), calledAt(at(2.05), 1, "a")}, good, nil},
		{"a slot's length after it was set back", []Event{inserted(Committed), told(at(1.98)), setBack(at(2.03)), calledAt(at(3.04), 1, "a")}, good, []string{"early"}},
		{"its slot had not begun then", []Event{inserted(Committed), told(at(1.9)), setBack(at(1.95)), calledAt(at(2.05), 1, "a")}, good, []string{"early"}},
		{"late", []Event{inserted(Committed), calledAt(at(7.1), 1, "a")}, good, []string{"late"}},
		{"overdue at the end", []Event{inserted(Committed), told(at(9))}, evidence.Tables{Pending: []evidence.Pending{{ID: 1, Next: later}}}, []string{"waits"}},
		{"twice for no reason", []Event{inserted(Committed), calledAt(at(2.1), 1, "a"), calledAt(at(3), 2, "a")}, good, []string{"twice"}},
		{"twice after a fault", []Event{inserted(Committed), calledAt(at(2.1), 1, "b"), {Kind: Fault, What: "kill", Worker: "b", At: at(2.5)}, calledAt(at(3), 2, "a")}, good, nil},
		{"a fault of somebody else", []Event{inserted(Committed), calledAt(at(2.1), 1, "b"), {Kind: Fault, What: "kill", Worker: "c", At: at(2.5)}, calledAt(at(3), 2, "a")}, good, []string{"twice"}},
		{"cancelled in time, and run", []Event{inserted(Committed), {Kind: Cancel, ID: 1, Result: Committed, At: at(1)}, calledAt(at(2.1), 1, "a")},
			evidence.Tables{Ended: []evidence.Ended{{ID: 1, Outcome: "cancelled"}}}, []string{"cancelled"}},
		{"cancelled while it ran", []Event{inserted(Committed), calledAt(at(2.1), 1, "a"), {Kind: Cancel, ID: 1, Result: Committed, At: at(2.2)}},
			evidence.Tables{Ended: []evidence.Ended{{ID: 1, Outcome: "cancelled"}}}, nil},
		{"cancelled, and back", []Event{inserted(Committed), {Kind: Cancel, ID: 1, Result: Committed, At: at(1)}},
			evidence.Tables{Pending: []evidence.Pending{{ID: 1, Next: noon.Add(time.Hour)}}}, []string{"cancelled"}},
		{"a check that nobody answered", []Event{inserted(Committed), calledAt(at(2.1), 1, "a")},
			evidence.Tables{Ended: []evidence.Ended{{ID: 1, Outcome: "done", Checks: 1, Slot: noon.Add(2 * time.Second), Worker: "a", Revision: 7}}, Runs: booked(1)}, []string{"checks"}},
		{"an end that it does not have", []Event{inserted(Committed), calledAt(at(2.1), 1, "a")},
			evidence.Tables{Ended: []evidence.Ended{{ID: 1, Outcome: "crashed", Slot: noon.Add(2 * time.Second), Worker: "a", Revision: 7}},
				Runs: []evidence.Run{{Slot: noon.Add(2 * time.Second), Buckets: 1, ByOutcome: map[string]int{"crashed": 1}}}}, []string{"outcome"}},
		{"books that do not balance", []Event{inserted(Committed), calledAt(at(2.1), 1, "a")}, evidence.Tables{Ended: []evidence.Ended{done("a")}, Runs: booked(2)}, []string{"books"}},
		{"a lease that nobody has", []Event{inserted(Committed), calledAt(at(2.1), 1, "a")},
			evidence.Tables{Ended: []evidence.Ended{done("a")}, Runs: []evidence.Run{{Slot: noon.Add(2 * time.Second), Buckets: 1, Held: true, ByOutcome: map[string]int{"done": 1}}}}, []string{"lease"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			report := Judge(rules, append([]Event{told(0)}, tt.events...), tt.tables)
			var found []string
			for _, f := range report.Findings {
				if !slices.Contains(found, f.Rule) {
					found = append(found, f.Rule)
				}
			}
			if !slices.Equal(found, tt.want) {
				t.Errorf("found %v; want rules %q", report.Findings, tt.want)
			}
		})
	}
}

// The fence is by claims: a call by a worker whose lease is another's by now may come late, but no commit.
func TestAnEndByAWorkerThatWasOvertakenIsFound(t *testing.T) {
	claims := func(workers ...string) (list []evidence.Claim) {
		for i, worker := range workers {
			list = append(list, evidence.Claim{Slot: noon.Add(2 * time.Second), Buckets: 1, Token: uint64(10 + i), Worker: worker, At: noon.Add(time.Duration(2000+300*i) * time.Millisecond)})
		}
		return list
	}
	other := func(list []evidence.Claim) []evidence.Claim {
		for i := range list {
			list[i].Buckets, list[i].Bucket = 8, (evidence.Keys{}.Bucket(evidence.PlaceOf("e", "k"), 8)+1)%8
		}
		return list
	}
	divided := func(list []evidence.Claim) []evidence.Claim { // and claimed by b, with a token that begins anew
		return append(list, evidence.Claim{Slot: noon.Add(2 * time.Second), Bucket: evidence.Keys{}.Bucket(evidence.PlaceOf("e", "k"), 8), Buckets: 8, Token: 3, Worker: "b",
			At: noon.Add(2300 * time.Millisecond)})
	}
	call := func(ms int, number int64, worker string) Event {
		return calledAt(time.Duration(ms)*time.Millisecond, number, worker)
	}
	for _, tt := range []struct {
		name   string
		claims []evidence.Claim
		last   bool // the last claims alone are known
		calls  []Event
		ended  string
		want   int
	}{
		{"nobody came between", claims("a"), false, []Event{call(2100, 1, "a")}, "a", 0},
		{"taken over, and ended by who took it", claims("a", "b"), false, []Event{call(2100, 1, "a"), call(2400, 2, "b")}, "b", 0},
		{"taken over, and ended by who had it before", claims("a", "b"), false, []Event{call(2100, 1, "a"), call(2400, 2, "b")}, "a", 1},
		{"taken over, and called late by who had it before", claims("a", "b"), false, []Event{call(2400, 1, "b"), call(2500, 2, "a")}, "b", 0},
		{"the same, and ended by it", claims("a", "b"), false, []Event{call(2400, 1, "b"), call(2500, 2, "a")}, "a", 1},
		{"the same, and taken over once more", claims("a", "b", "c"), false, []Event{call(2400, 1, "b"), call(2500, 2, "a")}, "b", 0},
		{"taken back, and ended by who has it", claims("a", "b", "a"), false, []Event{call(2100, 1, "a"), call(2400, 2, "b")}, "a", 0},
		{"called by one that claims it later yet", claims("a", "b"), false, []Event{call(2100, 1, "a"), call(2200, 2, "b")}, "a", 1},
		{"ended by one that never had it", claims("a"), false, []Event{call(2100, 1, "a")}, "b", 1},
		{"only the last claim is known, of who ended it", claims("b"), true, []Event{call(2400, 1, "b"), call(2500, 2, "a")}, "b", 0},
		{"only the last claim is known, of who called it last", claims("a"), true, []Event{call(2400, 1, "b"), call(2500, 2, "a")}, "b", 1},
		{"only the last claim is known, of a third", claims("c"), true, []Event{call(2400, 1, "b"), call(2500, 2, "a")}, "b", 0},
		{"only another bucket was taken over", append(claims("a"), other(claims("a", "b"))[1]), false, []Event{call(2100, 1, "a"), call(2700, 2, "b")}, "b", 1},
		{"divided after another had it, and ended by who took it then", divided(claims("a")), false, []Event{call(2700, 1, "b")}, "b", 0},
		{"the same, and called before by the other", divided(claims("a")), false, []Event{call(2100, 1, "a"), call(2700, 2, "b")}, "b", 0},
		{"divided, and ended by who had it before", divided(claims("a")), false, []Event{call(2700, 1, "a")}, "a", 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			events := slices.Concat([]Event{told(0), inserted(Committed), {Kind: Fault, What: "leases lapse", At: 2300 * time.Millisecond}}, tt.calls)
			slices.SortStableFunc(events, func(a, b Event) int { return int(a.At - b.At) })
			report := Judge(rules, events, evidence.Tables{Ended: []evidence.Ended{done(tt.ended)}, Runs: booked(1), Claims: tt.claims, AllClaims: !tt.last})
			found := 0
			for _, f := range report.Findings {
				if f.Rule == "fenced" {
					found++
				}
			}
			if found != tt.want {
				t.Errorf("%v; want %d that is fenced", report.Findings, tt.want)
			}
		})
	}
}

// A worker that a fault holds up just before a call makes it when another has called the row under a later claim. Without a fault, or
// under a claim of its own, it must not.
func TestACallIsRepeatedByAWorkerThatWasHeldUp(t *testing.T) {
	at := func(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
	claim := func(s float64, worker string, token uint64) evidence.Claim {
		return evidence.Claim{Slot: noon.Add(2 * time.Second), Buckets: 1, Token: token, Worker: worker, At: noon.Add(at(s))}
	}
	frozen := func(worker string, from, to float64) Event {
		return Event{Kind: Fault, What: "freeze", Worker: worker, At: at(from), Took: at(to - from)}
	}
	for _, tt := range []struct {
		name   string
		fault  Event // a calls it at 2.4 s, and b at 2.6 s
		claims []evidence.Claim
		want   bool
	}{
		{"held up from before the first call to the second", frozen("b", 2.1, 2.7), []evidence.Claim{claim(2, "b", 1), claim(2.3, "a", 2)}, false},
		{"another was", frozen("c", 2.1, 2.7), []evidence.Claim{claim(2, "b", 1), claim(2.3, "a", 2)}, true},
		{"held up after the first call", frozen("b", 2.5, 2.7), []evidence.Claim{claim(2, "b", 1), claim(2.3, "a", 2)}, true},
		{"held up, and over before the second", frozen("b", 2.1, 2.5), []evidence.Claim{claim(2, "b", 1), claim(2.3, "a", 2)}, true},
		{"it had claimed the bucket again", frozen("b", 2.1, 2.7), []evidence.Claim{claim(2, "b", 1), claim(2.3, "a", 2), claim(2.5, "b", 3)}, true},
		{"it claimed the bucket again later", frozen("b", 2.1, 2.7), []evidence.Claim{claim(2, "b", 1), claim(2.3, "a", 2), claim(3, "b", 3)}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			events := []Event{told(0), inserted(Committed), tt.fault, calledAt(at(2.4), 1, "a"), calledAt(at(2.6), 2, "b")}
			slices.SortStableFunc(events, func(a, b Event) int { return int(a.At - b.At) })
			report := Judge(rules, events, evidence.Tables{Ended: []evidence.Ended{done("a")}, Runs: booked(1), Claims: tt.claims, AllClaims: true})
			found := slices.ContainsFunc(report.Findings, func(f Finding) bool { return f.Rule == "twice" })
			if found != tt.want || report.Twice != 1 {
				t.Errorf("found %v, %d repeated; want one: %t", report.Findings, report.Twice, tt.want)
			}
		})
	}
}

// A machine that stands still costs leases, and time; what was not in flight then must be right all the same.
func TestWhatHappensWhileTheMachineStandsStillIsNoBrokenPromise(t *testing.T) {
	at := func(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
	asked := rules
	asked.Lease = time.Second
	still := func(from, to float64) Event { return Event{Kind: Stall, At: at(to), Took: at(to - from)} }
	twice := func(first, again float64) []Event {
		return []Event{calledAt(at(first), 1, "a"), calledAt(at(again), 2, "a")}
	}
	once := func(s float64) []Event { return []Event{calledAt(at(s), 1, "a")} }
	for _, tt := range []struct {
		name   string
		stalls []Event
		calls  []Event
		want   []string
		stood  float64
	}{
		{"called again after it", []Event{still(2.2, 3.4)}, twice(2.1, 3.5), nil, 1.2},
		{"called within a lease of it, and again", []Event{still(2.2, 3.4)}, twice(4.3, 4.9), nil, 1.2},
		{"called later than that, and again", []Event{still(2.2, 3.4)}, twice(4.5, 4.9), []string{"twice"}, 1.2},
		{"called twice before it", []Event{still(3.2, 4.4)}, twice(2.1, 3), []string{"twice"}, 1.2},
		{"late by less", []Event{still(2.2, 8.4)}, once(13), nil, 6.2},
		{"late by more", []Event{still(2.2, 8.4)}, once(13.5), []string{"late"}, 6.2},
		{"two who saw it count once", []Event{still(2.2, 8.4), still(2.4, 8.5), still(3, 5)}, once(13.4), []string{"late"}, 6.3},
	} {
		t.Run(tt.name, func(t *testing.T) {
			events := slices.Concat([]Event{told(0), inserted(Committed)}, tt.stalls, tt.calls)
			slices.SortStableFunc(events, func(a, b Event) int { return int(a.At - b.At) })
			report := Judge(asked, events, evidence.Tables{Ended: []evidence.Ended{done("a")}, Runs: booked(1)})
			var found []string
			for _, f := range report.Findings {
				found = append(found, f.Rule)
			}
			if !slices.Equal(found, tt.want) || report.StoodStill.Round(time.Millisecond) != at(tt.stood) || len(report.Faults) > 0 {
				t.Errorf("%v, %s, faults %v; want rules %q", report.Findings, report.StoodStill, report.Faults, tt.want)
			}
		})
	}
}

func TestAnEffectThatIsThereTwiceOrNotAtAllIsFound(t *testing.T) {
	tx := rules
	tx.Tx = map[string]bool{"check": true}
	for n, want := range []int{1, 0, 1} {
		tables := evidence.Tables{Ended: []evidence.Ended{done("a")}, Runs: booked(1), Effects: slices.Repeat([]evidence.Effect{{ID: 1}}, n)}
		report := Judge(tx, []Event{told(0), inserted(Committed), calledAt(2100*time.Millisecond, 1, "a")}, tables)
		if len(report.Findings) != want {
			t.Errorf("%d effects: %v; want %d findings", n, report.Findings, want)
		}
	}
}

// The server may refuse what a TxFunc sends as often as the guard allows: then it ends as failed, without an effect, and
// not otherwise.
func TestATxFunctionEndsAsFailedWhereAllItsTriesDid(t *testing.T) {
	tx := rules
	tx.Tx = map[string]bool{"check": true}
	tried := func(number int64, errors int, failed bool) []Event {
		call := calledAt(time.Duration(2000+100*number)*time.Millisecond, number, "a")
		call.Errors, call.Revision = errors, 7+uint64(errors)
		answer := call
		answer.Kind, answer.Failed, answer.At = Answer, failed, call.At+time.Millisecond
		return []Event{call, answer}
	}
	for _, tt := range []struct {
		name    string
		second  bool // the second try failed, too
		outcome string
		effects int
		want    []string
	}{
		{"both failed", true, "failed", 0, nil},
		{"both failed, and it is done", true, "done", 1, []string{"outcome"}},
		{"both failed, with an effect", true, "failed", 1, []string{"effect"}},
		{"the second did not", false, "failed", 0, []string{"outcome"}},
		{"the second did not, and it is done", false, "done", 1, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			events := slices.Concat([]Event{told(0), inserted(Committed)}, tried(1, 0, true), tried(2, 1, tt.second))
			ended := evidence.Ended{ID: 1, Outcome: tt.outcome, Slot: noon.Add(2 * time.Second), Worker: "a", Revision: 8}
			report := Judge(tx, events, evidence.Tables{Ended: []evidence.Ended{ended}, Effects: slices.Repeat([]evidence.Effect{{ID: 1}}, tt.effects),
				Runs: []evidence.Run{{Slot: ended.Slot, Buckets: 1, ByOutcome: map[string]int{tt.outcome: 1, "moved": 1}}}})
			var found []string
			for _, f := range report.Findings {
				if f.Rule == "outcome" || f.Rule == "effect" {
					found = append(found, f.Rule)
				}
			}
			if !slices.Equal(found, tt.want) {
				t.Errorf("%v; want %q", report.Findings, tt.want)
			}
		})
	}
}

func TestMoreThanABatchInFlightIsFound(t *testing.T) {
	for n, want := range []int{0, 0, 0, 1, 1} {
		events := []Event{told(0), {Kind: Fault, What: "kill", At: 2500 * time.Millisecond}}
		tables := evidence.Tables{Runs: booked(n)}
		for id := range int64(n) {
			first, again := calledAt(2100*time.Millisecond, 2*id+1, "a"), calledAt(3*time.Second, 2*id+2, "a")
			insert, end := inserted(Committed), done("a")
			first.ID, again.ID, insert.ID, end.ID = id+1, id+1, id+1, id+1
			events = append(events, insert, first, again)
			tables.Ended = append(tables.Ended, end)
		}
		slices.SortStableFunc(events, func(a, b Event) int { return int(a.At - b.At) })
		if report := Judge(rules, events, tables); len(report.Findings) != want || report.Twice != n {
			t.Errorf("%d calls repeated: %v, %d counted; want %d findings", n, report.Findings, report.Twice, want)
		}
	}
}

func TestExpiriesAreKept(t *testing.T) {
	at := func(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
	due := noon.Add(1500 * time.Millisecond)
	asked := inserted(Committed)
	asked.Expires = time.Second
	call := func(s float64, expires *time.Time) Event {
		c := calledAt(at(s), 1, "a")
		c.Due, c.ExpiresAt = due, expires
		return c
	}
	expiry := due.Add(time.Second)
	ended := func(outcome string, after float64, started bool, expires *time.Time) evidence.Tables {
		e := done("a")
		e.Outcome, e.Due, e.At, e.Started, e.ExpiresAt = outcome, due, noon.Add(at(after)), started, expires
		return evidence.Tables{Ended: []evidence.Ended{e}, Runs: []evidence.Run{{Slot: noon.Add(2 * time.Second), Buckets: 1, ByOutcome: map[string]int{outcome: 1}}}}
	}
	for _, tt := range []struct {
		name   string
		insert Event
		events []Event
		tables evidence.Tables
		want   bool
	}{
		{"expired in time", asked, nil, ended("expired", 2.5, false, &expiry), false},
		{"done in time", asked, []Event{call(2.1, &expiry)}, ended("done", 2.2, true, &expiry), false},
		{"called after it expired", asked, []Event{call(4, &expiry)}, ended("done", 4.1, true, &expiry), true},
		{"a frozen worker", asked, []Event{{Kind: Fault, What: "freeze", Worker: "a", At: at(2.4), Took: at(1.5)}, call(4, &expiry)}, ended("done", 4.1, true, &expiry), false},
		{"ended before it expired", asked, nil, ended("expired", 2.4, false, &expiry), true},
		{"ended as expired with a call", asked, nil, ended("expired", 2.5, true, &expiry), true},
		{"nobody asked for it", inserted(Committed), nil, ended("expired", 2.5, false, nil), true},
		{"nobody asked for an expiry", inserted(Committed), []Event{call(2.1, &expiry)}, ended("done", 2.2, true, &expiry), true},
		{"its expiry is gone", asked, []Event{call(2.1, &expiry)}, ended("done", 2.2, true, nil), true},
		{"its expiry did not move with it", asked, []Event{call(2.1, &due)}, ended("done", 2.2, true, &expiry), true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			report := Judge(rules, append([]Event{told(0), tt.insert}, tt.events...), tt.tables)
			found := slices.ContainsFunc(report.Findings, func(f Finding) bool { return f.Rule == "expired" })
			others := slices.ContainsFunc(report.Findings, func(f Finding) bool { return f.Rule != "expired" })
			if found != tt.want || others {
				t.Errorf("found %v; want one: %v", report.Findings, tt.want)
			}
		})
	}
}
