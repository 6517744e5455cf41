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
	if err := wantNames(cmd, names); err != nil {
		return err
	}
	s, err := prog.Connect(cmd)
	if err != nil {
		return err
	}
	defer s.Close()
	var list []did
	err = s.InTx(cmd.Context(), func(tx *sql.Tx) (err error) {
		list = nil
		for _, name := range names {
			if step {
				err = s.Jobs.DeleteStep(cmd.Context(), tx, name)
			} else {
				var n int
				if n, err = s.Jobs.Delete(cmd.Context(), tx, name); err == nil && n == 0 {
					err = fmt.Errorf("%w: job %q", steps.ErrNotFound, name)
				}
			}
			if err != nil {
				return err
			}
			list = append(list, did{name, "deleted"})
		}
		return nil
	})
	if err != nil {
		return s.Explain(err)
	}
	return say(prog, cmd.OutOrStdout(), list)
}
