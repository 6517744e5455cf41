package cmd

import (
	"strconv"

	"github.com/spf13/cobra"

	"prescient/prescient"

	"prescient/prescient/client"
)

// pendingRow is what jobs --json prints.
type pendingRow struct {
	prescient.FutureJob
	Cursor string `json:"cursor"`
}

func (a *app) jobsCommand() *cobra.Command {
	var f listFlags
	cmd := &cobra.Command{
		Use:     "jobs",
		GroupID: groupJobs,
		Short:   "List pending checks, the next first",
		Long: `Lists pending checks in the order in which they come due, a page at a time. With --json each row has its
cursor, with which --after goes on behind it.

By kind of entity and by job_exec they are looked for among --search checks at most. Where that did not suffice stderr
says how to go on, and with --json a last line does: {"more": true, "after": CURSOR, …}.`,
		Args: a.noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.jobs(cmd, f) },
	}
	f.addFlags(cmd, "the slot")
	return cmd
}

func (a *app) jobs(cmd *cobra.Command, f listFlags) error {
	found, err := list(a, cmd, f, (*client.Client).Pending)
	if err != nil {
		return err
	}
	if a.json {
		return found.printJSON(cmd.OutOrStdout(), func(job prescient.FutureJob) any { return pendingRow{job, job.Cursor()} })
	}
	if len(found.rows) == 0 {
		return say(cmd.OutOrStdout(), "%s", found.none)
	}
	var cells [][]string
	for _, job := range found.rows {
		cells = append(cells, []string{stamp(job.NextCheckAt), clip(job.Entity().String(), 60), clean(job.JobExec),
			clip(job.Tag, 30), stamp(job.DueAt), strconv.Itoa(job.CheckCount), orBlank(job.ErrorCount), clip(job.LastError, 60)})
	}
	return printTable(cmd.OutOrStdout(), []column{{title: "slot (UTC)"}, {title: "entity"}, {title: "job_exec"}, {title: "tag"},
		{title: "due at"}, {title: "checks", right: true}, {title: "errors", right: true}, {title: "last error"}}, cells)
}

// orBlank leaves a zero out.
func orBlank(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}
