package schedule

import (
	"fmt"

	"github.com/spf13/cobra"

	"prescient/cmd/internal/arguments"
	"prescient/cmd/internal/output"
	"prescient/cmd/internal/program"
)

func runCommand(prog *program.Program) *cobra.Command {
	return &cobra.Command{
		Use:   "run ID",
		Short: "Run a schedule once, beside what its crontabs say",
		Long: `Runs a schedule once, in the next open slot, or puts its event into the outbox, beside what its crontabs say; also one
that is paused. It prints the id of the run or event, which ` + "`schedule show --run`" + ` takes.`,
		Example: fmt.Sprintf(`  %s schedule run digest/42`, prog.Name),
		Args:    arguments.One("the id of one schedule"),
		RunE:    func(cmd *cobra.Command, args []string) error { return runNow(cmd, prog, args[0]) },
	}
}

func runNow(cmd *cobra.Command, prog *program.Program, id string) error {
	if _, err := wantIDs(cmd, []string{id}); err != nil {
		return err
	}
	s, err := prog.Connect(cmd)
	if err != nil {
		return err
	}
	defer s.Close()
	occurrence, err := s.Schedules.RunNow(cmd.Context(), s.DB, id)
	if err != nil {
		return s.Explain(err)
	}
	if prog.JSON {
		return output.JSON(cmd.OutOrStdout(), struct {
			ID  string `json:"id"`
			Run string `json:"run"`
		}{id, occurrence})
	}
	return output.Say(cmd.OutOrStdout(), "%s", occurrence)
}
