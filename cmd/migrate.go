package cmd

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"prescient/jobs/orders"
	"prescient/prescient"
	"prescient/sql"

	"prescient/prescient/prune"
)

// migrationLease is what the connections of a migration are set for: one of them holds a lock, and is idle, for as long
// as the longest ALTER takes.
const migrationLease = time.Hour

// migrateReport is what migrate --json prints.
type migrateReport struct {
	Prefix     string     `json:"prefix"`
	Resolution string     `json:"resolution"`
	Migrations []migrated `json:"migrations,omitempty"`
	Missing    int        `json:"missing"`
}

type migrated struct {
	Name   string `json:"name"`
	TookMS int64  `json:"took_ms"`
	// CallersLost: the accounts that cancel by the procedure have to be granted again to call it.
	CallersLost bool `json:"callers_lost,omitempty"`
}

func (a *app) migrateCommand() *cobra.Command {
	var repair, dry bool
	up := func(cmd *cobra.Command, _ []string) error {
		switch {
		case repair:
			return a.migrateForRepair(cmd, dry)
		case dry:
			return usage(errors.New("--dry-run is for --repair: give both"))
		}
		return a.migrateUp(cmd)
	}
	cmd := &cobra.Command{
		Use:     "migrate",
		GroupID: groupSetup,
		Short:   "Make the tables, or bring them up to date",
		Long: `Makes the tables, or applies the migrations that they lack; with jobs.orders.enabled also those of the orders.
Then makes ready the partitions of history for the coming eight weeks, as prune does.

It may be called at any time, by several at once. The resolution is fixed by the first migration.

With --repair it then restores what the migrations made and somebody dropped or changed, and says each thing: procedures
(also one whose definer is gone: it gets the account that repairs), views, defaults, CHECKs and indexes, at the resolution
that slot_config has. Of a view it sees that it is gone or cannot be read, not that it reads something else. It touches no row. It cannot restore tables and columns, whose rows and values are gone: it names
them, with the statement that makes them empty, and the exit code is 4. It may be run again. While a CHECK or an index is
added, the server reads or copies the table, and inserts wait. --dry-run prints the statements only.`,
		Args: a.noArgs,
		RunE: up,
	}
	cmd.Flags().BoolVar(&repair, "repair", false, "restore procedures, views, defaults, CHECKs and indexes that are missing or changed")
	cmd.Flags().BoolVar(&dry, "dry-run", false, "with --repair: print what it would send, and change nothing")
	var yes bool
	down := &cobra.Command{
		Use:   "down --yes",
		Short: "Drop the tables with all that they hold",
		Long: `Drops the tables with all that is pending and all of history. The tables of the orders stay: they are the
app's.`,
		Args: a.noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.migrateDown(cmd, yes) },
	}
	down.Flags().BoolVar(&yes, "yes", false, "yes, drop everything that is pending and all of history")
	cmd.AddCommand(
		&cobra.Command{Use: "up", Short: "The same as migrate", Args: a.noArgs, RunE: up},
		down,
		&cobra.Command{
			Use:   "status",
			Short: "Say whether the tables are there and up to date; if not, the exit code is 4",
			Args:  a.noArgs,
			RunE:  func(cmd *cobra.Command, _ []string) error { return a.migrateStatus(cmd) },
		},
	)
	return cmd
}

func (s *session) schema() sql.Schema {
	return sql.Schema{Prefix: s.config.TablePrefix, Resolution: s.config.Grid.Resolution()}
}

func (a *app) migrateUp(cmd *cobra.Command) error {
	s, err := a.open(cmd, migrationLease)
	if err != nil {
		return err
	}
	defer s.close()
	// Tables of another resolution are not to get migrations that were made for this one.
	if err := s.newClient(cmd.Context()); err != nil && !errors.Is(err, prescient.ErrNotMigrated) {
		return err
	}
	applied, err := sql.Up(cmd.Context(), s.db.DB, s.schema())
	if err != nil {
		return s.stopped(cmd, applied, err)
	}
	if err := s.newClient(cmd.Context()); err != nil {
		return err
	}
	if len(applied) > 0 {
		s.warnOfChecks(cmd.Context())
	}
	if s.config.Jobs.Orders.Enabled {
		if err := orders.CreateTables(cmd.Context(), s.db, s.config.TablePrefix); err != nil {
			return s.explain(err)
		}
	}
	if err := s.keepPartitions(cmd.Context()); err != nil {
		return err
	}
	return s.printMigrated(cmd, applied, "applied", "the tables are up to date")
}

