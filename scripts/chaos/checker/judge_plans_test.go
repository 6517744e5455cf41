package checker

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"prescient/scripts/chaos/checker/evidence"
)

// world is a schedule that fires at each even second from noon on, as an app and the tables know it after nine seconds.
type world struct {
	events []Event
	tables evidence.Tables
}

func after(seconds float64) time.Time { return noon.Add(time.Duration(seconds * float64(time.Second))) }

var definition = Definition{Crontabs: []string{"*/2 * * * * *"}, Topic: "t", CatchUp: "once", Within: 2 * time.Second, Payload: "1"}

// change adds what the app did at a moment, after which the timer waits for a second of the minute; for none where that is 0.
func (w *world) change(at float64, do string, version uint64, first float64, d *Definition) *Event {
	c := &Change{Do: do, Version: version, Definition: d, CreatedAt: after(0.5), UpdatedAt: after(at - 0.02)}
	if first > 0 {
		c.First = after(first)
	}
	w.events = append(w.events, Event{Kind: Plan, At: time.Duration(at * float64(time.Second)), Took: 100 * time.Millisecond, Key: "s", Result: Committed, Change: c})
	return &w.events[len(w.events)-1]
}

// sent adds events that were sent in their slots.
func (w *world) sent(payload string, seconds ...float64) {
	for _, s := range seconds {
		w.sentAt(payload, s, s+0.1)
	}
}

func (w *world) sentAt(payload string, due, at float64) {
	w.tables.Schedules.Outbox = append(w.tables.Schedules.Outbox, evidence.OutboxRow{ID: fmt.Sprintf("s-%d", after(due).Unix()), Key: "s", Due: after(due), InsertedAt: after(at), Payload: payload})
}

// job adds a row: a timer, or the run of a second.
func (w *world) job(exec string, due, inserted float64, outcome string, ended float64) *evidence.ScheduleJob {
	j := evidence.ScheduleJob{Schedule: "s", Exec: exec, InsertedAt: after(inserted), Ended: evidence.Ended{Due: after(due), At: after(ended),
		Outcome: outcome, Slot: after(due), Worker: "a", Revision: uint64(due)}}
	if exec != timerExec {
		j.Tag = tagOf(after(due))
	}
	w.tables.Schedules.Jobs = append(w.tables.Schedules.Jobs, j)
	return &w.tables.Schedules.Jobs[len(w.tables.Schedules.Jobs)-1]
}

// ran adds runs that were called in their slots, and done.
func (w *world) ran(payload string, seconds ...float64) {
	for _, s := range seconds {
		w.job("check", s, max(s-1.9, 0.5), "done", s+0.2)
		w.called(payload, s, s+0.1, uint64(s))
	}
}

func (w *world) called(payload string, due, at float64, revision uint64) {
	call := Event{Kind: Call, At: time.Duration(at * float64(time.Second)), N: int64(100*at) + int64(len(w.events)), Key: "s", Exec: "check", Tag: tagOf(after(due)), Worker: "a", Revision: revision,
		Slot: after(due), Due: after(due)}
	answer := call
	answer.Kind, answer.Payload, answer.At = Answer, payload, call.At+time.Millisecond
	w.events = append(w.events, call, answer)
}

func (w *world) row(version uint64, enabled bool, passed int) {
	w.tables.Schedules.Rows = []evidence.ScheduleRow{{ID: "s", Version: version, Enabled: enabled, PassedOver: passed}}
}

// sends is a schedule that sends events, and runs one that has a job_exec; of either the next occurrence is that of second 10.
func sends() *world {
	w := new(world)
	w.change(0.6, "create", 1, 2, &definition)
	w.row(1, true, 0)
	w.sent("1", 2, 4, 6, 8)
	w.job(timerExec, 10, 8.1, "", 0)
	return w
}

func runs(d Definition) *world {
	w := new(world)
	d.Topic = ""
	w.change(0.6, "create", 1, 2, &d)
	w.row(1, true, 0)
	w.ran("1", 2, 4, 6, 8)
	w.job("check", 10, 8.1, "", 0)
	w.job(timerExec, 10, 8.1, "", 0)
	return w
}

// judged are the rules that were broken.
func (w *world) judged(t *testing.T) (found []string) {
	t.Helper()
	w.events = append(w.events, told(9*time.Second))
	return w.judgedBy(t, rules)
}

