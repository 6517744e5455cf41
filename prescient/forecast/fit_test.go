package forecast

import (
	"testing"
	"time"

	"prescient/prescient/internal/rig"
)

func TestWhenSlotsEnd(t *testing.T) {
	execs := map[string]exec{
		"quick":  {run: 10, known: true},
		"slow":   {run: 60_000, known: true, limit: 4},
		"prompt": {run: 1000, known: true, sla: 2 * time.Minute},
		"narrow": {run: 1000, known: true, limit: 1},
		"new":    {},
	}
	type calls = map[string]float64
	type want struct {
		verdict             Verdict
		begins, last, ends  string // empty: nothing is known
		over                time.Duration
		jobExec             string
		unknown, concurrent int64
	}
	for _, test := range []struct {
		name   string
		free   string
		agents []float64
		slots  []calls
		want   []want
	}{
		{"nothing to do", "13:01", []float64{32}, []calls{{}}, []want{{verdict: Fits, concurrent: 32}}},
		// 32 at a time, but only half of them of one job_exec.
		{"half of the places are of one", "13:01", []float64{32}, []calls{{"quick": 96_000}}, []want{{Fits, "13:15", "13:15:59.990", "13:16", 0, "", 0, 32}}},
		{"two agents", "13:01", []float64{32, 32}, []calls{{"quick": 96_000}}, []want{{Fits, "13:15", "13:15:29.990", "13:15:30", 0, "", 0, 64}}},
		{"a limit of its own", "13:01", []float64{32}, []calls{{"narrow": 60}}, []want{{Fits, "13:15", "13:15:59", "13:16", 0, "", 0, 32}}},
		{"no less than a call", "13:01", []float64{32}, []calls{{"slow": 1}}, []want{{Fits, "13:15", "13:15", "13:16", 0, "", 0, 32}}},
		{"it goes on into the next, which begins later", "13:01", []float64{8}, []calls{{"slow": 64}, {"slow": 4}},
			[]want{{Next, "13:15", "13:30", "13:31", time.Minute, "", 0, 8}, {Fits, "13:31", "13:31", "13:32", 0, "", 0, 8}}},
		{"what is left from before comes first", "13:20", []float64{8}, []calls{{"slow": 44}}, []want{{Next, "13:20", "13:30", "13:31", time.Minute, "", 0, 8}}},
		{"an SLA of some is that of all", "13:01", []float64{8}, []calls{{"slow": 20, "prompt": 1}}, []want{{SLA, "13:15", "", "13:20", 0, "prompt", 0, 8}}},
		{"nobody serves it", "13:01", nil, []calls{{"quick": 1}, {}}, []want{{verdict: Unserved}, {verdict: Fits}}},
		{"nobody knows it", "13:01", []float64{8}, []calls{{"new": 5}}, []want{{verdict: Unknown, unknown: 5, concurrent: 8}}},
		{"nobody knows some of it", "13:01", []float64{8}, []calls{{"new": 5, "slow": 4}}, []want{{Unknown, "13:15", "13:15", "13:16", 0, "", 5, 8}}},
		{"a tenth may be unknown", "13:01", []float64{8}, []calls{{"new": 1, "quick": 9}}, []want{{Fits, "13:15", "", "", 0, "", 1, 8}}},
		{"more may not", "13:01", []float64{8}, []calls{{"new": 2, "quick": 9}}, []want{{Unknown, "13:15", "", "", 0, "", 2, 8}}},
		{"what is late without the unknown is late", "13:20", []float64{8}, []calls{{"slow": 44, "new": 44}}, []want{{Next, "13:20", "13:30", "13:31", time.Minute, "", 44, 8}}},
		{"so is what breaks an SLA", "13:20", []float64{8}, []calls{{"prompt": 1, "new": 44}}, []want{{SLA, "13:20", "13:20", "", 0, "prompt", 44, 8}}},
		{"more than ever ends", "13:01", []float64{1}, []calls{{"slow": mostRows}}, []want{{verdict: Next, begins: "13:15", over: longest - 15*time.Minute, concurrent: 1}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var loads []load
			start := rig.At("13:15")
			var crews []serving
			if test.agents != nil {
				crews = []serving{{0, test.agents}}
			}
			for _, of := range test.slots {
				loads = append(loads, load{start: start, before: start.Add(15 * time.Minute), calls: of, crews: crews, prompt: true})
				start = start.Add(15 * time.Minute)
			}
			for i, f := range fit(loads, 1, rig.At(test.free), execs) {
				w := test.want[i]
				if f.Verdict != w.verdict || f.JobExec != w.jobExec || f.Unknown != w.unknown || f.Concurrency != w.concurrent {
					t.Errorf("slot %d: %+v; want %+v", i, f, w)
				}
				if w.verdict != SLA && f.Over.Duration() != w.over {
					t.Errorf("slot %d is %s over; want %s", i, f.Over.Duration(), w.over)
				}
				for n, is := range []*time.Time{f.BeginsAt, f.LastStartAt, f.EndsAt} {
					if at := []string{w.begins, w.last, w.ends}[n]; at != "" && (is == nil || !is.Equal(rig.At(at))) {
						t.Errorf("slot %d: %v; want %s", i, is, at)
					}
				}
				if w.verdict == Unserved && f.BeginsAt != nil {
					t.Errorf("slot %d begins at %s", i, f.BeginsAt)
				}
			}
		})
	}
}

