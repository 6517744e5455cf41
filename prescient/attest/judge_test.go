package attest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"prescient/prescient/internal/rig"
)

// ran is a slot that something ran in one bucket.
func ran(slot, started, finished string, by func(r *row)) *row {
	at, begun := rig.At(slot), rig.At(started)
	r := &row{Slot: at, There: 1, Buckets: 1, Started: &begun, Unfinished: 1}
	if finished != "" {
		end := rig.At(finished)
		r.Finished, r.Unfinished = &end, 0
	}
	by(r)
	return r
}

func byWork(r *row)  { r.ByWork = 1 }
func bySweep(r *row) { r.BySweep = 1 }

func TestWhatBecameOfASlot(t *testing.T) {
	is := evidence{now: rig.At("15:00:05"), grace: 10 * time.Second, late: time.Minute, known: known{rig.At("12:00"), "pruned"}, first: rig.At("12:30"),
		pauses: []pause{{rig.At("13:14:59"), rig.At("13:29")}, {from: rig.At("14:20")}}}
	in := era{grid: rig.Quarter, settled: rig.At("12:10")}
	for _, test := range []struct {
		slot   string
		r      *row
		waits  bool
		want   State
		reason string
	}{
		{"11:45", nil, false, NotKnown, "pruned"},
		{"11:45", ran("11:45", "11:45", "11:46", byWork), false, NotKnown, "pruned"},
		{"12:00", nil, false, Reslotting, ""},
		{"12:00", ran("12:00", "12:00", "12:01", byWork), false, Served, ""}, // all the same
		{"12:15", nil, false, Missed, "before the first"},
		{"12:30", nil, false, Missed, ""},
		{"12:30", nil, true, Missed, ""},
		{"12:30", ran("12:30", "12:30:59.9", "12:40", byWork), false, Served, ""},
		{"12:30", ran("12:30", "12:31:00.1", "12:40", byWork), false, Late, ""},
		{"12:30", ran("12:30", "12:30:12", "12:40", bySweep), false, Late, ""},
		{"12:30", ran("12:30", "12:30:12", "12:40", func(r *row) { r.There, r.Buckets, r.BySweep, r.ByRun = 2, 2, 1, 1 }), false, Late, ""},
		{"12:30", ran("12:30", "12:30", "12:46:10", byWork), false, Served, ""}, // the next slot, the grace, and what is late
		{"12:30", ran("12:30", "12:30", "12:46:11", byWork), false, Late, ""},
		{"12:30", ran("12:30", "12:30", "12:40", byWork), true, Unfinished, "checks wait"},
		{"12:30", ran("12:30", "12:30", "", byWork), true, Unfinished, "1 of 1 buckets open, nobody has them"},
		{"12:30", ran("12:30", "12:30", "", func(r *row) { r.Taken = 1 }), true, Unfinished, "the lease lapsed"},
		// A sweep finds only slots for which checks wait: of the others nobody finishes the buckets.
		{"12:30", ran("12:30", "12:30", "", byWork), false, Late, "1 of 1 buckets open, nobody has them, and nothing waits for them"},
		{"12:30", ran("12:30", "12:30", "", func(r *row) { r.Taken = 1 }), false, Late, "the lease lapsed, and nothing waits for them"},
		{"12:30", ran("12:30", "12:30", "", func(r *row) { r.Taken, r.Held = 1, 1 }), false, Unfinished, "a lease lives"},
		{"12:30", ran("12:30", "12:30", "12:40", func(r *row) { r.Buckets = 4 }), true, Unfinished, "3 of 4 buckets"},
		{"12:31", ran("12:31", "12:31", "12:40", byWork), false, OffGrid, "15m0s apart"},
		{"13:15", nil, false, Paused, ""},
		{"13:30", nil, false, Missed, ""},
		{"13:15", ran("13:15", "13:40", "13:41", bySweep), false, Late, "everything was paused"},
		{"14:15", nil, false, Missed, ""}, // the pause came too late to explain that
		{"14:30", nil, false, Paused, ""},
		{"14:45", nil, false, Paused, ""},
		// The slot that is now.
		{"15:00", nil, true, NotYet, ""},
		{"15:00", ran("15:00", "15:00", "", byWork), false, NotYet, ""},
		{"15:00", ran("15:00", "15:00", "15:00:01", byWork), false, Served, ""},
	} {
		got, reason := is.judge(in, rig.At(test.slot), test.r, test.waits)
		if got != test.want || !strings.Contains(reason, test.reason) {
			t.Errorf("%s, %+v, waits %t: %s, %q; want %s, %q", test.slot, test.r, test.waits, got, reason, test.want, test.reason)
		}
	}
}

