package operate

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"prescient/cmd/internal/arguments"
	"prescient/cmd/internal/program"
	"prescient/jobs/orders"
	"prescient/prescient/audit"
	"prescient/prescient/prune"
	"prescient/sql"
	"prescient/sql/migrate"
)

// Migrate returns the command migrate.
func Migrate(prog *program.Program) *cobra.Command {
	var repair, dry bool
	var patience time.Duration
	up := func(cmd *cobra.Command, _ []string) error {
		switch {
		case repair:
			return migrateForRepair(cmd, prog, dry, patience)
		case dry:
			return migratePlan(cmd, prog)
		}
		return migrateUp(cmd, prog, patience)
	}
	cmd := &cobra.Command{
		Use:   "migrate",
		Short: "Make the tables, or bring them up to date",
		Long: `Makes the tables, or applies the migrations that they lack; with jobs.orders.enabled also those of the orders.
Then makes ready the partitions of history for the coming eight weeks, as prune does.

It may be called at any time, by several at once; on the keyspace of a Vitess it makes those of each shard. The resolution is fixed by the first migration.

What goes on meanwhile is held up for a second at a time (MariaDB: three): a table that somebody has open, such as an
analyst in a long query, is tried again and again until --patience is over. Then the exit code is 7, and stderr says
which connection it was. The next migrate goes on from there. A table that it copies takes no writes meanwhile.

With --repair it then restores what the migrations made and somebody dropped or changed, and says each thing: procedures
(also one whose definer is gone: it gets the account that repairs), views, defaults, CHECKs and indexes, at the
resolution that slot_config has. Of a view it sees that it is gone or cannot be read, not that it reads something else.
It touches no row. It cannot restore tables and columns, whose rows and values are gone: it names them, with the
statement that makes them empty, and the exit code is 4; 7 where nothing is left but what was held open. It may be run again. While a CHECK or an index is added, the
server reads or copies the table, and inserts wait.

With --dry-run it prints the statements only, of the migrations that are missing or of the repair, and changes nothing.
Before those of a migration stands what it locks and what it copies.`,
		Args: arguments.None,
		RunE: up,
	}
	cmd.Flags().BoolVar(&repair, "repair", false, "restore procedures, views, defaults, CHECKs and indexes that are missing or changed")
	cmd.Flags().BoolVar(&dry, "dry-run", false, "print what it would send, and change nothing")
	same := &cobra.Command{Use: "up", Short: "The same as migrate", Args: arguments.None, RunE: up}
	havePatience(cmd.Flags(), &patience, migrate.DefaultPatience.String(), tableOpen)
	havePatience(same.Flags(), &patience, migrate.DefaultPatience.String(), tableOpen)
	cmd.AddCommand(program.Reasoned(same), migrateDownCommand(prog), migrateStatusCommand(prog))
	return program.Reasoned(cmd)
}

func migrateUp(cmd *cobra.Command, prog *program.Program, patience time.Duration) error {
	return openToMigrate(cmd, prog, func(s *program.Session) error {
		applied, err := migrate.Up(cmd.Context(), s.DB.DB, alteringSchema(s, patience))
		if err != nil {
			return stoppedMidway(cmd, s, applied, "applied", err)
		}
		if err := s.NewClient(cmd.Context()); err != nil {
			return err
		}
		if len(applied) > 0 {
			warnOfChecks(cmd.Context(), s)
			if err := recordMigrated(cmd.Context(), s, applied); err != nil {
				return err
			}
		}
		if o := s.Config.Jobs.Orders; o.Enabled {
			if err := orders.CreateTables(cmd.Context(), s.DB, o.TablePrefix); err != nil {
				return s.Explain(err)
			}
		}
		if err := keepPartitions(cmd.Context(), s, patience); err != nil {
			return err
		}
		return printMigrated(cmd, s, applied, "applied", "the tables are up to date")
	})
}

// recordMigrated writes the audit of migrations. Those that an earlier command applied, which did not come that far, are not in it.
func recordMigrated(ctx context.Context, s *program.Session, applied []migrate.Migrated) error {
	log, err := audit.Open(ctx, s.DB, audit.Options{Prefix: s.Config.TablePrefix, Dialect: sql.Dialect(s.Config.Dialect)})
	if err != nil {
		return s.Explain(err)
	}
	var names []string
	for _, m := range applied {
		names = append(names, m.Name)
	}
	return s.Explain(log.Record(ctx, s.DB, audit.Entry{Kind: audit.Installation, ID: audit.InstallationID, Verb: "migrate",
		After: map[string][]string{"applied": names}}))
}

// warnOfChecks says which CHECKs the migrations left out, since rows of before do not keep to them.
func warnOfChecks(ctx context.Context, s *program.Session) {
	found, err := migrate.Damages(ctx, s.DB.DB, schemaOf(s))
	if err != nil {
		s.Log.Debug().Err(err).Msg("the tables were not compared with the migrations")
		return
	}
	for _, d := range found {
		if d.Kind == migrate.DamagedCheck {
			s.Log.Warn().Str("check", d.Name).Msg("a CHECK was left out: there are rows of before that do not keep to it. " +
				"They run and end as they would have; migrate --repair adds it once they are gone")
		}
	}
}

// keepPartitions makes the partitions of history that are missing. That somebody holds history open is no failure of the
// migration: there is time until the last partition is reached.
func keepPartitions(ctx context.Context, s *program.Session, patience time.Duration) error {
	report, err := prune.KeepPartitions(ctx, s.DB, prune.Options{Prefix: s.Config.TablePrefix, Patience: patience, Log: s.Log})
	switch {
	case errors.Is(err, prune.ErrHistoryHeld), errors.Is(err, prune.ErrPruning):
		s.Log.Warn().Err(err).Msg("partitions of history are missing; migrate again, or prune")
		return nil
	case report.Undivided:
		s.Log.Warn().Msg("history has no partition for what ends now, and too many rows lie in the last one; see prune --help")
	case len(report.Made) > 0:
		s.Log.Info().Int("weeks", len(report.Made)).Time("until", report.ReadyUntil).Msg("partitions of history were made ready")
	}
	return s.Explain(err)
}
