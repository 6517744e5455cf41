package checker

import (
	"slices"
	"testing"
	"time"

	"prescient/scripts/chaos/checker/evidence"
)

// history is what a test says of the check of a long run, which is due at noon and 1.5 s; leases last 2 s.
type history struct {
	events []Event
	calls  int64
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// call adds a call that got a checkpoint, with the steps that it began, at the times given, and saved at once, and its answer.
func (h *history) call(worker string, token uint64, checkpoint int, answer string, at ...float64) *history {
	h.calls++
	e := Event{Kind: Call, At: seconds(at[0]), N: h.calls, ID: 1, Key: "k", Exec: "long", Worker: worker, Token: token, Step: checkpoint,
		Revision: uint64(h.calls), Slot: noon.Add(2 * time.Second)}
	h.events = append(h.events, e)
	for _, s := range at {
		e.Kind, e.At = Step, seconds(s)+time.Millisecond
		h.events = append(h.events, e)
		e.Step++
		e.Kind, e.At = Saved, seconds(s)+2*time.Millisecond
		h.events = append(h.events, e)
	}
	if answer != "" {
		e.Kind, e.At, e.Failed = Answer, seconds(at[len(at)-1])+3*time.Millisecond, answer == "failed"
		h.events = append(h.events, e)
	}
	return h
}

// goesOn adds steps that the first call, of a, began, and saved nothing of.
func (h *history) goesOn(at ...float64) *history {
	for _, s := range at {
		h.events = append(h.events, Event{Kind: Step, At: seconds(s), N: 1, ID: 1, Key: "k", Exec: "long", Worker: "a", Token: 10, Step: 3})
	}
	return h
}

func (h *history) and(events ...Event) *history {
	h.events = append(h.events, events...)
	return h
}

// unsaved takes away what the last call said of its last checkpoint.
func (h *history) unsaved() *history {
	h.events = h.events[:len(h.events)-1]
	return h
}

// longDone is a check that ended, with the books of its slot.
func longDone(worker, outcome string) evidence.Tables {
	return evidence.Tables{Ended: []evidence.Ended{{ID: 1, Outcome: outcome, Slot: noon.Add(2 * time.Second), Worker: worker, Revision: 9, Due: noon.Add(1500 * time.Millisecond)}},
		Runs: []evidence.Run{{Slot: noon.Add(2 * time.Second), Buckets: 1, ByOutcome: map[string]int{outcome: 1}}}}
}

func TestEachRuleOfLongRunsIsHeld(t *testing.T) {
	asked := rules
	asked.Lease, asked.Long, asked.Outcomes = 2*time.Second, map[string]bool{"long": true}, map[string]string{"long": "done"}
	asked.Callers = map[string]func(worker string) bool{"long": func(worker string) bool { return worker != "outsider" }}
	fault := func(what, worker string, from, to float64) Event {
		return Event{Kind: Fault, What: what, Worker: worker, At: seconds(from), Took: seconds(to - from)}
	}
	began := func() *history { return new(history).call("a", 10, 0, "", 2.1, 2.5, 2.9) }
	went := func() *history { return began().call("b", 20, 3, "done", 6, 6.5) } // a died
	kill := fault(EndedWorker, "a", 3, 3.3)
	cancel := Event{Kind: Cancel, ID: 1, Key: "k", Exec: "long", Result: Committed, At: seconds(2.6)}
	move := Event{Kind: Reschedule, ID: 1, Key: "k", Exec: "long", Result: Committed, Due: noon.Add(5 * time.Second), At: seconds(3)}
	left := func(t evidence.Tables, r evidence.LongRun) evidence.Tables {
		key := jobKeyOf(asked.Entity, "k", "long", "")
		if r.Key == nil {
			r.Key = key[:]
		}
		t.LongRuns = append(t.LongRuns, r)
		return t
	}
	two := longDone("b", "done")
	two.Ended = append(two.Ended, two.Ended[0])
	two.Runs[0].ByOutcome["done"]++
	unbooked := longDone("b", "done")
	unbooked.Ended[0].At, unbooked.Runs = noon.Add(6500*time.Millisecond), nil
	for _, tt := range []struct {
		name    string
		history *history
		tables  evidence.Tables
		want    []string
	}{
		{"one call", new(history).call("a", 10, 0, "done", 2.1, 2.5, 2.9), longDone("a", "done"), nil},
		{"by one that does not serve its pool", new(history).call("outsider", 10, 0, "done", 2.1, 2.5, 2.9), longDone("outsider", "done"), []string{"pool"}},
		{"taken over after a death", went().and(kill), longDone("b", "done"), nil},
		{"a step after another has begun", went().goesOn(6.8).and(kill), longDone("b", "done"), []string{"at-once"}},
		{"within the margin", went().goesOn(6.4).and(kill), longDone("b", "done"), nil},
		{"of a worker that was frozen", went().goesOn(6.8).and(fault("SIGSTOP, SIGCONT", "a", 3, 6.8)), longDone("b", "done"), nil},
		{"frozen, and woken long before", went().goesOn(6.8).and(fault("SIGSTOP, SIGCONT", "a", 3, 5.9)), longDone("b", "done"), []string{"at-once"}},
		{"another was frozen", went().goesOn(6.8).and(fault("SIGSTOP, SIGCONT", "b", 3, 6.8)), longDone("b", "done"), []string{"at-once"}},
		{"it was cut off, and has a clock of its own", went().goesOn(6.8).and(fault("split", "a", 3, 7)), longDone("b", "done"), []string{"at-once"}},
		{"frozen, and a second step", went().goesOn(6.2, 6.3).and(fault("SIGSTOP, SIGCONT", "a", 3, 6.8)), longDone("b", "done"), []string{"at-once"}},
		{"two under one token", began().call("b", 10, 3, "done", 6, 6.5).and(kill), longDone("b", "done"), []string{"at-once"}},
		{"ended by the one before", went().and(kill), longDone("a", "done"), []string{"fenced"}},
		{"ended as done by one that failed", new(history).call("a", 10, 0, "failed", 2.1), longDone("a", "done"), []string{"fenced"}},
		{"ended twice", went().and(kill), two, []string{"ended-twice"}},
		{"in no books", went().and(kill), unbooked, []string{"books"}},
		{"in no books, which stayed on a shard that was divided", went().and(kill, fault(Divided, "", 3, 4)), unbooked, nil},
		{"in no books, and ended before that", went().and(kill, fault(Divided, "", 7, 8)), unbooked, []string{"books"}},
		{"in no books, and begun after that", went().and(kill, fault(Divided, "", 0.1, 0.4)), unbooked, []string{"books"}},
		{"a checkpoint that is lost", began().call("b", 20, 2, "done", 6, 6.5).and(kill), longDone("b", "done"), []string{"checkpoint"}},
		{"one whose answer was lost is", began().unsaved().call("b", 20, 2, "done", 6, 6.5).and(kill), longDone("b", "done"), nil},
		{"one whose answer was lost is kept", began().unsaved().call("b", 20, 3, "done", 6, 6.5).and(kill), longDone("b", "done"), nil},
		{"one that nobody saved", began().call("b", 20, 4, "done", 6, 6.5).and(kill), longDone("b", "done"), []string{"checkpoint"}},
		{"begun anew without a move", began().call("b", 20, 0, "done", 6, 6.5).and(kill), longDone("b", "done"), []string{"checkpoint"}},
		{"begun anew after a move", began().call("b", 20, 0, "done", 6, 6.5).and(kill, move), longDone("b", "done"), nil},
		{"cancelled in mid-run", began().and(cancel), longDone("a", "cancelled"), nil},
		{"cancelled, and its answer counts", new(history).call("a", 10, 0, "done", 2.1, 2.5, 2.9).and(cancel), longDone("a", "done"), []string{"cancelled"}},
		{"cancelled, and it goes on", began().goesOn(5.3).and(cancel), longDone("a", "cancelled"), []string{"cancelled"}},
		{"a run without a check", went().and(kill), left(longDone("b", "done"), evidence.LongRun{Agent: "b"}), []string{"stuck"}},
		{"a run that has ended", went().and(kill), left(longDone("b", "done"), evidence.LongRun{Ended: true}), nil},
		{"a run whose check the app ended", began().and(cancel), left(longDone("a", "cancelled"), evidence.LongRun{Agent: "a"}), nil},
		{"crashed for no reason", went(), longDone("b", "crashed"), []string{"outcome"}},
		{"crashed after deaths", went().and(kill), longDone("b", "crashed"), nil},
		{"failed, as often as it may", new(history).call("a", 10, 0, "failed", 2.1).and(kill), longDone("a", "failed"), []string{"outcome"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			insert := inserted(Committed)
			insert.Exec = "long"
			events := append([]Event{told(0), insert}, tt.history.events...)
			slices.SortStableFunc(events, func(a, b Event) int { return int(a.At - b.At) })
			report := Judge(asked, events, tt.tables)
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