func (w *world) judgedBy(t *testing.T, rules Rules) (found []string) {
	t.Helper()
	slot := func(due time.Time) evidence.Run {
		return evidence.Run{Slot: due, Buckets: 1, ByOutcome: make(map[string]int)}
	}
	for _, j := range w.tables.Schedules.Jobs { // books that balance
		if j.Outcome != "" && j.Outcome != "cancelled" && j.Outcome != superseded {
			r := slot(j.Slot)
			r.ByOutcome[j.Outcome]++
			w.tables.Runs = append(w.tables.Runs, r)
		}
	}
	events := append([]Event{told(0)}, w.events...)
	slices.SortStableFunc(events, func(a, b Event) int { return int(a.At - b.At) })
	report := Judge(rules, events, w.tables)
	for _, f := range report.Findings {
		t.Log(f)
		if !slices.Contains(found, f.Rule) && f.Rule != "books" {
			found = append(found, f.Rule)
		}
	}
	return found
}

func with(d Definition, edit func(d *Definition)) *Definition {
	edit(&d)
	return &d
}

func TestEventsFireAsTheirScheduleSays(t *testing.T) {
	skip := *with(definition, func(d *Definition) { d.CatchUp = "skip" })
	outage := func(policy string, passed int, fire func(w *world)) func(w *world) { // from second 3 to 8.5
		return func(w *world) {
			*w = world{}
			w.change(0.6, "create", 1, 2, with(definition, func(d *Definition) { d.CatchUp = policy }))
			w.row(1, true, passed)
			w.job(timerExec, 10, 8.1, "", 0)
			w.sent("1", 2)
			fire(w)
		}
	}
	for _, tt := range []struct {
		name string
		edit func(w *world)
		want []string
	}{
		{"all is well", func(*world) {}, nil},
		{"an event is gone", func(w *world) { w.tables.Schedules.Outbox = slices.Delete(w.tables.Schedules.Outbox, 1, 2) }, []string{"unfired", "passed-over"}},
		{"an event is there twice", func(w *world) { w.sent("1", 8) }, []string{"event-twice"}},
		{"two change places", func(w *world) {
			o := w.tables.Schedules.Outbox
			o[1], o[2] = o[2], o[1]
		}, []string{"order"}},
		{"an event of another second", func(w *world) { w.sentAt("1", 9, 9) }, []string{"unasked"}},
		{"an event of the occurrence that the timer waits for", func(w *world) { w.sentAt("1", 10, 10) }, []string{"unasked"}},
		{"before its slot", func(w *world) { w.tables.Schedules.Outbox[2].InsertedAt = after(5.999) }, []string{"early"}},
		{"late", func(w *world) { w.tables.Schedules.Outbox[0].InsertedAt = after(8) }, []string{"late"}},
		{"another payload", func(w *world) { w.tables.Schedules.Outbox[2].Payload = "2" }, []string{"payload"}},
		{"no timer", func(w *world) { w.tables.Schedules.Jobs = nil }, []string{"timer"}},
		{"two timers", func(w *world) { w.job(timerExec, 10, 8.1, "", 0) }, []string{"timer"}},
		{"a timer that waits for no occurrence", func(w *world) { w.tables.Schedules.Jobs[0].Due = after(9) }, []string{"timer"}},
		{"a timer that went too far", func(w *world) { w.sentAt("1", 10, 10); w.tables.Schedules.Jobs[0].Due = after(12) }, []string{"early"}},
		{"a timer that waits since long", func(w *world) {
			w.tables.Schedules.Jobs[0].Due = after(2)
			w.tables.Schedules.Outbox = nil
		}, []string{"waits"}},
		{"a timer that is ended by nobody", func(w *world) { w.job(timerExec, 4, 2, "crashed", 4) }, []string{"timer"}},
		{"the schedule is gone", func(w *world) { w.tables.Schedules.Rows = nil }, []string{"plan"}},
		{"a create that was rolled back", func(w *world) { w.events[0].Result = RolledBack }, []string{"plan", "timer"}},
		{"the same, and nothing of it is there", func(w *world) { *w = world{events: w.events}; w.events[0].Result = RolledBack }, nil},
		{"the same, and an event is", func(w *world) {
			*w = world{events: w.events}
			w.events[0].Result = RolledBack
			w.sent("1", 2)
		}, []string{"unasked"}},
		{"a create of which nobody knows, and it is there", func(w *world) { w.events[0].Result = Unknown }, nil},
		{"a create of which nobody knows, and it is not", func(w *world) { *w = world{events: w.events}; w.events[0].Result = Unknown }, nil},

		{"once: the earliest, and the rest passed over", outage("once", 1, func(w *world) { w.sentAt("1", 4, 9); w.sentAt("1", 8, 9) }), nil},
		{"once: the earliest is not there", outage("once", 1, func(w *world) { w.sentAt("1", 8, 9) }), []string{"unfired"}},
		{"once: one is passed over that was not late", outage("once", 1, func(w *world) { w.sentAt("1", 4, 9) }), []string{"unfired"}},
		{"once: nothing was counted", outage("once", 0, func(w *world) { w.sentAt("1", 4, 9); w.sentAt("1", 8, 9) }), []string{"passed-over"}},
		{"counted, and nothing passed over", outage("once", 1, func(w *world) { w.sent("1", 4, 6, 8) }), []string{"passed-over"}},
		{"skip: all that are late", outage("skip", 1, func(w *world) { w.sentAt("1", 8, 9) }), nil},
		{"skip: one that was not late", outage("skip", 1, func(w *world) { w.sentAt("1", 4, 4.1); w.sentAt("1", 8, 8.1) }), []string{"unfired"}},
		{"all", outage("all", 0, func(w *world) { w.sentAt("1", 4, 8.9); w.sentAt("1", 6, 8.9); w.sentAt("1", 8, 8.9) }), nil},
		{"all: one is not there", outage("all", 1, func(w *world) { w.sentAt("1", 4, 8.9); w.sentAt("1", 8, 8.9) }), []string{"unfired"}},

		{"a payload that was updated", func(w *world) {
			*w = *sends()
			w.change(5, "update", 2, 6, with(definition, func(d *Definition) { d.Payload = "2" }))
			w.row(2, true, 0)
			w.job(timerExec, 6, 4.1, superseded, 4.95)
			w.tables.Schedules.Outbox[2].Payload, w.tables.Schedules.Outbox[3].Payload = "2", "2"
		}, nil},
		{"a payload that is still the old one", func(w *world) {
			*w = *sends()
			w.change(5, "update", 2, 6, with(definition, func(d *Definition) { d.Payload = "2" }))
			w.row(2, true, 0)
			w.job(timerExec, 6, 4.1, superseded, 4.95)
			w.tables.Schedules.Outbox[3].Payload = "2"
		}, []string{"payload"}},
		{"an update that made the timer begin anew", func(w *world) {
			w.change(6.5, "update", 2, 8, with(skip, func(d *Definition) { d.Payload = "1" }))
			w.row(2, true, 0)
			w.job(timerExec, 6, 4.1, superseded, 6.45)
		}, []string{"timer", "unasked"}},
		{"another timeline", func(w *world) {
			w.change(5, "update", 2, 8, with(definition, func(d *Definition) { d.Crontabs = []string{"*/4 * * * * *"} }))
			w.row(2, true, 0)
			w.job(timerExec, 6, 4.1, superseded, 4.95)
			w.tables.Schedules.Outbox = slices.Delete(w.tables.Schedules.Outbox, 2, 3)
			w.tables.Schedules.Jobs[0].Due = after(12)
		}, nil},
		{"an event of the timeline before", func(w *world) {
			w.change(5, "update", 2, 8, with(definition, func(d *Definition) { d.Crontabs = []string{"*/4 * * * * *"} }))
			w.row(2, true, 0)
			w.job(timerExec, 6, 4.1, superseded, 4.95)
			w.tables.Schedules.Jobs[0].Due = after(12)
		}, []string{"unasked"}},
		{"deleted", func(w *world) {
			*w = world{events: w.events}
			w.change(5, "delete", 0, 0, nil)
			w.sent("1", 2, 4)
			w.job(timerExec, 6, 4.1, "cancelled", 4.95)
		}, nil},
		{"deleted, and sent after that", func(w *world) {
			*w = world{events: w.events}
			w.change(5, "delete", 0, 0, nil)
			w.sent("1", 2, 4, 6)
			w.job(timerExec, 6, 4.1, "cancelled", 4.95)
		}, []string{"unasked"}},
		{"paused, and resumed", func(w *world) {
			w.change(3, "pause", 2, 0, nil)
			w.change(7, "resume", 3, 8, nil)
			w.row(3, true, 0)
			w.job(timerExec, 4, 2.1, superseded, 2.95)
			w.tables.Schedules.Outbox = slices.Delete(w.tables.Schedules.Outbox, 1, 3)
		}, nil},
		{"paused, and sent all the same", func(w *world) {
			w.change(3, "pause", 2, 0, nil)
			w.change(7, "resume", 3, 8, nil)
			w.row(3, true, 0)
			w.job(timerExec, 4, 2.1, superseded, 2.95)
			w.tables.Schedules.Outbox = slices.Delete(w.tables.Schedules.Outbox, 1, 2)
		}, []string{"unasked"}},
		// Its timer was late, and waits for second 4 when it is paused after second 6.
		{"paused, which sends what was due", func(w *world) {
			w.change(7, "pause", 2, 0, nil)
			w.row(2, false, 0)
			w.tables.Schedules.Jobs, w.tables.Schedules.Outbox = nil, nil
			w.sent("1", 2)
			w.sentAt("1", 4, 6.99)
			w.sentAt("1", 6, 6.99)
			w.job(timerExec, 4, 2.1, superseded, 6.96)
		}, nil},
		{"paused, which sends less than was due", func(w *world) {
			w.change(7, "pause", 2, 0, nil)
			w.row(2, false, 0)
			w.tables.Schedules.Jobs, w.tables.Schedules.Outbox = nil, nil
			w.sent("1", 2)
			w.sentAt("1", 4, 6.99)
			w.job(timerExec, 4, 2.1, superseded, 6.96)
		}, []string{"unfired", "passed-over"}},
		{"paused, which sends what was not due", func(w *world) {
			w.change(7, "pause", 2, 0, nil)
			w.row(2, false, 0)
			w.tables.Schedules.Jobs, w.tables.Schedules.Outbox = nil, nil
			w.sent("1", 2, 4, 6)
			w.sentAt("1", 8, 6.99)
			w.job(timerExec, 8, 6.1, superseded, 6.96)
		}, []string{"early", "unasked"}},
		{"a timer of one that is paused", func(w *world) {
			w.change(8.5, "pause", 2, 0, nil)
			w.row(2, false, 0)
		}, []string{"timer"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := sends()
			if tt.edit(w); !slices.Equal(w.judged(t), tt.want) {
				t.Errorf("want rules %q", tt.want)
			}
		})
	}
}