// What is late excuses nothing: a pause explains the slots that fell into it.
func TestAPauseExplainsNoSlotBeforeIt(t *testing.T) {
	is := evidence{now: rig.At("16:00:05"), late: 2 * time.Hour, first: rig.At("11:00"), pauses: []pause{{rig.At("13:30"), rig.At("14:00")}}}
	for slot, want := range map[string]State{"12:00": Missed, "13:00": Missed, "13:15": Missed, "13:30": Paused, "13:45": Paused, "14:00": Missed} {
		if got, _ := is.judge(era{grid: rig.Quarter}, rig.At(slot), nil, false); got != want {
			t.Errorf("%s: %s; want %s", slot, got, want)
		}
	}
}

func TestWhichResolutionWasWhen(t *testing.T) {
	quarter, five, hour := rig.Quarter, rig.GridOf(t, 5*time.Minute), rig.GridOf(t, time.Hour)
	at := rig.At
	for name, test := range map[string]struct {
		changes []change
		is      time.Duration
		changed string
		want    string // of each era: from, resolution, until when it was being changed
		agrees  bool
	}{
		"none":      {nil, time.Hour, "09:00", "- 1h0m0s -", true},
		"one":       {[]change{{at("10:00"), quarter, five, false}}, 5 * time.Minute, "10:02", "- 15m0s -; 10:00 5m0s 10:02", true},
		"two":       {[]change{{at("10:00"), quarter, five, false}, {at("12:00"), five, hour, false}}, time.Hour, "12:01", "- 15m0s -; 10:00 5m0s ?; 12:00 1h0m0s 12:01", true},
		"withdrawn": {[]change{{at("10:00"), quarter, five, false}, {at("10:03"), five, quarter, true}}, 15 * time.Minute, "10:03", "- 15m0s -; 10:00 15m0s 10:03", true},
		"broken off, and gone on with": {[]change{{at("10:00"), quarter, five, false}, {at("11:00"), quarter, five, false}}, 5 * time.Minute, "11:01",
			"- 15m0s -; 10:00 15m0s 11:00; 11:00 5m0s 11:01", true},
		"withdrawn, announced before":    {[]change{{at("10:03"), five, quarter, true}}, 15 * time.Minute, "10:03", "- 15m0s 10:03", true},
		"to something else by plain SQL": {[]change{{at("10:00"), quarter, five, false}}, time.Hour, "12:00", "- 15m0s -; 10:00 1h0m0s 12:00", false},
	} {
		eras, agrees := erasOf(test.changes, rig.GridOf(t, test.is), at(test.changed))
		clock := func(at time.Time) string {
			if at.IsZero() {
				return "-"
			}
			return at.Format("15:04")
		}
		var got []string
		for _, e := range eras {
			settled := clock(e.settled)
			if e.unsettled {
				settled = "?"
			}
			got = append(got, fmt.Sprintf("%s %s %s", clock(e.from), e.grid, settled))
		}
		if strings.Join(got, "; ") != test.want || agrees != test.agrees {
			t.Errorf("%s: %q, agrees %t; want %q, %t", name, got, agrees, test.want, test.agrees)
		}
	}
	eras := []era{{grid: quarter}, {from: at("10:00"), grid: five}, {from: at("12:00"), grid: hour}}
	for clock, want := range map[string]int{"09:59:59": 0, "10:00": 1, "11:59": 1, "12:00": 2, "23:00": 2} {
		if got := eraAt(eras, at(clock)); got != want {
			t.Errorf("%s is in era %d; want %d", clock, got, want)
		}
	}
}

