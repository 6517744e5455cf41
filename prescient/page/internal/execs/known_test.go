package execs

import (
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/agent"
	"prescient/prescient/stats"
	"prescient/prescient/stats/drift"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// told is what operations may tell of five job_execs.
func told() found {
	return found{
		forms: []agent.Exec{
			{JobExec: "old", Guards: []byte(`{"max_checks": 2}`), SeenAt: noon.Add(-time.Hour)},
			{JobExec: "ship", Guards: []byte(`{"max_checks": 10}`), SeenAt: noon.Add(-time.Minute), There: true}, {JobExec: "ship", Guards: []byte(`{"max_checks": 5, "timeout_ms": 30000}`), SeenAt: noon, There: true},
			{JobExec: "timer", Guards: []byte(`{"max_checks": 5, "endless": true}`), SeenAt: noon, There: true},
		},
		pauses: []prescient.Paused{{JobExec: "*"}, {JobExec: "*events"}, {JobExec: "pay", By: "eve"}},
		lately: []stats.Exec{{JobExec: "ship", Calls: 10, Errors: 2}, {JobExec: "old", Calls: 1}},
		slower: []stats.Slower{{JobExec: "ship", Rise: drift.Rise{FromMS: 10, ToMS: 20}}, {JobExec: "ship", Job: "nightly", Step: "load"}},
		days: []stats.Day{
			{JobExec: "ship", Ends: map[prescient.Outcome]uint64{"done": 7, "max_checks": 3}, NotYet: stats.NotYet{AtOnce: 5, Later: 2, Never: 3, Waited: 5}, Repeats: []stats.Repeats{{Times: 0, Ends: 5}, {Times: 4, Ends: 2}, {Times: 5, Ends: 3}}},
			{JobExec: "ship", Ends: map[prescient.Outcome]uint64{"done": 10}, NotYet: stats.NotYet{AtOnce: 10}, Repeats: []stats.Repeats{{Times: 0, Ends: 10}}},
			{JobExec: "(other)", Ends: map[prescient.Outcome]uint64{"done": 1}},
			{JobExec: "timer", Repeats: []stats.Repeats{{Times: 100, Ends: 1}}},
		},
	}
}

func TestWhatIsOfOneJobExecIsPutTogether(t *testing.T) {
	all, err := told().byName()
	if err != nil {
		t.Fatal(err)
	}
	var names string
	of := make(map[string]exec)
	for _, e := range all {
		names += e.Name + " "
		of[e.Name] = e
	}
	if names != "ship (other) old pay timer " {
		t.Errorf("%s", names)
	}
	ship := of["ship"]
	if ship.Guards().MaxChecks != 5 || ship.Versions() != 2 || !ship.There() || ship.Weeks.Ends != 20 || ship.Weeks.Share() != 0.25 || ship.Near() != 5 || len(ship.Slower) != 2 {
		t.Errorf("%+v", ship)
	}
	if pay := of["pay"]; pay.Pause == nil || pay.Pause.By != "eve" || pay.Guards() != nil || pay.There() || pay.Near() != 0 {
		t.Errorf("%+v", pay)
	}
	if of["(other)"].Named() || !of["timer"].Named() || of["timer"].Near() != 0 || of["old"].There() {
		t.Errorf("%+v, %+v", of["timer"], of["old"])
	}
	for what, want := range map[string]string{"": "ship (other) old pay timer ", "paused": "pay ", "slower": "ship ", "near": "ship ", "failing": "ship "} {
		got := ""
		for _, e := range all {
			if e.wrong(what) {
				got += e.Name + " "
			}
		}
		if got != want {
			t.Errorf("%s: %s; want %s", what, got, want)
		}
	}
}

func TestDaysWithoutEndsAreInTheChart(t *testing.T) {
	day := noon.Truncate(24 * time.Hour)
	r := stats.DaysReport{From: day, Before: day.AddDate(0, 0, 3), Days: []stats.Day{{Start: day, Run: stats.Quantiles{P50MS: 100, P95MS: 1500, LongestMS: 2000}}, {Start: day.AddDate(0, 0, 2), Run: stats.Quantiles{P95MS: 40}}}}
	c := drawn("run", "Run", r, func(d stats.Day) stats.Quantiles { return d.Run })
	if len(c.Bars) != 3 || len(c.Bars[1].Parts) != 0 || c.Bars[1].Title != "2026-11-21: no ends" || c.Bars[0].Parts[0].N != 100 || c.Bars[0].Parts[1].N != 1400 ||
		c.Text != "What 95 of a hundred do not exceed is from 40 ms to 1.5 s by day." {
		t.Errorf("%+v", c)
	}
	if c := drawn("run", "Run", stats.DaysReport{From: day, Before: day}, nil); len(c.Bars) != 0 || c.Text != "There are no ends on these days." {
		t.Errorf("%+v", c)
	}
}