func TestRunsAreAsTheirScheduleSays(t *testing.T) {
	drop := func(w *world, due float64) { // its row; the calls stay
		w.tables.Schedules.Jobs = slices.DeleteFunc(w.tables.Schedules.Jobs, func(j evidence.ScheduleJob) bool { return j.Exec != timerExec && j.Due.Equal(after(due)) })
	}
	never := func(w *world, due float64) {
		drop(w, due)
		w.events = slices.DeleteFunc(w.events, func(e Event) bool { return e.Tag == tagOf(after(due)) })
	}
	find := func(w *world, due float64) *evidence.ScheduleJob {
		i := slices.IndexFunc(w.tables.Schedules.Jobs, func(j evidence.ScheduleJob) bool { return j.Exec != timerExec && j.Due.Equal(after(due)) })
		return &w.tables.Schedules.Jobs[i]
	}
	for _, tt := range []struct {
		name   string
		policy string
		edit   func(w *world)
		want   []string
	}{
		{"all is well", "once", func(*world) {}, nil},
		{"a run is not there", "once", func(w *world) { never(w, 6) }, []string{"unfired", "passed-over"}},
		{"a run is not there, and was called", "once", func(w *world) { drop(w, 6) }, []string{"unfired", "passed-over", "unasked"}},
		{"that which the timer waits for is not there", "once", func(w *world) { never(w, 10) }, []string{"unfired", "passed-over"}},
		{"a run has ended twice", "once", func(w *world) { w.job("check", 6, 7, "done", 7.5) }, []string{"run-twice"}},
		{"a run has ended, and waits", "once", func(w *world) { w.job("check", 6, 7, "", 0) }, []string{"run-twice"}},
		{"a run is called again", "once", func(w *world) { w.called("1", 6, 7, 6) }, []string{"twice"}},
		{"before its slot", "once", func(w *world) { w.called("1", 10, 8.5, 10) }, []string{"early"}},
		{"another payload", "once", func(w *world) { drop(w, 8); never(w, 8); w.job("check", 8, 6.1, "done", 8.2); w.called("2", 8, 8.1, 8) }, []string{"payload"}},
		{"a run that nothing says", "once", func(w *world) { w.ran("1", 7) }, []string{"unasked"}},
		{"it ended as superseded, and nobody did that", "once", func(w *world) { never(w, 8); w.job("check", 8, 6.1, superseded, 7) }, []string{"outcome", "lost"}},
		{"it failed, by no report of its own", "once", func(w *world) { find(w, 8).Outcome = "failed" }, []string{"outcome"}},
		{"it missed, and is not to be skipped", "once", func(w *world) { never(w, 4); w.job("check", 4, 2.1, "missed", 7) }, []string{"missed"}},
		{"skip: missed", "skip", func(w *world) { never(w, 4); w.job("check", 4, 2.1, "missed", 7) }, nil},
		{"skip: missed too early", "skip", func(w *world) { never(w, 4); w.job("check", 4, 2.1, "missed", 5.9) }, []string{"missed"}},
		{"once: passed over behind one that was late", "once", func(w *world) { never(w, 6); find(w, 8).InsertedAt = after(8.9); w.row(1, true, 1) }, nil},
		{"once: passed over, and not late", "once", func(w *world) { never(w, 6); find(w, 8).InsertedAt = after(6.1); w.row(1, true, 1) }, []string{"unfired"}},
		{"all: passed over", "all", func(w *world) { never(w, 6); find(w, 8).InsertedAt = after(8.9); w.row(1, true, 1) }, []string{"unfired"}},

		{"an update while one is called", "once", func(w *world) { // at 6.15; the answer of 6 is dropped, and it is not run again
			w.change(6.15, "update", 2, 6, with(definition, func(d *Definition) { d.Topic, d.Payload = "", "2" }))
			w.row(2, true, 0)
			w.job(timerExec, 6, 4.1, superseded, 6.12)
			j := find(w, 6)
			j.Outcome, j.At = superseded, after(6.12)
			never(w, 8)
			w.ran("2", 8)
		}, nil},
		{"an update ended one that was passed over then", "once", func(w *world) { // that of 6
			*w = world{}
			w.change(0.6, "create", 1, 6, with(definition, func(d *Definition) { d.Topic, d.Crontabs = "", []string{"*/6 * * * * *"} }))
			w.change(3, "update", 2, 4, with(definition, func(d *Definition) { d.Topic, d.Payload = "", "2" }))
			w.row(2, true, 1)
			w.job(timerExec, 6, 0.5, superseded, 2.95)
			w.job("check", 6, 0.5, superseded, 2.95)
			w.ran("2", 4, 8)
			find(w, 8).InsertedAt = after(8)
			w.job("check", 10, 8.1, "", 0)
			w.job(timerExec, 10, 8.1, "", 0)
		}, nil},
		{"an update inserted one that was due, and a later one set anew when", "once", func(w *world) { // that of 4
			*w = world{}
			every := func(crontab, payload string) *Definition {
				return with(definition, func(d *Definition) { d.Topic, d.Crontabs, d.Payload = "", []string{crontab}, payload })
			}
			w.change(0.6, "create", 1, 2, every("*/2 * * * * *", "1"))
			w.change(4.05, "update", 2, 6, every("*/6 * * * * *", "2"))
			w.change(5, "update", 3, 6, every("*/6 * * * * *", "3"))
			w.row(3, true, 0)
			w.job(timerExec, 4, 2.1, superseded, 4.03)
			w.job(timerExec, 6, 4.03, superseded, 4.98)
			w.ran("1", 2)
			w.job("check", 4, 4.98, "done", 5.3)
			w.called("3", 4, 5.2, 4)
			w.ran("3", 6)
			find(w, 6).InsertedAt = after(4.98)
			w.job("check", 12, 6.1, "", 0)
			w.job(timerExec, 12, 6.1, "", 0)
		}, nil},
		{"deleted", "once", func(w *world) {
			w.change(8.95, "delete", 0, 0, nil)
			w.tables.Schedules.Rows = nil
			for i := range w.tables.Schedules.Jobs {
				if j := &w.tables.Schedules.Jobs[i]; j.Outcome == "" {
					j.Outcome, j.At = "cancelled", after(8.9)
				}
			}
		}, nil},
		{"deleted, and called after that", "once", func(w *world) {
			w.change(1.5, "delete", 0, 0, nil)
			w.tables.Schedules = evidence.Schedules{}
			w.job("check", 2, 0.5, "cancelled", 1.45)
			w.job(timerExec, 2, 0.5, "cancelled", 1.45)
			w.events = slices.DeleteFunc(w.events, func(e Event) bool { return e.Tag != "" })
			w.called("1", 2, 4, 2)
		}, []string{"unasked", "payload"}},
		{"paused while one waits for its next try", "once", func(w *world) {
			w.change(8.5, "pause", 2, 0, nil)
			w.row(2, false, 0)
			find(w, 8).Outcome = ""
			for i := range w.tables.Schedules.Jobs {
				if j := &w.tables.Schedules.Jobs[i]; j.Due.Equal(after(10)) {
					j.Outcome, j.At = superseded, after(8.45)
				}
			}
		}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := runs(*with(definition, func(d *Definition) { d.CatchUp = tt.policy }))
			if tt.edit(w); !slices.Equal(w.judged(t), tt.want) {
				t.Errorf("want rules %q", tt.want)
			}
		})
	}
}
