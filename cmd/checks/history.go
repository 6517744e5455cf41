package checks

import (
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"prescient/cmd/internal/arguments"
	"prescient/cmd/internal/output"
	"prescient/cmd/internal/program"
	"prescient/cmd/internal/words"
	"prescient/config/value"
	"prescient/prescient"
	"prescient/prescient/client"
)

// endedRow is what history --json prints.
type endedRow struct {
	client.Ended
	Cursor string `json:"cursor"`
}

// History returns the command history.
func History(prog *program.Program) *cobra.Command {
	f := listFlags{ofHistory: true}
	cmd := &cobra.Command{
		Use:   "history",
		Short: "List ended checks and why they ended, the latest first",
		Long: `Lists ended checks, the latest first, a page at a time. With --json each row has its cursor, with which
--after goes on behind it.

By entity, by time and by cursor ends are found at once. By job_exec, by outcome, by slot and by kind of entity they are
looked for among --search ends from the latest on; give --from and --before to look at other times. With --slot alone
those are the slot and a day after it. Where --search did not suffice stderr says how to go on, and with --json a last
line does: {"more": true, "after": CURSOR, …}.`,
		Args: arguments.None,
		RunE: func(cmd *cobra.Command, _ []string) error { return endedChecks.print(cmd, prog, f) },
	}
	f.addFlags(cmd, "the end")
	arguments.Parsed(cmd.Flags(), &f.outcome, "outcome", "", prescient.ParseOutcome, "only with this outcome: "+anyOutcome())
	return cmd
}

// anyOutcome names all outcomes: done, cancelled, … or quota.
func anyOutcome() string {
	var names []string
	for _, outcome := range prescient.Outcomes() {
		names = append(names, string(outcome))
	}
	return value.List(names, "or")
}

var endedChecks = listing[client.Ended]{
	read: (*client.Client).History,
	line: func(end client.Ended) any { return endedRow{end, end.Cursor()} },
	columns: []output.Column{{Title: "ended (UTC)"}, {Title: "entity"}, {Title: "job_exec"}, {Title: "tag"},
		{Title: "outcome"}, {Title: "slot"}, {Title: "checks", Right: true}, {Title: "late", Right: true},
		{Title: "ran", Right: true}, {Title: "error", Long: true}},
	cells: func(end client.Ended) []string {
		return []string{output.Stamp(end.EndedAt.Truncate(time.Millisecond)), words.Clip(end.Entity().String(), 60), words.Clean(end.JobExec),
			words.Clip(end.Tag, 30), words.Clean(string(end.Outcome)), output.Stamp(end.Slot), strconv.Itoa(end.CheckCount), lateness(end.LatenessMS),
			output.Millis(end.RunMS), words.Clean(end.Error)}
	},
}

// lateness is empty where nothing ran.
func lateness(ms *int64) string {
	if ms == nil {
		return ""
	}
	return output.Millis(*ms)
}
