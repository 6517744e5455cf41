package schedule

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"prescient/cmd/internal/definition"
	"prescient/cmd/internal/exit"
	"prescient/cmd/internal/file"
	"prescient/cmd/internal/output"
	"prescient/cmd/internal/program"
)

// updated is what update --json prints.
type updated struct {
	definition.Done
	Changes []file.Change `json:"changes,omitempty"`
	// Was and Next are what the timer waited for, and waits for, where it was planned anew.
	Was  *time.Time `json:"was,omitempty"`
	Next *time.Time `json:"next,omitempty"`
}

func updateCommand(prog *program.Program) *cobra.Command {
	var f definitionFlags
	cmd := &cobra.Command{
		Use:   "update ID [CRONTAB]...",
		Short: "Change a schedule",
		Long: `Changes what is given of a schedule; all else stays. Crontabs take the place of all that there were. 0s takes a
duration back to its default, and --long=false all that is for long runs.

What was due before goes on as the schedule says from then on: runs that wait, or are to be tried again, with their counts,
and events that were not sent yet. A run that is under way ends as superseded, and is not repeated. Where crontabs, zone and
jitter stay its next occurrence does too; else it fires from now on. One that is paused stays so. That nothing is changed is
no failure: then its next occurrence is planned anew by the time zones of this machine, as after an update of them.`,
		Example: fmt.Sprintf(`  %[1]s schedule update digest/42 '0 8 * * mon-fri'
  %[1]s schedule update digest/42 --payload-file digest.json --no-owner
  %[1]s schedule update digest/42                     # plans it anew by this machine's time zones`, prog.Name),
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return exit.Usage(errors.New("schedule update takes the id of a schedule, but was given none"))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return update(cmd, prog, f, args[0], args[1:]) },
	}
	f.addFlags(cmd)
	cmd.Flags().BoolVar(&f.noPayload, "no-payload", false, "take its payload away")
	cmd.Flags().BoolVar(&f.long.noPool, "no-pool", false, "its long runs are those of the pool of its job_exec")
	cmd.Flags().BoolVar(&f.noHeartbeat, "no-heartbeat", false, "let nothing be told of its runs or events")
	cmd.Flags().BoolVar(&f.noOwner, "no-owner", false, "let it belong to nobody")
	return cmd
}

func update(cmd *cobra.Command, prog *program.Program, f definitionFlags, id string, crontabs []string) error {
	if _, err := wantIDs(cmd, []string{id}); err != nil {
		return err
	}
	change, err := f.read(cmd, crontabs)
	if err != nil {
		return err
	}
	return prog.ConnectWithExecs(cmd, func(s *program.Session) error {
		before, after, err := s.Schedules.Edit(cmd.Context(), s.DB, id, change)
		if err != nil {
			return s.Explain(err)
		}
		report := updated{Done: definition.Done{ID: id, Did: "changed"}, Changes: file.Between(before, after)}
		if len(report.Changes) == 0 {
			was, is, err := s.Schedules.PlanAnew(cmd.Context(), s.DB, id)
			if err != nil {
				return s.Explain(err)
			}
			report.Did = "kept"
			if !is.Equal(was) {
				report.Did, report.Next = "planned", &is
				if !was.IsZero() {
					report.Was = &was
				}
			}
		}
		err = printUpdated(cmd, prog, report)
		if err != nil || before.JobExec == after.JobExec {
			return err
		}
		return warn(cmd, s, after.JobExec)
	})
}

func printUpdated(cmd *cobra.Command, prog *program.Program, report updated) error {
	if prog.JSON {
		return output.JSON(cmd.OutOrStdout(), report)
	}
	if report.Next != nil && report.Was == nil {
		return output.Say(cmd.OutOrStdout(), "planned anew: %s had no timer, and waits for %s (UTC) now", report.ID, output.Stamp(*report.Next))
	}
	if report.Next != nil {
		return output.Say(cmd.OutOrStdout(), "planned anew: %s waits for %s (UTC), and no longer for %s", report.ID, output.Stamp(*report.Next), output.Stamp(*report.Was))
	}
	if len(report.Changes) == 0 {
		return output.Say(cmd.OutOrStdout(), "kept: %s is so already", report.ID)
	}
	p := output.To(cmd.OutOrStdout())
	for _, c := range report.Changes {
		p.Say("changed: %s: %s", report.ID, c)
	}
	return p.Err()
}
