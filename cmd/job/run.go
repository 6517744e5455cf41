package job

import (
	"fmt"

	"github.com/spf13/cobra"

	"prescient/cmd/internal/output"
	"prescient/cmd/internal/program"
)

func runCommand(prog *program.Program) *cobra.Command {
	return &cobra.Command{
		Use:   "run NAME",
		Short: "Run a job once, beside what its crontabs say",
		Long: `Runs a job once, in the next open slot, beside what its crontabs say; also one that is paused. It prints the run, which
"runs" shows.`,
		Example: fmt.Sprintf(`  %s job run nightly`, prog.Name),
		Args:    oneJob,
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := prog.Connect(cmd)
			if err != nil {
				return err
			}
			defer s.Close()
			occurrence, err := s.Jobs.RunNow(cmd.Context(), s.DB, args[0])
			if err != nil {
				return s.Explain(err)
			}
			run := args[0] + "-" + occurrence
			if prog.JSON {
				return output.JSON(cmd.OutOrStdout(), struct {
					Name string `json:"name"`
					Run  string `json:"run"`
				}{args[0], run})
			}
			return output.Say(cmd.OutOrStdout(), "%s", run)
		},
	}
}
