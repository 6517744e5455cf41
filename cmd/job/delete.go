package job

import (
	"database/sql"
	"fmt"

	"github.com/spf13/cobra"

	"prescient/cmd/internal/program"
	"prescient/prescient/steps"
)

func deleteCommand(prog *program.Program) *cobra.Command {
	var step bool
	cmd := &cobra.Command{
		Use:   "delete NAME...",
		Short: "Delete jobs, or shared steps",
		Long: `Deletes jobs: all that are named, or none. Their runs that are under way are cancelled; the log of what they did stays, and so do
their versions. With --step it deletes shared steps, which no job may have.`,
		Example: fmt.Sprintf(`  %[1]s job delete nightly
  %[1]s job delete --step export`, prog.Name),
		RunE: func(cmd *cobra.Command, names []string) error { return deleteJobs(cmd, prog, names, step) },
	}
	cmd.Flags().BoolVar(&step, "step", false, "the names are those of shared steps")
	return cmd
}

func deleteJobs(cmd *cobra.Command, prog *program.Program, names []string, step bool) error {
	return kind(prog).Each(cmd, names, func(s *program.Session, tx *sql.Tx, name string) (string, error) {
		if step {
			return "deleted", s.Jobs.DeleteStep(cmd.Context(), tx, name)
		}
		n, err := s.Jobs.Delete(cmd.Context(), tx, name)
		if err == nil && n == 0 {
			err = fmt.Errorf("%w: job %q", steps.ErrNotFound, name)
		}
		return "deleted", err
	})
}
