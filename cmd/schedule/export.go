package schedule

import (
	"bufio"
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"prescient/cmd/internal/arguments"
	"prescient/cmd/internal/definition"
	"prescient/cmd/internal/exit"
	"prescient/cmd/internal/file"
	"prescient/cmd/internal/output"
	"prescient/cmd/internal/program"
	"prescient/cmd/internal/words"
	"prescient/prescient"
	"prescient/prescient/schedule"
	"prescient/prescient/steps"
)

// exportPage is how many schedules are in memory, with their payloads; fewer where those are long.
const exportPage = 500

func exportCommand(prog *program.Program) *cobra.Command {
	var owner prescient.Entity
	var format string
	cmd := &cobra.Command{
		Use:   "export",
		Short: "Write schedules as YAML or JSON lines",
		Long: `Writes schedules to stdout, in the order of their ids, as import reads them: to import them where they come from changes
nothing. What changes meanwhile is as it was before, or after. One that plain SQL inserted and that is no good is written,
too, with a warning: import refuses it, and with it the file.`,
		Example: fmt.Sprintf(`  %[1]s schedule export --owner customer/42 > schedules.yaml
  %[1]s schedule export --format jsonl | gzip > schedules.jsonl.gz`, prog.Name),
		Args: arguments.None,
		RunE: func(cmd *cobra.Command, _ []string) error { return export(cmd, prog, owner, format) },
	}
	addOwner(cmd.Flags(), &owner, "only those of this owner: name/key, as in customer/42")
	cmd.Flags().StringVar(&format, "format", "", "yaml or jsonl (default yaml; with --json jsonl)")
	return cmd
}

func export(cmd *cobra.Command, prog *program.Program, owner prescient.Entity, formatText string) (err error) {
	if err := arguments.NotEmpty(cmd, "owner", "format"); err != nil {
		return err
	}
	format := file.YAML
	if prog.JSON {
		format = file.JSONL
	}
	if formatText != "" {
		if format, err = file.ParseFormat(formatText); err != nil {
			return exit.Usage(fmt.Errorf("--%w", err))
		}
	}
	if prog.JSON && format != file.JSONL {
		return exit.Usage(errors.New("--json is for --format jsonl"))
	}
	return prog.Read(cmd, func(s *program.Session) error {
		out := bufio.NewWriterSize(cmd.OutOrStdout(), 64<<10)
		filter := schedule.Filter{Owner: owner, Limit: exportPage, Payloads: true}
		err = eachSchedule(cmd.Context(), s, s.DB, filter, 1, func(one schedule.Stored) error { // a page may end early
			if one.JobExec == steps.Exec { // which job export writes
				return nil
			}
			err := file.WriteSchedule(out, format, file.Of(one.Schedule, one.Enabled))
			if bad := one.Validate(); err == nil && bad != nil {
				err = output.Say(cmd.ErrOrStderr(), "%s: warning: import refuses %q; update it, or delete it: %s", prog.Name, one.ID, words.Clip(words.Of(bad), words.LongestComplaint))
			}
			return err
		})
		if err != nil {
			return s.Explain(err)
		}
		return out.Flush()
	})
}

// eachSchedule calls do for all schedules that a filter lets pass, in the order of their ids. A page of fewer than full is the last.
func eachSchedule(ctx context.Context, s *program.Session, db prescient.DB, filter schedule.Filter, full int, do func(schedule.Stored) error) error {
	return definition.Pages(full, func(after string) ([]schedule.Stored, error) {
		filter.After = after
		return s.Schedules.List(ctx, db, filter)
	}, func(one schedule.Stored) string { return one.ID }, do)
}
