package checker

import (
	"slices"
	"testing"
	"time"

	"prescient/scripts/chaos/checker/evidence"
)

// played is a run of a job, as it should be: three steps, the last of which fails once.
type played struct {
	events []Event
	tables evidence.Tables
}

func playedRun() *played {
	p := new(played)
	of := evidence.RunOf{Job: "j0", Occurrence: "17"}
	for i, step := range []string{"load", "book", "tell", "tell"} {
		at := time.Duration(i+1) * time.Second
		call := Event{Kind: Called, At: at, N: int64(i + 1), Key: of.Job, Tag: of.Occurrence, Exec: step, Worker: "a", Step: i + 1, Revision: 4}
		back, result := call, "done"
		if back.Kind, back.At = Returned, at+time.Second/2; i == 2 {
			back.Failed, result = true, "failed"
		}
		p.events = append(p.events, call, back)
		p.tables.Jobs.Calls = append(p.tables.Jobs.Calls, evidence.StepCall{RunOf: of, Seq: i + 1, Step: step, Result: result, Ended: true})
	}
	p.tables.Jobs.Runs = []evidence.JobRun{{RunOf: of, Version: 4, Result: "done", Ended: true}}
	p.tables.Jobs.Ends = []evidence.ScheduleJob{{Ended: evidence.Ended{Outcome: "done", Slot: noon}, Schedule: "job/j0", Exec: "steps.run", Tag: of.Occurrence}}
	p.tables.Jobs.Effects = []evidence.RunOf{of}
	p.tables.Runs = []evidence.Run{{Slot: noon, Buckets: 1, ByOutcome: map[string]int{"done": 1}}}
	return p
}

func TestEachRuleOfJobsIsHeld(t *testing.T) {
	// again has the step that was called at a place called once more, some time later.
	again := func(p *played, at int) {
		for _, e := range p.events[2*at : 2*at+2] {
			e.At, e.N, e.Step = e.At+300*time.Millisecond, e.N+100, len(p.tables.Jobs.Calls)+1
			p.events = append(p.events, e)
		}
		line := p.tables.Jobs.Calls[at]
		line.Seq = len(p.tables.Jobs.Calls) + 1
		p.tables.Jobs.Calls = append(p.tables.Jobs.Calls, line)
	}
	for _, tt := range []struct {
		name   string
		change func(p *played)
		want   []string
	}{
		{"all is well", func(*played) {}, nil},
		{"a step that never came to its end", func(p *played) { p.events = p.events[:7] }, []string{"step-lost"}},
		{"before the one before it", func(p *played) { p.events[1].At = 2500 * time.Millisecond }, []string{"step-order"}},
		{"before the one before it has gone well", func(p *played) { p.events[1].Failed = true }, []string{"step-order", "step-lost"}},
		{"of another version", func(p *played) { p.events[4].Revision = 5 }, []string{"step-version"}},
		{"twice for no reason", func(p *played) { again(p, 0) }, []string{"step-twice"}},
		{"twice after a fault", func(p *played) {
			again(p, 0)
			p.events = append(p.events, Event{Kind: Fault, What: "kill", Worker: "a", At: 1100 * time.Millisecond})
		}, nil},
		{"twice in a transaction that was rolled back", func(p *played) { again(p, 1) }, nil},
		{"an effect twice", func(p *played) { p.tables.Jobs.Effects = append(p.tables.Jobs.Effects, p.tables.Jobs.Effects[0]) }, []string{"step-effect"}},
		{"no effect", func(p *played) { p.tables.Jobs.Effects = nil }, []string{"step-effect"}},
		{"no effect, while it goes on", func(p *played) {
			p.tables.Jobs.Effects, p.tables.Jobs.Ends, p.tables.Jobs.Runs[0].Ended, p.tables.Jobs.Runs[0].Result = nil, nil, false, ""
			p.tables.Runs, p.events, p.tables.Jobs.Calls = nil, p.events[:3], p.tables.Jobs.Calls[:2]
		}, nil},
		{"not in the log", func(p *played) { p.tables.Jobs.Runs = nil }, []string{"step-log"}},
		{"ended by the log alone", func(p *played) { p.tables.Jobs.Ends, p.tables.Runs = nil, nil }, []string{"step-log"}},
		{"ended otherwise by the log", func(p *played) { p.tables.Jobs.Runs[0].Result = "failed" }, []string{"step-log"}},
		{"a line is missing", func(p *played) { p.tables.Jobs.Calls = append(p.tables.Jobs.Calls[:1], p.tables.Jobs.Calls[2:]...) }, []string{"step-log"}},
		{"a line without an end", func(p *played) { p.tables.Jobs.Calls[1].Ended = false }, []string{"step-log"}},
		{"a call without a line", func(p *played) { p.tables.Jobs.Calls = p.tables.Jobs.Calls[:3] }, []string{"step-log"}},
		{"a change was skipped", func(p *played) { p.tables.Changes.Skipped = 1 }, []string{"change-skipped"}},
		{"a change was handled twice", func(p *played) { p.tables.Changes.Twice = 1 }, []string{"change-twice"}},
		{"a change that was rolled back was handled", func(p *played) { p.tables.Changes.Phantom = 1 }, []string{"change-phantom"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := playedRun()
			tt.change(p)
			with := rules
			with.Steps, with.StepTx = []string{"load", "book", "tell"}, "book"
			report := Judge(with, append([]Event{told(0)}, p.events...), p.tables)
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
