package checker

import (
	"cmp"
	"fmt"
	"slices"
	"testing"
	"time"

	"prescient/scripts/chaos/checker/evidence"
)

// occurrence is what a test says of the long run of one that is due at a second after noon: how it ended, and which calls were given it.
type occurrence struct {
	due     float64
	outcome string // empty while it is pending
	ended   float64
	calls   []taken
	by      string // who ended it; the last that had it, where this is empty
}

// taken is that an agent was given a run at a second, with a checkpoint, and began steps, which were saved at once. It answered with the
// last of them; where nobody told of the call, there is none.
type taken struct {
	agent  string
	at     float64
	from   int
	steps  []float64
	answer string // done, failed; empty for none
}

func given(agent string, at float64, from int, answer string, steps ...float64) taken {
	return taken{agent, at, from, steps, answer}
}

// finished is an occurrence that was done in its slot.
func finished(due float64) occurrence {
	return occurrence{due: due, outcome: "done", ended: due + 0.6, calls: []taken{given("a", due+0.1, 0, "done", due+0.1, due+0.5)}}
}

// happened adds an occurrence to a world, and what is there of it.
func (w *world) happened(o occurrence) {
	job := w.job("longrun", o.due, max(o.due-3.9, 0.5), o.outcome, o.ended)
	job.Tag = tagOf(after(o.due))
	for i, c := range o.calls {
		token := uint64(100*o.due) + uint64(10-i) // of two keys, or after a change, a later one may be lower
		job.Worker = cmp.Or(o.by, c.agent)
		w.tables.Starts = append(w.tables.Starts, evidence.Start{Schedule: "s", Tag: job.Tag, Token: token, Agent: c.agent, First: after(o.calls[0].at), At: after(c.at)})
		if c.answer == "" && len(c.steps) == 0 {
			continue
		}
		e := Event{Kind: Call, At: seconds(c.at) + time.Millisecond, N: int64(token), Key: "s", Exec: "longrun", Tag: job.Tag, Worker: c.agent, Token: token, Step: c.from,
			Slot: after(o.due), Due: after(o.due), Errors: i}
		w.events = append(w.events, e)
		for _, at := range c.steps {
			e.Kind, e.At = Step, seconds(at)+2*time.Millisecond
			w.events = append(w.events, e)
			e.Step++
			e.Kind, e.At = Saved, seconds(at)+3*time.Millisecond
			w.events = append(w.events, e)
		}
		if c.answer != "" {
			e.Kind, e.At, e.Failed, e.Payload = Answer, max(e.At, seconds(c.at))+4*time.Millisecond, c.answer == "failed", "1"
			w.events = append(w.events, e)
		}
	}
}

