package checker

import (
	"slices"
	"testing"
	"time"

	"prescient/scripts/chaos/checker/evidence"
)

func TestTheSumsAreHeldAgainstHistory(t *testing.T) {
	eleven, day := noon.Add(-time.Hour), noon.Add(-12*time.Hour)
	line := func(start time.Time, outcome string, ends int) evidence.Sum {
		return evidence.Sum{Start: start, JobExec: "check", EntityName: "e", Outcome: outcome, Ends: ends, Started: ends, RunMS: 10 * ends}
	}
	good := func() *evidence.Sums {
		return &evidence.Sums{
			History: []evidence.Sum{line(noon, "done", 1), line(eleven, "failed", 2), {Start: noon, JobExec: "nobody has it", EntityName: "e", Outcome: "cancelled", Ends: 3}},
			Hours:   []evidence.Sum{line(noon, "done", 1), line(eleven, "failed", 2), {Start: noon, JobExec: "(other)", EntityName: "(other)", Outcome: "cancelled", Ends: 3}},
			Days:    []evidence.Sum{line(day, "done", 1), line(day, "failed", 2), {Start: day, JobExec: "(other)", EntityName: "(other)", Outcome: "cancelled", Ends: 3}},
			Noted:   []evidence.Sum{{Start: noon, Ends: 4}, {Start: eleven, Ends: 2}, {Start: noon.Add(time.Hour)}},
			Why:     []evidence.Sum{{Start: eleven, Ends: 2}, {Start: noon, Ends: 3}},
			Ran:     []evidence.Sum{{Start: noon, JobExec: "check", EntityName: "e", Started: 1}, {Start: eleven, JobExec: "check", EntityName: "e", Started: 2}},
		}
	}
	judge := func(sums *evidence.Sums, ended ...evidence.Ended) []string {
		j := &judgement{rules: rules, tables: evidence.Tables{Sums: sums}, stories: make(map[int64]*story)}
		for i, e := range ended {
			s := j.story(int64(i + 1))
			s.insert, s.ended = inserted(Committed), []evidence.Ended{e}
		}
		j.sums()
		var found []string
		for _, f := range j.report.Findings {
			found = append(found, f.Rule)
		}
		return slices.Compact(found)
	}
	ended := []evidence.Ended{done("a"), {Outcome: "failed"}, {Outcome: "failed"}}
	if found := judge(good(), ended...); found != nil {
		t.Errorf("all is well: %q", found)
	}
	for about, change := range map[string]func(s *evidence.Sums){
		"an hour has an end more":      func(s *evidence.Sums) { s.Hours[0].Ends++ },
		"an hour has another outcome":  func(s *evidence.Sums) { s.Hours[0].Outcome = "failed" },
		"an hour has a longer call":    func(s *evidence.Sums) { s.Hours[0].RunMS++ },
		"an hour is there in vain":     func(s *evidence.Sums) { s.Hours = append(s.Hours, line(noon.Add(time.Hour), "done", 1)) },
		"an hour is lacking":           func(s *evidence.Sums) { s.Hours = s.Hours[1:] },
		"a day has an end less":        func(s *evidence.Sums) { s.Days[1].Ends-- },
		"a day is lacking":             func(s *evidence.Sums) { s.Days = nil },
		"an hour is noted as another":  func(s *evidence.Sums) { s.Noted[0].Ends++ },
		"an hour lacks a reason":       func(s *evidence.Sums) { s.Why[0].Ends-- },
		"an hour has a run time twice": func(s *evidence.Sums) { s.Ran[1].Started++ },
	} {
		s := good()
		if change(s); len(judge(s, ended...)) != 1 {
			t.Errorf("%s: nothing was found", about)
		}
	}
	if found := judge(good(), ended[:2]...); len(found) != 1 {
		t.Error("history has an end that the journal does not know: nothing was found")
	}
}
