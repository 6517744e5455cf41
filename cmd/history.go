package cmd

import (
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"prescient/prescient/client"
)

// endedRow is what history --json prints.
type endedRow struct {
	client.Ended
	Cursor string `json:"cursor"`
}

func (a *app) historyCommand() *cobra.Command {
	f := listFlags{ofHistory: true}
	cmd := &cobra.Command{
		Use:     "history",
		GroupID: groupJobs,
		Short:   "List ended checks and why they ended, the latest first",
		Long: `Lists ended checks, the latest first, a page at a time. With --json each row has its cursor, with which
--after goes on behind it.

By entity, by time and by cursor ends are found at once. By job_exec, by outcome, by slot and by kind of entity they are
looked for among --search ends from the latest on; give --from and --before to look at other times. With --slot alone
those are the slot and a day after it. Where --search did not suffice stderr says how to go on, and with --json a last
line does: {"more": true, "after": CURSOR, …}.`,
		Args: a.noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.history(cmd, f) },
	}
	f.addFlags(cmd, "the end")
	cmd.Flags().StringVar(&f.outcome, "outcome", "",
		"only with this outcome: done, cancelled, max_checks, past_return, beyond_horizon, failed, timed_out or crashed")
	return cmd
}

func (a *app) history(cmd *cobra.Command, f listFlags) error {
	found, err := list(a, cmd, f, (*client.Client).History)
	if err != nil {
		return err
	}
	if a.json {
		return found.printJSON(cmd.OutOrStdout(), func(ended client.Ended) any { return endedRow{ended, ended.Cursor()} })
	}
	if len(found.rows) == 0 {
		return say(cmd.OutOrStdout(), "%s", found.none)
	}
	var cells [][]string
	for _, end := range found.rows {
		cells = append(cells, []string{stamp(end.EndedAt.Truncate(time.Millisecond)), clip(end.Entity().String(), 60), clean(end.JobExec),
			clip(end.Tag, 30), clean(string(end.Outcome)), stamp(end.Slot), strconv.Itoa(end.CheckCount), lateness(end.LatenessMS),
			milliseconds(end.RunMS), clip(end.Error, 60)})
	}
	return printTable(cmd.OutOrStdout(), []column{{title: "ended (UTC)"}, {title: "entity"}, {title: "job_exec"}, {title: "tag"},
		{title: "outcome"}, {title: "slot"}, {title: "checks", right: true}, {title: "late", right: true},
		{title: "ran", right: true}, {title: "error"}}, cells)
}

func milliseconds(ms int64) string { return (time.Duration(ms) * time.Millisecond).String() }

// lateness is empty where nothing ran.
func lateness(ms *int64) string {
	if ms == nil {
		return ""
	}
	return milliseconds(*ms)
}