// Occurrences come each 4 s, with a tolerance of 0.4 s, a quota of 2 s, and leases of 2 s. The rest of the rules hold as for other runs.
func TestLongRunsOfAScheduleKeepApart(t *testing.T) {
	asked := rules
	asked.Lease, asked.Long, asked.Outcomes, asked.MaxLate = 2*time.Second, map[string]bool{"longrun": true}, map[string]string{"longrun": "done"}, 10*time.Second
	none := func(*Definition) {}
	policy := func(overlap string, quota time.Duration) func(*Definition) {
		return func(d *Definition) { d.Overlap, d.Quota = overlap, quota }
	}
	frozen := func(from, to float64) Event {
		return Event{Kind: Fault, What: "SIGSTOP, SIGCONT", Worker: "a", At: seconds(from), Took: seconds(to - from)}
	}
	ended := func(due float64, outcome string, at float64, calls ...taken) occurrence {
		return occurrence{due: due, outcome: outcome, ended: at, calls: calls}
	}
	first := finished(4)
	long := ended(8, "done", 13, given("a", 8.1, 0, "done", 8.1, 9, 10, 11, 12, 12.9)) // into the next one
	for _, tt := range []struct {
		name string
		edit func(*Definition)
		runs []occurrence // at 4, 8 and 12
		and  []Event
		want []string
	}{
		{"all is well", none, []occurrence{first, finished(8), finished(12)}, nil, nil},

		{"too soon, and it started", none, []occurrence{first, ended(8, "done", 8.9, given("a", 8.7, 0, "done", 8.7)), finished(12)}, nil, []string{"too-soon"}},
		{"within the tolerance", none, []occurrence{first, ended(8, "done", 8.9, given("a", 8.5, 0, "done", 8.5)), finished(12)}, nil, nil},
		{"too soon, and they run beside each other", policy("allow", 0), []occurrence{first, ended(8, "done", 8.9, given("a", 8.7, 0, "done", 8.7)), finished(12)}, nil, nil},
		{"ended as too_soon", none, []occurrence{first, ended(8, "done", 9.2, given("a", 8.9, 0, "done", 8.9)), ended(12, "too_soon", 12.1)}, nil, nil},
		{"ended as too_soon, and was not", none, []occurrence{first, finished(8), ended(12, "too_soon", 12.1)}, nil, []string{"too-soon"}},
		{"ended as too_soon, and may run beside", policy("allow", 0), []occurrence{first, ended(8, "done", 9.2, given("a", 8.9, 0, "done", 8.9)), ended(12, "too_soon", 12.1)}, nil,
			[]string{"too-soon"}},
		{"ended as too_soon, and had started", none, []occurrence{first, ended(8, "done", 9.2, given("a", 8.9, 0, "done", 8.9)),
			ended(12, "too_soon", 12.7, given("a", 12.6, 0, "", 12.6))}, nil, []string{"outcome"}},

		{"overlapped", policy("forbid", -1), []occurrence{first, long, ended(12, "overlapped", 12.1)}, nil, nil},
		{"overlapped, and nothing was under way", none, []occurrence{first, finished(8), ended(12, "overlapped", 12.1)}, nil, []string{"overlapped"}},
		{"overlapped, and may run beside", policy("allow", -1), []occurrence{first, long, ended(12, "overlapped", 12.1)}, nil, []string{"overlapped"}},
		{"overlapped, and may wait", policy("queue", -1), []occurrence{first, long, ended(12, "overlapped", 12.1)}, nil, []string{"overlapped"}},
		{"overlapped behind one that waits", policy("queue", -1), []occurrence{ended(4, "done", 13, given("a", 4.1, 0, "done", 4.1, 12.9)),
			ended(8, "done", 13.6, given("a", 13.1, 0, "done", 13.1)), ended(12, "overlapped", 12.1)}, nil, nil},
		{"two calls at once", policy("forbid", -1), []occurrence{first, long, ended(12, "done", 12.6, given("b", 12.1, 0, "done", 12.1))}, nil, []string{"at-once"}},
		{"two calls at once that may be", policy("allow", -1), []occurrence{first, long, ended(12, "done", 12.6, given("b", 12.1, 0, "done", 12.1))}, nil, nil},
		{"two calls at once of one run", policy("allow", -1), []occurrence{first, finished(8), ended(12, "done", 14.6, given("a", 12.1, 0, "", 12.1, 13, 14.1, 14.2),
			given("b", 13.1, 2, "done", 13.1, 14.5))}, []Event{{Kind: Fault, What: "split", Worker: "a", At: seconds(12), Took: 3 * time.Second}}, []string{"at-once", "checkpoint"}},

		{"quota", none, []occurrence{first, finished(8), ended(12, "quota", 14.1, given("a", 12.1, 0, "failed", 12.1, 13, 14))}, nil, nil},
		{"quota, and some was left", none, []occurrence{first, finished(8), ended(12, "quota", 13.1, given("a", 12.1, 0, "failed", 12.1, 13))}, nil, []string{"quota"}},
		{"quota, and it has none", policy("", -1), []occurrence{first, finished(8), ended(12, "quota", 14.1, given("a", 12.1, 0, "failed", 12.1))}, nil, []string{"quota"}},
		{"quota, and it goes on", none, []occurrence{first, finished(8), ended(12, "quota", 14.1, given("a", 12.1, 0, "failed", 12.1, 13, 14.7))}, nil, []string{"quota"}},
		{"quota, and it goes on since it was frozen", none, []occurrence{first, finished(8), ended(12, "quota", 14.1, given("a", 12.1, 0, "failed", 12.1, 13, 14.7))},
			[]Event{frozen(13.5, 14.6)}, nil},
		{"quota, and it never started", none, []occurrence{first, finished(8), ended(12, "quota", 14.1)}, nil, []string{"quota"}},
		{"quota of a definition that says so", policy("", time.Second), []occurrence{first, finished(8), ended(12, "quota", 13.1, given("a", 12.1, 0, "failed", 12.1))}, nil, nil},

		{"the next goes on from its checkpoint", none, []occurrence{first, ended(8, "quota", 10.1, given("a", 8.1, 0, "failed", 8.1, 9, 10)),
			ended(12, "done", 12.6, given("a", 12.1, 3, "done", 12.1))}, nil, nil},
		{"the next begins anew", none, []occurrence{first, ended(8, "quota", 10.1, given("a", 8.1, 0, "failed", 8.1, 9, 10)), finished(12)}, nil, []string{"checkpoint"}},
		{"the next goes on from one that was done", none, []occurrence{first, finished(8), ended(12, "done", 12.6, given("a", 12.1, 2, "done", 12.1))}, nil, []string{"checkpoint"}},
		{"the next goes on behind one that never started", policy("queue", 0), []occurrence{ended(4, "quota", 8.6, given("a", 6.6, 0, "failed", 6.6, 7)),
			ended(8, "too_soon", 8.7), ended(12, "done", 12.6, given("a", 12.1, 2, "done", 12.1))}, nil, nil},
		{"the next begins anew behind one that never started", policy("queue", 0), []occurrence{ended(4, "quota", 8.6, given("a", 6.6, 0, "failed", 6.6, 7)),
			ended(8, "too_soon", 8.7), finished(12)}, nil, []string{"checkpoint"}},
		{"the first goes on from a checkpoint", none, []occurrence{ended(4, "done", 4.6, given("a", 4.1, 2, "done", 4.1)), finished(8), finished(12)}, nil, []string{"checkpoint"}},
		{"its next call begins anew", none, []occurrence{first, finished(8), ended(12, "done", 14, given("a", 12.1, 0, "failed", 12.1), given("a", 13.1, 0, "done", 13.1))}, nil,
			[]string{"checkpoint"}},

		{"tried again", none, []occurrence{first, finished(8), ended(12, "done", 14, given("a", 12.1, 0, "failed", 12.1), given("a", 13.1, 1, "done", 13.1))}, nil, nil},
		{"tried again when the next was due", policy("", -1), []occurrence{first, ended(8, "done", 12.2, given("a", 8.1, 0, "failed", 8.1), given("a", 12, 1, "done", 12)),
			ended(12, "done", 12.9, given("a", 12.5, 0, "done", 12.5))}, nil, []string{"retry"}},
		{"failed, since the next was due", policy("", -1), []occurrence{first, ended(8, "failed", 11.2, given("a", 8.1, 0, "failed", 8.1, 11.1)),
			ended(12, "done", 12.6, given("a", 12.1, 2, "done", 12.1))}, nil, nil},
		{"failed, and might have been tried again", none, []occurrence{first, ended(8, "failed", 8.2, given("a", 8.1, 0, "failed", 8.1)),
			ended(12, "done", 12.6, given("a", 12.1, 1, "done", 12.1))}, nil, []string{"retry"}},
		{"failed as often as it may", policy("", -1), []occurrence{finished(4), ended(8, "failed", 8.9, given("a", 8.1, 0, "failed", 8.1), given("a", 8.6, 1, "failed", 8.6)),
			ended(12, "done", 12.6, given("a", 12.1, 2, "done", 12.1))}, nil, nil},
		{"failed, and no call did", none, []occurrence{first, ended(8, "failed", 11.9, given("a", 8.1, 0, "", 8.1)), ended(12, "done", 12.6, given("a", 12.1, 1, "done", 12.1))},
			nil, []string{"retry"}},

		{"crashed, and one agent alone had it", none, []occurrence{first, finished(8), ended(12, "crashed", 14.5, given("a", 12.1, 0, "", 12.1))}, nil, []string{"outcome"}},
		{"crashed, and one may crash so often", none, []occurrence{first, finished(8), ended(12, "crashed", 14.5, given("a", 12.1, 0, ""), given("b", 13.1, 0, ""))}, nil, nil},
		{"missed, and had started", none, []occurrence{first, finished(8), ended(12, "missed", 14.5, given("a", 12.1, 0, ""))}, nil, []string{"missed", "outcome"}},
		{"done by another", none, []occurrence{first, finished(8), {due: 12, outcome: "done", ended: 12.6, calls: finished(12).calls, by: "b"}}, nil, []string{"fenced"}},
		{"done, and another was given it", none, []occurrence{first, finished(8), ended(12, "done", 12.6, given("a", 12.1, 0, "done", 12.1), given("b", 12.3, 0, ""))}, nil,
			[]string{"fenced"}},
		{"given away when it had ended", none, []occurrence{first, finished(8), ended(12, "quota", 14.1, given("a", 12.1, 0, "failed", 12.1), given("b", 15, 0, ""))}, nil,
			[]string{"fenced"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := new(world)
			d := with(definition, func(d *Definition) { d.Topic, d.Crontabs, d.CatchUp = "", []string{"*/4 * * * * *"}, "once" })
			w.change(0.6, "create", 1, 4, with(*d, tt.edit))
			w.row(1, true, 0)
			for _, o := range append(slices.Clone(tt.runs), occurrence{due: 16}) {
				w.happened(o)
			}
			w.job(timerExec, 16, 12.1, "", 0)
			w.events, w.tables.AllClaims = append(append(w.events, told(15*time.Second)), tt.and...), true
			if found := w.judgedBy(t, asked); !slices.Equal(found, tt.want) {
				t.Errorf("found %q; want %q", found, tt.want)
			}
		})
	}
}

