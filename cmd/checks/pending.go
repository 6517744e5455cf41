package checks

import (
	"strconv"

	"github.com/spf13/cobra"

	"prescient/cmd/internal/arguments"
	"prescient/cmd/internal/output"
	"prescient/cmd/internal/program"
	"prescient/cmd/internal/words"
	"prescient/prescient"
	"prescient/prescient/client"
)

// pendingRow is what pending --json prints.
type pendingRow struct {
	prescient.FutureJob
	Cursor string `json:"cursor"`
}

// Pending returns the command pending.
func Pending(prog *program.Program) *cobra.Command {
	var f listFlags
	cmd := &cobra.Command{
		Use:   "pending",
		Short: "List pending checks, the next first",
		Long: `Lists pending checks in the order in which they come due, a page at a time. With --json each row has its
cursor, with which --after goes on behind it.

By kind of entity and by job_exec they are looked for among --search checks at most. Where that did not suffice stderr
says how to go on, and with --json a last line does: {"more": true, "after": CURSOR, …}.`,
		Args: arguments.None,
		RunE: func(cmd *cobra.Command, _ []string) error { return pendingChecks.print(cmd, prog, f) },
	}
	f.addFlags(cmd, "the slot")
	return cmd
}

// Jobs returns the command pending under the name that it had before, which is one letter from job.
func Jobs(prog *program.Program) *cobra.Command {
	cmd := Pending(prog)
	list := cmd.RunE
	cmd.Use, cmd.Hidden = "jobs", true
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := list(cmd, args); err != nil {
			return err // whose line stands alone on stderr
		}
		return output.Say(cmd.ErrOrStderr(), "The command jobs is now called pending: use %s pending.", cmd.Root().Name())
	}
	return cmd
}

var pendingChecks = listing[prescient.FutureJob]{
	read: (*client.Client).Pending,
	line: func(job prescient.FutureJob) any { return pendingRow{job, job.Cursor()} },
	columns: []output.Column{{Title: "slot (UTC)"}, {Title: "entity"}, {Title: "job_exec"}, {Title: "tag"},
		{Title: "due at"}, {Title: "expires"}, {Title: "checks", Right: true}, {Title: "errors", Right: true}, {Title: "last error", Long: true}},
	cells: func(job prescient.FutureJob) []string {
		return []string{output.Stamp(job.NextCheckAt), words.Clip(job.Entity().String(), 60), words.Clean(job.JobExec),
			words.Clip(job.Tag, 30), output.Stamp(job.DueAt), output.Maybe(job.ExpiresAt), strconv.Itoa(job.CheckCount), output.Count(job.ErrorCount), words.Clean(job.LastError)}
	},
}
