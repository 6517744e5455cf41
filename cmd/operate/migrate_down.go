package operate

import (
	"errors"
	"time"

	"github.com/spf13/cobra"

	"prescient/cmd/internal/arguments"
	"prescient/cmd/internal/exit"
	"prescient/cmd/internal/program"
	"prescient/sql/migrate"
)

func migrateDownCommand(prog *program.Program) *cobra.Command {
	var yes bool
	var patience time.Duration
	cmd := &cobra.Command{
		Use:   "down --yes",
		Short: "Drop the tables with all that they hold",
		Long: `Drops the tables with all that is pending and all of history. The tables of the orders stay: they are the
app's. A table that somebody has open is tried again until --patience is over, as migrate does. The
next down goes on from there.`,
		Args: arguments.None,
		RunE: func(cmd *cobra.Command, _ []string) error { return migrateDown(cmd, prog, yes, patience) },
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "yes, drop everything that is pending and all of history")
	havePatience(cmd.Flags(), &patience, migrate.DefaultPatience.String(), tableOpen)
	return cmd
}

func migrateDown(cmd *cobra.Command, prog *program.Program, yes bool, patience time.Duration) error {
	if !yes {
		return exit.Usage(errors.New("migrate down drops everything that is pending and all of history; give --yes if that is wanted"))
	}
	return prog.Open(cmd, migrationLease, func(s *program.Session) error {
		undone, err := migrate.Down(cmd.Context(), s.DB.DB, alteringSchema(s, patience))
		if err != nil {
			return stoppedMidway(cmd, s, undone, "undone", err)
		}
		return printMigrated(cmd, s, undone, "undone", "there were no tables")
	})
}
