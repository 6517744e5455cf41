package checker

import (
	"cmp"
	"slices"
	"testing"
	"time"

	"prescient/scripts/chaos/checker/evidence"
)

// Of a call whose answer was lost nothing is left: under skip its run then ends as missed. The checker takes that for sound where a
// fault, or somebody else's lock, came between, and the bucket had been claimed anew; and only there.
func TestARunIsMissedThoughItWasCalledWhereItsAnswerWasLost(t *testing.T) {
	at := func(seconds float64) time.Duration { return time.Duration(seconds * float64(time.Second)) }
	fault := func(worker string, from, to float64) Event {
		return Event{Kind: Fault, What: "broken", Worker: worker, At: at(from), Took: at(to - from)}
	}
	update := func(from, to float64) Event {
		return Event{Kind: Plan, At: at(to), Took: at(to - from), Key: "s", Result: RolledBack, Change: &Change{Do: "update", Definition: &definition, Version: 2}}
	}
	claim := func(seconds float64, worker string, token uint64) evidence.Claim {
		return evidence.Claim{Slot: after(4), Buckets: 1, Token: token, Worker: worker, At: after(seconds)}
	}
	byTwo := []evidence.Claim{claim(4, "a", 1), claim(6.5, "b", 2)}
	for _, tt := range []struct {
		name   string
		calls  []float64 // by a, of the run of second 4, which b ends at second 7
		ended  string    // or another
		events []Event
		claims []evidence.Claim
		errors int
		want   []string
	}{
		{name: "it was never called", claims: byTwo},
		{name: "it was called", calls: []float64{4.1}, claims: byTwo, want: []string{"missed"}},
		{name: "by one that was killed", calls: []float64{4.1}, events: []Event{fault("a", 4.3, 4.3)}, claims: byTwo},
		{name: "by one that was frozen", calls: []float64{4.1}, events: []Event{fault("a", 4, 6)}, claims: byTwo},
		{name: "another was killed", calls: []float64{4.1}, events: []Event{fault("c", 4.3, 4.3)}, claims: byTwo, want: []string{"missed"}},
		{name: "it was killed after that", calls: []float64{4.1}, events: []Event{fault("a", 9, 9)}, claims: byTwo, want: []string{"missed"}},
		{name: "a fault of it was over before", calls: []float64{4.1}, events: []Event{fault("a", 3, 4)}, claims: byTwo, want: []string{"missed"}},
		{name: "nobody claimed the bucket after it", calls: []float64{4.1}, events: []Event{fault("a", 4.3, 4.3)}, claims: []evidence.Claim{claim(3.9, "b", 1), claim(4, "a", 2)},
			want: []string{"fenced", "missed"}},
		{name: "it ended it itself", calls: []float64{4.1}, ended: "a", events: []Event{fault("a", 4.3, 4.3)}, claims: byTwo, want: []string{"missed"}},
		{name: "it ended it itself, under a later claim", calls: []float64{4.1}, ended: "a", events: []Event{fault("a", 4.3, 4.3)},
			claims: []evidence.Claim{claim(4, "a", 1), claim(6, "a", 2)}},
		{name: "an app had it locked", calls: []float64{4.1}, events: []Event{update(3.9, 6)}, claims: byTwo},
		{name: "an app had it locked before that", calls: []float64{4.1}, events: []Event{update(3, 4)}, claims: byTwo, want: []string{"missed"}},
		{name: "an error was committed", calls: []float64{4.1}, events: []Event{fault("a", 4.3, 4.3)}, claims: byTwo, errors: 1, want: []string{"missed"}},
		{name: "one of two calls had no fault", calls: []float64{4.1, 5.5}, events: []Event{fault("a", 4.3, 4.3)}, claims: byTwo, want: []string{"missed"}},
		{name: "it was called after that", calls: []float64{7.8}, claims: byTwo, want: []string{"missed"}},
		{name: "it was called after that by one that had been frozen", calls: []float64{7.8}, events: []Event{fault("a", 4, 8.9)}, claims: byTwo},
		{name: "it was called after that under a claim of its own", calls: []float64{7.8}, events: []Event{fault("a", 4, 8.9)}, claims: append(byTwo, claim(7.5, "a", 3)),
			want: []string{"missed"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := runs(*with(definition, func(d *Definition) { d.CatchUp, d.Within = "skip", 2*time.Second }))
			of4 := func(j evidence.ScheduleJob) bool { return j.Exec != timerExec && j.Due.Equal(after(4)) }
			j := &w.tables.Schedules.Jobs[slices.IndexFunc(w.tables.Schedules.Jobs, of4)]
			j.Outcome, j.At, j.Worker, j.Errors = "missed", after(7), cmp.Or(tt.ended, "b"), tt.errors
			w.events = slices.DeleteFunc(w.events, func(e Event) bool { return e.Tag == tagOf(after(4)) })
			for _, s := range tt.calls {
				w.called("1", 4, s, 4)
			}
			w.events = append(append(w.events, told(at(7.2))), tt.events...)
			w.tables.Claims, w.tables.AllClaims = tt.claims, true
			if found := w.judged(t); !slices.Equal(found, tt.want) {
				t.Errorf("found %q; want %q", found, tt.want)
			}
		})
	}
}