func TestSpansHoldAlikeSlots(t *testing.T) {
	report := Report{Totals: Totals{States: make(map[State]int)}}
	s := spans{report: &report}
	in := era{grid: rig.Quarter}
	slot := rig.At("12:00")
	add := func(state State, r *row) {
		if r != nil {
			r.Slot = slot
		}
		s.add(in, slot, r, false, state, "")
		slot = rig.Quarter.Next(slot)
	}
	work := func(ms int, ended int64, worker string) *row {
		at := slot.Add(time.Duration(ms) * time.Millisecond)
		return &row{There: 1, ByWork: 1, Started: &at, Finished: &at, Ended: ended, FirstWorker: worker, LastWorker: worker}
	}
	add(Served, work(100, 1000, "a"))
	add(Served, work(300, 234, "b"))
	add(Missed, nil)
	add(Missed, nil)
	add(Unfinished, work(0, 0, "a"))
	add(Unfinished, work(0, 0, "a"))
	add(Served, work(0, 1, "c"))
	s.flush()
	var got []string
	for _, span := range report.Spans {
		got = append(got, strings.ReplaceAll(span.String(), "2026-11-20 ", ""))
	}
	want := []string{
		"12:00–12:15: 2 slots served by work (a, b), begun at most 0.3 s late, 1,234 ended", "12:30–12:45: 2 slots missed",
		"13:00: unfinished by work (a), begun 0.0 s late, finished 13:00, 0 ended", "13:15: unfinished by work (a), begun 0.0 s late, finished 13:15, 0 ended",
		"13:30: served by work (c), begun 0.0 s late, 1 ended",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") || report.Totals.Slots != 7 || report.Totals.Ended != 1235 || report.Totals.States[Missed] != 2 {
		t.Errorf("%s\nwant\n%s\n%+v", strings.Join(got, "\n"), strings.Join(want, "\n"), report.Totals)
	}
	// A report has only so many, and counts the rest.
	for range 2 * oddSpans {
		add(Missed, nil)
		add(Served, work(0, 0, "a"))
	}
	s.flush()
	if len(report.Spans) != oddSpans+plainSpans || report.MoreSpans[Missed]+report.MoreSpans[Served] != 4*oddSpans+5-len(report.Spans) || report.Totals.States[Missed] != 2+2*oddSpans {
		t.Errorf("%d spans, and %v more; %+v", len(report.Spans), report.MoreSpans, report.Totals)
	}
}

func TestWhatAReportComesTo(t *testing.T) {
	for _, test := range []struct {
		states map[State]int
		ends   Ends
		want   Verdict
	}{
		{map[State]int{Served: 5, NotYet: 1}, Ends{}, Proven},
		{map[State]int{Served: 5}, Ends{Compared: true, Whole: true}, Proven},
		{nil, Ends{Compared: true, Whole: true}, NotProven},
		{map[State]int{NotYet: 96}, Ends{Compared: true, Whole: true}, NotProven},
		{map[State]int{Served: 5}, Ends{Compared: true}, NotProven},
		{map[State]int{Served: 5, Late: 1}, Ends{}, NotProven},
		{map[State]int{Unfinished: 1}, Ends{}, NotProven},
		{map[State]int{Paused: 1}, Ends{}, NotProven},
		{map[State]int{Reslotting: 1}, Ends{}, NotProven},
		{map[State]int{OffGrid: 1}, Ends{}, NotProven},
		{map[State]int{NotKnown: 1}, Ends{}, NotProven},
		{map[State]int{Served: 5, Missed: 1}, Ends{}, Refuted},
		{map[State]int{Served: 5}, Ends{Compared: true, Whole: true, Differ: 1}, Refuted},
	} {
		r := Report{Totals: Totals{States: test.states}, Ends: test.ends}
		if got := r.verdict(); got != test.want {
			t.Errorf("%v, %+v: %s; want %s", test.states, test.ends, got, test.want)
		}
	}
}

func TestEndsAreBalancedInAnyOrder(t *testing.T) {
	slot := func(minute int) time.Time { return rig.At("13:00").Add(time.Duration(minute) * time.Minute) }
	b := newBalance(slot(0), slot(50))
	b.end(slot(1)) // history may be ahead of the ledger
	b.book(slot(1), 2, true)
	b.end(slot(1))
	b.book(slot(2), 1, true)
	b.book(slot(3), 1, true)
	b.end(slot(3))
	b.end(slot(3)) // one too many
	b.end(slot(4)) // of a slot that the ledger has not
	b.end(slot(5))
	b.book(slot(5), 0, false) // which is under way
	b.end(slot(5))
	if b.end(slot(50)) || b.end(slot(-1)) {
		t.Error("an end of another slot counts")
	}
	minutes := func(list []time.Time) (all []int) {
		for _, at := range list {
			all = append(all, at.Minute())
		}
		return all
	}
	if whole, part := fmt.Sprint(minutes(b.uneven(true))), fmt.Sprint(minutes(b.uneven(false))); whole != "[2 3 4]" || part != "[3 4]" {
		t.Errorf("uneven are %s; of a part of history %s", whole, part)
	}
}
