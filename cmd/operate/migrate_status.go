package operate

import (
	"fmt"

	"github.com/spf13/cobra"

	"prescient/cmd/internal/arguments"
	"prescient/cmd/internal/exit"
	"prescient/cmd/internal/output"
	"prescient/cmd/internal/program"
)

func migrateStatusCommand(prog *program.Program) *cobra.Command {
	return &cobra.Command{
		Use:   "status",
		Short: "Say whether the tables are there and up to date; if not, the exit code is 4",
		Args:  arguments.None,
		RunE:  func(cmd *cobra.Command, _ []string) error { return migrateStatus(cmd, prog) },
	}
}

func migrateStatus(cmd *cobra.Command, prog *program.Program) error {
	return openToMigrate(cmd, prog, func(s *program.Session) error {
		missing, err := countMissing(cmd.Context(), s)
		if err != nil {
			return err
		}
		text := fmt.Sprintf("the tables are up to date, for slots of %s", s.Config.Grid)
		if missing > 0 {
			text = fmt.Sprintf("migrations are missing (%d). Run `%s migrate`", missing, prog.Name)
		}
		err = output.Answer(cmd.OutOrStdout(), prog.JSON, reportOf(s, missing), "%s", text)
		if err == nil && missing > 0 {
			return &exit.Error{Code: exit.CodeTables, Err: fmt.Errorf("migrations are missing (%d)", missing), Printed: true}
		}
		return err
	})
}