// The run of an occurrence is there from the call of the timer before it. One that the definition before has inserted does not say when the timer
// passed over those before it.
func TestARunOfTheDefinitionBeforeDoesNotSayWhenOthersWereSkipped(t *testing.T) {
	skip := func(crontab, payload string) *Definition {
		return with(definition, func(d *Definition) {
			d.Topic, d.Crontabs, d.CatchUp, d.Within, d.Payload = "", []string{crontab}, "skip", 2*time.Second, payload
		})
	}
	for name, tt := range map[string]struct {
		inserted float64 // the run after the one that both have
		want     []string
	}{
		"the timer came too late":         {8.6, nil},
		"it came when it could have sent": {5.2, []string{"unfired"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := new(world)
			w.change(0.6, "create", 1, 4, skip("*/4 * * * * *", "1"))
			w.ran("1", 4)
			w.job("check", 8, 4.1, "done", 8.2) // of both
			w.called("2", 8, 8.1, 8)
			w.change(4.5, "update", 2, 6, skip("*/2 * * * * *", "2"))
			w.job(timerExec, 8, 4.1, superseded, 4.48)
			w.job("check", 10, tt.inserted, "", 0)
			w.job(timerExec, 10, 8.6, "", 0)
			w.row(2, true, 1)
			if found := w.judged(t); !slices.Equal(found, tt.want) {
				t.Errorf("found %q; want %q", found, tt.want)
			}
		})
	}
}

// An agent may die between the start of a long run and the note of its call. Whoever takes the run over ends it where its schedule has changed.
func TestARunThatWasStartedAndNotCalledIsSupersededByAChangeAlone(t *testing.T) {
	for name, changed := range map[string]float64{"changed after its start": 8.3, "never changed": 0} {
		t.Run(name, func(t *testing.T) {
			w := runs(definition)
			w.events = slices.DeleteFunc(w.events, func(e Event) bool { return e.Tag == tagOf(after(8)) })
			j := &w.tables.Schedules.Jobs[slices.IndexFunc(w.tables.Schedules.Jobs, func(j evidence.ScheduleJob) bool { return j.Exec != timerExec && j.Due.Equal(after(8)) })]
			j.Outcome, j.At = superseded, after(8.95)
			w.tables.Starts = []evidence.Start{{Schedule: "s", Tag: tagOf(after(8)), Token: 1, Agent: "a", First: after(8.1), At: after(8.1)}}
			if changed > 0 {
				w.change(changed, "update", 2, 10, with(definition, func(d *Definition) { d.Topic, d.Payload = "", "2" }))
				w.row(2, true, 0)
			}
			if found := w.judged(t); slices.Contains(found, "outcome") != (changed == 0) {
				t.Errorf("found %q", found)
			}
		})
	}
}

// What comes due once the workers were told to stop waits for nobody, however long the tables are read after that.
func TestWhatComesDueOnceTheWorkersStopIsNotLate(t *testing.T) {
	for stopped, late := range map[time.Duration]bool{0: true, 9 * time.Second: true, 4 * time.Second: false} {
		w := new(world)
		w.change(0.6, "create", 1, 2, &definition)
		w.row(1, true, 0)
		w.job(timerExec, 2, 0.6, "", 0)
		w.events = append(w.events, told(4*time.Second), told(9*time.Second))
		by := rules
		by.Stopped = stopped
		if found := w.judgedBy(t, by); slices.Contains(found, "waits") != late {
			t.Errorf("stopped after %s: %q", stopped, found)
		}
	}
}
