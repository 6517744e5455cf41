package operate

import (
	"strings"

	"github.com/spf13/cobra"

	"prescient/cmd/internal/output"
	"prescient/cmd/internal/program"
	"prescient/sql/migrate"
)

// migrationPlan is what migrate --dry-run --json prints.
type migrationPlan struct {
	migrateReport
	Migrations []plannedMigration `json:"migrations"`
}

type plannedMigration struct {
	Name       string   `json:"name"`
	About      string   `json:"about"`
	Statements []string `json:"statements"`
}

// migratePlan prints what migrate would send.
func migratePlan(cmd *cobra.Command, prog *program.Program) error {
	return openToMigrate(cmd, prog, func(s *program.Session) error {
		list, err := migrate.Plan(cmd.Context(), s.DB.DB, schemaOf(s))
		if err != nil {
			return s.Explain(err)
		}
		out := cmd.OutOrStdout()
		if prog.JSON {
			plan := migrationPlan{reportOf(s, len(list)), []plannedMigration{}}
			for _, m := range list {
				plan.Migrations = append(plan.Migrations, plannedMigration(m))
			}
			return output.JSON(out, plan)
		}
		p := output.To(out)
		if len(list) == 0 {
			p.Say("the tables are up to date")
		}
		for _, m := range list {
			p.Text("-- " + m.Name + "\n-- " + strings.ReplaceAll(m.About, "\n", "\n-- ") + "\n")
			sayStatements(p, m.Statements)
		}
		return p.Err()
	})
}
