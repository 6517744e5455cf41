package rollup

import (
	"fmt"
	"testing"

	"prescient/prescient"
	"prescient/prescient/internal/tally"
)

func TestAnEndIsCountedOnce(t *testing.T) {
	t.Parallel()
	of := tally.Of{JobExec: "a", EntityName: "order"}
	for about, tt := range map[string]struct {
		end    end
		want   line
		reason string
	}{
		"done at once":  {end{outcome: prescient.Done, started: true, runMS: 7, totalMS: 7, latenessMS: 3, dueLateness: 90}, line{1, 1, 0, 0, 0, 1, 7, 7, 3, 90}, ""},
		"done later":    {end{outcome: prescient.Done, started: true, checks: 4, totalMS: 50, runMS: 7}, line{1, 5, 0, 4, 1, 1, 7, 50, 0, 0}, ""},
		"failed":        {end{outcome: prescient.Failed, started: true, errors: 3, checks: 1, error: "order 7 is gone"}, line{1, 4, 3, 1, 1, 1, 0, 0, 0, 0}, "order … is gone"},
		"max_checks":    {end{outcome: prescient.MaxChecks, started: true, checks: 2}, line{1, 3, 0, 3, 1, 1, 0, 0, 0, 0}, "max_checks"},
		"expired":       {end{outcome: prescient.Expired, runMS: 9}, line{1, 0, 0, 0, 0, 0, 0, 0, 0, 0}, "expired"},
		"before due":    {end{outcome: prescient.Done, started: true, latenessMS: -5, dueLateness: -1 << 60}, line{1, 1, 0, 0, 0, 1, 0, 0, 0, 0}, ""},
		"out of bounds": {end{outcome: prescient.Done, started: true, totalMS: 1 << 63, dueLateness: 1 << 60}, line{1, 1, 0, 0, 0, 1, 0, maxMS, 0, maxMS}, ""},
	} {
		s := newSums()
		tt.end.of = of
		s.add(tt.end)
		if l := s.lines[lineOf{of, tt.end.outcome}]; l == nil || *l != tt.want || s.ends != 1 {
			t.Errorf("%s: %+v; want %+v", about, l, tt.want)
		}
		if n := s.reasons[reasonOf{"a", tt.reason}]; (n == 1) != (tt.reason != "") {
			t.Errorf("%s: reasons %v", about, s.reasons)
		}
		if n := len(s.spreads[of][run]); (n == 1) != tt.end.started {
			t.Errorf("%s: %v", about, s.spreads[of])
		}
	}
}

// However many names and reasons apps write, an hour has a bounded number of lines, and every end is counted.
func TestAnHourHasABoundedNumberOfLines(t *testing.T) {
	t.Parallel()
	const n = 100_000
	s := newSums()
	for i := range n {
		s.add(end{of: tally.Of{JobExec: fmt.Sprint("exec", i%331), EntityName: fmt.Sprint("kind", i)}, outcome: prescient.Failed, error: fmt.Sprint("of kind ", string(rune('a'+i%26)), string(rune('a'+i/26%26)))})
	}
	var ends, reasons uint64
	execs := make(map[string]bool)
	for of, l := range s.lines {
		ends += l.ends
		execs[of.JobExec] = true
	}
	for _, n := range s.reasons {
		reasons += n
	}
	if ends != n || reasons != n {
		t.Errorf("%d ends and %d reasons are counted of %d", ends, reasons, n)
	}
	if len(s.lines) > tally.MaxLines+tally.MaxExecs+1 || len(s.spreads) != len(s.lines) || len(execs) != tally.MaxExecs+1 || len(s.reasons) != maxReasons+1 {
		t.Errorf("%d lines, %d histograms of %d job_execs, %d reasons", len(s.lines), len(s.spreads), len(execs), len(s.reasons))
	}
}
