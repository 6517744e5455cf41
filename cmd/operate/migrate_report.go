package operate

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"prescient/cmd/internal/output"
	"prescient/cmd/internal/program"
	"prescient/sql/migrate"
)

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

// stoppedMidway ends a command in whose middle a migration failed. Those before it are applied, which the next one does not tell.
func stoppedMidway(cmd *cobra.Command, s *program.Session, applied []migrate.Migrated, did string, why error) error {
	if len(applied) > 0 && !s.Program.JSON {
		return errors.Join(s.Explain(why), printMigrated(cmd, s, applied, did, ""))
	}
	return s.Explain(why)
}

func printMigrated(cmd *cobra.Command, s *program.Session, list []migrate.Migrated, did, none string) error {
	out := cmd.OutOrStdout()
	if s.Program.JSON {
		missing, err := countMissing(cmd.Context(), s)
		if err != nil {
			return err
		}
		report := reportOf(s, missing)
		for _, m := range list {
			report.Migrations = append(report.Migrations, migrated{m.Name, m.Took.Milliseconds(), m.CallersLost})
		}
		return output.JSON(out, report)
	}
	p := output.To(out)
	lost := false
	for _, m := range list {
		p.Say("%s %s (%s)", did, m.Name, m.Took.Round(time.Millisecond).String())
		lost = lost || m.CallersLost
	}
	switch {
	case lost:
		p.Say("%s", grantCallers(s.Program))
	case len(list) == 0:
		p.Say("%s", none)
	}
	return p.Err()
}

// grantCallers is what to do where a procedure was made anew.
func grantCallers(prog *program.Program) string {
	return "grant the accounts that cancel by the procedure again to call it: " + prog.Name + " grants --role app-sql (or app, app-reschedule, worker) --user NAME"
}

func countMissing(ctx context.Context, s *program.Session) (int, error) {
	missing, err := migrate.Pending(ctx, s.DB.DB, schemaOf(s))
	return missing, s.Explain(err)
}

func reportOf(s *program.Session, missing int) migrateReport {
	return migrateReport{Prefix: s.Config.TablePrefix, Resolution: s.Config.Grid.String(), Missing: missing}
}
