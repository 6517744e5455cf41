package operate

import (
	"errors"
	"math"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"prescient/cmd/internal/arguments"
	"prescient/cmd/internal/program"
	"prescient/prescient"
	"prescient/sql"
	"prescient/sql/migrate"
)

// tableOpen is what --patience is for.
const tableOpen = "somebody has a table open"

// migrationLease is what the connections of a migration are set for: one of them holds a lock, and is idle, for as long
// as the longest ALTER takes.
const migrationLease = time.Hour

// havePatience adds the flag of commands that alter tables. To the library 0 is the default.
func havePatience(flags *pflag.FlagSet, patience *time.Duration, fallback, while string) {
	arguments.Within(flags, patience, "patience", fallback, 1, math.MaxInt64, "how long to try while "+while)
}

// alteringSchema is for commands that alter the tables.
func alteringSchema(s *program.Session, patience time.Duration) migrate.Schema {
	schema := schemaOf(s)
	schema.Patience, schema.Watch = patience, holdups{s}
	return schema
}

// holdups logs who holds up a change of the tables.
type holdups struct{ *program.Session }

// Held implements migrate.Watcher.
func (h holdups) Held(by *migrate.HeldError) {
	h.Log.Info().Str("table", by.Of).Msg(by.Who() + "; it is tried again")
}

func schemaOf(s *program.Session) migrate.Schema {
	return migrate.Schema{Prefix: s.Config.TablePrefix, Dialect: sql.Dialect(s.Config.Dialect), Resolution: s.Config.Grid.Resolution()}
}

// openToMigrate connects to tables, on Vitess to those of each shard, that may not be there, or lack migrations. Those of another resolution are not to get
// migrations that were made for this one.
func openToMigrate(cmd *cobra.Command, prog *program.Program, do func(s *program.Session) error) error {
	return prog.OpenEach(cmd, migrationLease, func(s *program.Session) error {
		if err := s.NewClient(cmd.Context()); err != nil && (!errors.Is(err, prescient.ErrNotMigrated) || s.Unprepared(cmd.Context())) {
			return err
		}
		return do(s)
	})
}