// A day has no SLA: its slots have.
func TestADayHasNoSLA(t *testing.T) {
	day := load{start: rig.At("00:00"), before: rig.At("00:00").Add(24 * time.Hour), calls: map[string]float64{"prompt": 100_000}, crews: []serving{{0, []float64{4}}}}
	f := day.fit([]time.Time{day.start}, map[string]exec{"prompt": {run: 1000, known: true, sla: time.Second, limit: 4}})
	if f.Verdict != Fits || !f.EndsAt.Equal(rig.At("06:56:40")) {
		t.Errorf("%+v", f)
	}
	day.prompt = true
	if f := day.fit([]time.Time{day.start}, map[string]exec{"prompt": {run: 1000, known: true, sla: time.Second, limit: 4}}); f.Verdict != SLA || f.JobExec != "prompt" {
		t.Errorf("%+v", f)
	}
}

// What a crew is late with holds up the slots that it serves, and of these alone the ones that nobody else serves.
func TestABacklogHoldsUpTheSlotsOfItsCrew(t *testing.T) {
	execs := map[string]exec{"slow": {run: 60_000, known: true, limit: 8}}
	first, second := serving{0, []float64{8}}, serving{1, []float64{8}}
	type slot struct {
		crews              []serving
		calls              float64
		begins, ends, late string
	}
	for name, slots := range map[string][]slot{
		"each serves its own": {
			{[]serving{first}, 8 * 40, "13:00", "13:40", "25m0s"},
			{[]serving{second}, 8, "13:15", "13:16", "0s"},
			{[]serving{first}, 8, "13:40", "13:41", "0s"},
			{[]serving{second}, 8, "13:45", "13:46", "0s"},
		},
		"both serve all": {
			{[]serving{first, second}, 16 * 40, "13:00", "13:40", "25m0s"},
			{[]serving{first, second}, 16, "13:40", "13:41", "11m0s"},
		},
		"one comes later": {
			{[]serving{first}, 8 * 40, "13:00", "13:40", "25m0s"},
			{[]serving{first, second}, 8 * 10, "13:15", "13:25", "0s"},
			// 10 minutes of the second, and then both.
			{[]serving{first, second}, 8*10 + 16*5, "13:30", "13:45", "0s"},
			{[]serving{first}, 8, "13:45", "13:46", "0s"},
		},
		"a late one that is not needed stays with its own": {
			{[]serving{first}, 8 * 40, "13:00", "13:40", "25m0s"},
			{[]serving{first, second}, 8 * 25, "13:15", "13:40", "10m0s"},
			{[]serving{first}, 8, "13:40", "13:41", "0s"},
		},
	} {
		var loads []load
		for i, s := range slots {
			start := rig.At("13:00").Add(time.Duration(i) * 15 * time.Minute)
			loads = append(loads, load{start: start, before: start.Add(15 * time.Minute), calls: map[string]float64{"slow": s.calls}, crews: s.crews})
		}
		for i, f := range fit(loads, 2, rig.At("12:59"), execs) {
			if s := slots[i]; !f.BeginsAt.Equal(rig.At(s.begins)) || !f.EndsAt.Equal(rig.At(s.ends)) || f.Over.Duration().String() != s.late {
				t.Errorf("%s, slot %d: from %s to %s, %s over; want %+v", name, i, f.BeginsAt.Format(time.TimeOnly), f.EndsAt.Format(time.TimeOnly), f.Over.Duration(), s)
			}
		}
	}
}