func TestACallOfALongRunEndsWithItsSchedule(t *testing.T) {
	asked := rules
	asked.Lease, asked.Long, asked.Outcomes = 2*time.Second, map[string]bool{"longrun": true}, map[string]string{"longrun": "done"}
	for _, tt := range []struct {
		until float64
		token uint64
		want  []string
	}{
		{until: 7.4},
		{until: 7.8, want: []string{"cancelled"}},
		{until: 5, token: 7, want: []string{"fenced"}}, // which nobody gave it
	} {
		t.Run(fmt.Sprint(tt), func(t *testing.T) {
			w := new(world)
			w.change(0.6, "create", 1, 4, with(definition, func(d *Definition) { d.Topic, d.Quota, d.Crontabs = "", -1, []string{"*/4 * * * * *"} }))
			w.change(5, "delete", 0, 0, nil)
			w.happened(occurrence{due: 4, outcome: "cancelled", ended: 4.95, calls: []taken{given("a", 4.1, 0, "failed", 4.1, tt.until)}})
			w.happened(occurrence{due: 8, outcome: "cancelled", ended: 4.95})
			w.job(timerExec, 8, 4.1, "cancelled", 4.95)
			w.events, w.tables.AllClaims = append(w.events, told(9*time.Second)), true
			w.tables.Starts[0].Token += tt.token
			if found := w.judgedBy(t, asked); !slices.Equal(found, tt.want) {
				t.Errorf("found %q; want %q", found, tt.want)
			}
		})
	}
}