// stopped ends a command in whose middle a migration failed. Those before it are applied, which the next one does not tell.
func (s *session) stopped(cmd *cobra.Command, applied []sql.Migrated, why error) error {
	if len(applied) > 0 && !s.app.json {
		return errors.Join(s.explain(why), s.printMigrated(cmd, applied, "applied", ""))
	}
	return s.explain(why)
}

// warnOfChecks says which CHECKs the migrations left out, since rows of before do not keep to them.
func (s *session) warnOfChecks(ctx context.Context) {
	found, err := sql.Damages(ctx, s.db.DB, s.schema())
	if err != nil {
		s.log.Debug().Err(err).Msg("the tables were not compared with the migrations")
		return
	}
	for _, d := range found {
		if d.Kind == sql.DamagedCheck {
			s.log.Warn().Str("check", d.Name).Msg("a CHECK was left out: there are rows of before that do not keep to it. " +
				"They run and end as they would have; migrate --repair adds it once they are gone")
		}
	}
}

// keepPartitions makes the partitions of history that are missing. That somebody holds history open is no failure of the
// migration: there is time until the last partition is reached.
func (s *session) keepPartitions(ctx context.Context) error {
	report, err := prune.KeepPartitions(ctx, s.db, prune.Options{Prefix: s.config.TablePrefix, Log: s.log})
	switch {
	case errors.Is(err, prune.ErrHistoryHeld), errors.Is(err, prune.ErrPruning):
		s.log.Warn().Err(err).Msg("partitions of history are missing; migrate again, or prune")
		return nil
	case report.Undivided:
		s.log.Warn().Msg("history has no partition for what ends now, and too many rows lie in the last one; see prune --help")
	case len(report.Made) > 0:
		s.log.Info().Int("weeks", len(report.Made)).Time("until", report.ReadyUntil).Msg("partitions of history were made ready")
	}
	return s.explain(err)
}

func (a *app) migrateDown(cmd *cobra.Command, yes bool) error {
	if !yes {
		return usage(errors.New("migrate down drops everything that is pending and all of history; give --yes if that is wanted"))
	}
	s, err := a.open(cmd, migrationLease)
	if err != nil {
		return err
	}
	defer s.close()
	undone, err := sql.Down(cmd.Context(), s.db.DB, s.schema())
	if err != nil {
		return s.explain(err)
	}
	return s.printMigrated(cmd, undone, "undone", "there were no tables")
}

func (s *session) printMigrated(cmd *cobra.Command, list []sql.Migrated, did, none string) error {
	out := cmd.OutOrStdout()
	if s.app.json {
		missing, err := s.missing(cmd.Context())
		if err != nil {
			return err
		}
		report := s.report(missing)
		for _, m := range list {
			report.Migrations = append(report.Migrations, migrated{m.Name, m.Took.Milliseconds(), m.CallersLost})
		}
		return printJSON(out, report)
	}
	lost := false
	for _, m := range list {
		if err := say(out, "%s %s (%s)", did, m.Name, m.Took.Round(time.Millisecond).String()); err != nil {
			return err
		}
		lost = lost || m.CallersLost
	}
	if lost {
		return say(out, "%s", s.app.grantCallers())
	}
	if len(list) == 0 {
		return say(out, "%s", none)
	}
	return nil
}

// grantCallers is what to do where a procedure was made anew.
func (a *app) grantCallers() string {
	return "grant the accounts that cancel by the procedure again to call it: " + a.options.Program + " grants --role app-sql (or app, app-reschedule, worker) --user NAME"
}

func (s *session) missing(ctx context.Context) (int, error) {
	missing, err := sql.Pending(ctx, s.db.DB, s.schema())
	return missing, s.explain(err)
}

func (s *session) report(missing int) migrateReport {
	return migrateReport{Prefix: s.config.TablePrefix, Resolution: s.config.Grid.String(), Missing: missing}
}

func (a *app) migrateStatus(cmd *cobra.Command) error {
	s, err := a.open(cmd, migrationLease)
	if err != nil {
		return err
	}
	defer s.close()
	if err := s.newClient(cmd.Context()); err != nil && !errors.Is(err, prescient.ErrNotMigrated) {
		return err
	}
	missing, err := s.missing(cmd.Context())
	if err != nil {
		return err
	}
	if a.json {
		err = printJSON(cmd.OutOrStdout(), s.report(missing))
	} else if missing == 0 {
		err = say(cmd.OutOrStdout(), "the tables are up to date, for slots of %s", s.config.Grid.String())
	} else {
		err = say(cmd.OutOrStdout(), "%d migrations are missing; %s migrate applies them", missing, a.options.Program)
	}
	if err == nil && missing > 0 {
		return &coded{code: ExitTables, err: fmt.Errorf("%d migrations are missing", missing), said: true}
	}
	return err
}
