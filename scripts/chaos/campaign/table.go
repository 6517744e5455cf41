package campaign

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
)

// Print writes a table of outcomes, and every finding below it.
func Print(w io.Writer, all []Outcome) {
	t := table.NewWriter()
	t.SetStyle(table.StyleLight)
	t.AppendHeader(table.Row{"engine", "scenario", "faults", "rows", "calls", "executed twice", "lost", "early", "crashed", "expired", "latest", "on other shards",
		"schedules", "changed", "fired", "missed", "passed over", "kept apart", "quota", "long runs", "steps", "taken up again",
		"runs of jobs", "their steps", "called again", "versions", "changes written", "findings"})
	for _, o := range all {
		if o.NotPlayed != "" {
			t.AppendRow(table.Row{o.Engine, o.Scenario, "not played: " + o.NotPlayed})
			continue
		}
		r := o.Report
		t.AppendRow(table.Row{o.Engine, o.Scenario, tried(r.Faults), r.Rows, r.Calls, r.Twice, r.Lost, r.Early, r.Ended["crashed"],
			r.Ended["expired"], r.Latest.Round(100 * time.Millisecond), r.Beside.Round(100 * time.Millisecond), r.Planned.Schedules, r.Planned.Changes, r.Planned.Events + r.Planned.Runs,
			r.Planned.Missed, r.Planned.PassedOver, r.Planned.Apart, r.Planned.Quota, r.Long.Calls, r.Long.Steps, r.Long.Takings,
			r.Jobs.Runs, r.Jobs.Steps, r.Jobs.Again, r.Jobs.Versions, r.Changes.Written, len(r.Findings)})
	}
	_, _ = fmt.Fprintln(w, t.Render()) // nobody is left to tell
	for _, o := range all {
		PrintFindings(w, o)
	}
}

// PrintFindings writes what an outcome has to complain about.
func PrintFindings(w io.Writer, o Outcome) {
	if o.Err != nil {
		_, _ = fmt.Fprintf(w, "%s %s: %v\n", o.Engine, o.Scenario, o.Err)
	}
	const most = 8 // of a rule
	broken := make(map[string]int)
	for _, f := range o.Report.Findings {
		if broken[f.Rule]++; broken[f.Rule] <= most {
			_, _ = fmt.Fprintf(w, "%s %s: %s\n", o.Engine, o.Scenario, f)
		}
	}
	for _, rule := range slices.Sorted(maps.Keys(broken)) {
		if more := broken[rule] - most; more > 0 {
			_, _ = fmt.Fprintf(w, "%s %s: %s: and %d more\n", o.Engine, o.Scenario, rule, more)
		}
	}
	if o.Dir != "" {
		_, _ = fmt.Fprintf(w, "%s %s: journal and logs are in %s\n", o.Engine, o.Scenario, o.Dir)
	}
	for _, remark := range o.Remarks {
		_, _ = fmt.Fprintf(w, "%s %s: %s\n", o.Engine, o.Scenario, remark)
	}
	for _, name := range slices.Sorted(maps.Keys(o.Timings)) {
		_, _ = fmt.Fprintf(w, "%s %s: %s: %s\n", o.Engine, o.Scenario, name, o.Timings[name].Round(time.Microsecond))
	}
}

// tried is how often each thing was broken.
func tried(faults map[string]int) string {
	var kinds []string
	for _, what := range slices.Sorted(maps.Keys(faults)) {
		kinds = append(kinds, fmt.Sprintf("%d %s", faults[what], what))
	}
	if len(kinds) == 0 {
		return "0"
	}
	return strings.Join(kinds, ", ")
}