func TestARunThatAnUpdateEndedLeavesItsCheckpointOrNone(t *testing.T) {
	asked := rules
	asked.Lease, asked.Long, asked.Outcomes = 2*time.Second, map[string]bool{"longrun": true}, map[string]string{"longrun": "done"}
	for from, want := range map[int][]string{0: nil, 1: {"checkpoint"}, 2: nil} {
		w := new(world)
		d := with(definition, func(d *Definition) { d.Topic, d.Payload, d.Quota, d.Crontabs = "", "0", -1, []string{"*/4 * * * * *"} })
		w.change(0.6, "create", 1, 4, d)
		w.change(5, "update", 2, 8, with(*d, func(d *Definition) { d.Payload = "1" }))
		w.row(2, true, 0)
		w.happened(occurrence{due: 4, outcome: superseded, ended: 4.95, calls: []taken{given("a", 4.1, 0, "failed", 4.1, 4.6)}})
		w.job("longrun", 8, 4.1, superseded, 4.95)
		w.happened(occurrence{due: 8, outcome: "done", ended: 8.6, calls: []taken{given("b", 8.1, from, "done", 8.1)}})
		w.tables.Schedules.Jobs[2].InsertedAt = after(4.96)
		w.happened(occurrence{due: 12})
		w.job(timerExec, 8, 4.1, superseded, 4.95)
		w.job(timerExec, 12, 8.1, "", 0)
		w.events, w.tables.AllClaims = append(w.events, told(11*time.Second)), true
		if found := w.judgedBy(t, asked); !slices.Equal(found, want) {
			t.Errorf("from step %d: found %q; want %q", from, found, want)
		}
	}
}
