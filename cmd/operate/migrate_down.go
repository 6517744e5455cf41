package operate

import (
	"errors"

	"github.com/spf13/cobra"

	"prescient/cmd/internal/arguments"
	"prescient/cmd/internal/exit"
	"prescient/cmd/internal/program"
	"prescient/sql"
)

func migrateDownCommand(prog *program.Program) *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use:   "down --yes",
		Short: "Drop the tables with all that they hold",
		Long: `Drops the tables with all that is pending and all of history. The tables of the orders stay: they are the
app's.`,
		Args: arguments.None,
		RunE: func(cmd *cobra.Command, _ []string) error { return migrateDown(cmd, prog, yes) },
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "yes, drop everything that is pending and all of history")
	return cmd
}

func migrateDown(cmd *cobra.Command, prog *program.Program, yes bool) error {
	if !yes {
		return exit.Usage(errors.New("migrate down drops everything that is pending and all of history; give --yes if that is wanted"))
	}
	s, err := prog.Open(cmd, migrationLease)
	if err != nil {
		return err
	}
	defer s.Close()
	undone, err := sql.Down(cmd.Context(), s.DB.DB, schemaOf(s))
	if err != nil {
		return s.Explain(err)
	}
	return printMigrated(cmd, s, undone, "undone", "there were no tables")
}
