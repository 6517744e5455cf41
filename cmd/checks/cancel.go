package checks

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"prescient/cmd/internal/arguments"
	"prescient/cmd/internal/exit"
	"prescient/cmd/internal/output"
	"prescient/cmd/internal/program"
	"prescient/prescient/bulk"
	"prescient/sql/migrate"
)

// Cancel returns the command cancel.
func Cancel(prog *program.Program) *cobra.Command {
	var entity string
	var execs []string
	var many manyFlags
	cmd := &cobra.Command{
		Use:   "cancel (--entity NAME/KEY [--exec NAME]... | --exec NAME [--slot TIME] [--entity NAME] (--yes | --dry-run))",
		Short: "Cancel what is pending for an entity, or all that matches",
		Long: `Ends what is pending for an entity as cancelled: all of it, or what the job_execs named do. That nothing
was pending is no failure: it prints how many it cancelled.` + manyHelp,
		Example: fmt.Sprintf(`  %[1]s cancel --entity order/42
  %[1]s cancel --entity order/42 --exec order-unshipped
  %[1]s cancel --exec order-unshipped --slot '2026-03-01 13:00' --dry-run`, prog.Name),
		Args: arguments.None,
		RunE: func(cmd *cobra.Command, _ []string) error { return cancel(cmd, prog, entity, execs, many) },
	}
	cmd.Flags().StringVar(&entity, "entity", "", "whose checks: name/key, as in order/42; or of which kind of entity: order")
	cmd.Flags().StringArrayVar(&execs, "exec", nil, "only the checks of this job_exec; may be given several times")
	many.addFlags(cmd)
	return program.Reasoned(cmd)
}

func cancel(cmd *cobra.Command, prog *program.Program, entity string, execs []string, many manyFlags) error {
	if err := arguments.NotEmpty(cmd, "entity", "slot", "from", "before", "error"); err != nil {
		return err
	}
	if slices.Contains(execs, "") {
		return exit.Usage(errors.New("--exec is empty"))
	}
	many.exec = strings.Join(execs, "")
	if err := many.check(entity); err != nil {
		return err
	}
	if many.are(entity) {
		if len(execs) > 1 {
			return exit.Usage(errors.New("--exec: give one job_exec where no entity is given"))
		}
		return prog.Connect(cmd, func(s *program.Session) error {
			filter, err := many.filter(cmd.Context(), s, entity)
			if err != nil {
				return err
			}
			return doMany(cmd, prog, s, bulk.Asked{Deed: bulk.Cancel, Filter: filter}, many.dryRun, "cancelled")
		})
	}
	e, err := parseEntity(entity)
	if err != nil {
		return err
	}
	return prog.Connect(cmd, func(s *program.Session) error {
		cancelled, err := s.Client.Cancel(cmd.Context(), s.DB, e, execs...)
		if err = s.Explain(err); errors.Is(err, migrate.ErrHeld) {
			err = fmt.Errorf("nothing was cancelled: %w", err)
		}
		if err != nil {
			return err
		}
		err = output.Answer(cmd.OutOrStdout(), prog.JSON, map[string]int{"cancelled": cancelled}, "cancelled %d of %s", cancelled, e.String())
		if err != nil || cancelled > 0 {
			return err
		}
		return s.WarnMisspelt(cmd, "if it is misspelt, nothing is cancelled", execs...)
	})
}
