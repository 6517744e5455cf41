package rule

import (
	"bufio"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"prescient/cmd/internal/exit"
	"prescient/cmd/internal/file"
	"prescient/cmd/internal/program"
	"prescient/prescient/rule"
	"prescient/prescient/rulebook"
)

// entryOf is a rule as it stands in a file.
func entryOf(r rulebook.Stored) file.Entry {
	one, enabled := r.Rule, r.State == rule.On
	return file.Entry{Rule: &one, Enabled: &enabled}
}

func exportCommand(prog *program.Program) *cobra.Command {
	return &cobra.Command{
		Use:   "export [NAME...]",
		Short: "Write rules as YAML",
		Long:  `Writes rules to stdout, as import reads them: those that are named, or all. To import them where they come from changes nothing.`,
		Example: fmt.Sprintf(`  %[1]s rule export > rules.yaml
  %[1]s rule export remind`, prog.Name),
		RunE: func(cmd *cobra.Command, names []string) error { return export(cmd, prog, names) },
	}
}

func export(cmd *cobra.Command, prog *program.Program, names []string) error {
	if prog.JSON {
		return exit.Usage(errors.New("rule export writes YAML: --json is not for it"))
	}
	if len(names) > 0 {
		if _, err := wantNames(cmd, names); err != nil {
			return err
		}
	}
	return prog.ReadEach(cmd, func(s *program.Session) error {
		if err := s.OneShard("rule export"); err != nil {
			return err
		}
		var all []file.Entry
		for _, name := range names {
			r, err := s.Rules.Get(cmd.Context(), s.DB, name)
			if err != nil {
				return s.Explain(err)
			}
			all = append(all, entryOf(r))
		}
		if len(names) == 0 {
			if err := each(cmd.Context(), s, func(r rulebook.Stored) { all = append(all, entryOf(r)) }); err != nil {
				return s.Explain(err)
			}
		}
		out := bufio.NewWriter(cmd.OutOrStdout())
		if err := file.Write(out, all...); err != nil {
			return err
		}
		return out.Flush()
	})
}
