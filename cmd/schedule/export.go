package schedule

import (
	"bufio"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"prescient/cmd/internal/arguments"
	"prescient/cmd/internal/exit"
	"prescient/cmd/internal/output"
	"prescient/cmd/internal/program"
	"prescient/cmd/internal/words"
	"prescient/cmd/schedule/file"
	"prescient/prescient/schedule"
	"prescient/prescient/steps"
)

// exportPage is how many schedules are in memory, with their payloads; fewer where those are long.
const exportPage = 500

func exportCommand(prog *program.Program) *cobra.Command {
	var owner, format string
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
	cmd.Flags().StringVar(&owner, "owner", "", "only those of this owner: name/key, as in customer/42")
	cmd.Flags().StringVar(&format, "format", "", "yaml or jsonl (default yaml; with --json jsonl)")
	return cmd
}

func export(cmd *cobra.Command, prog *program.Program, ownerText, formatText string) error {
	if err := arguments.NotEmpty(cmd, "owner", "format"); err != nil {
		return err
	}
	owner, err := ownerOf(ownerText)
	if err != nil {
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
	s, err := prog.Read(cmd)
	if err != nil {
		return err
	}
	defer s.Close()
	out := bufio.NewWriterSize(cmd.OutOrStdout(), 64<<10)
	filter := schedule.Filter{Owner: owner, Limit: exportPage, Payloads: true}
	for {
		page, err := s.Schedules.List(cmd.Context(), s.DB, filter)
		if err != nil {
			return s.Explain(err)
		}
		for _, one := range page {
			if one.JobExec == steps.Exec { // which job export writes
				continue
			}
			if err := file.Write(out, format, file.Of(one.Schedule, one.Enabled)); err != nil {
				return err
			}
			if bad := one.Validate(); bad != nil {
				if err := output.Say(cmd.ErrOrStderr(), "%s: warning: import refuses %q; update it, or delete it: %s", prog.Name, one.ID, words.Clip(words.Of(bad), words.LongestComplaint)); err != nil {
					return err
				}
			}
		}
		if len(page) == 0 {
			return out.Flush()
		}
		filter.After = page[len(page)-1].ID
	}
}
