package schedule

import (
	"fmt"

	"github.com/spf13/cobra"

	"prescient/cmd/internal/program"
	"prescient/prescient/schedule"
)

func resumeCommand(prog *program.Program) *cobra.Command {
	return &cobra.Command{
		Use:   "resume ID...",
		Short: "Let schedules that were paused fire again",
		Long: `Lets schedules fire again, from now on: all that are named, or none. What was due meanwhile is not missed. One that is
not paused stays as it is.`,
		Example: fmt.Sprintf(`  %s schedule resume digest/42 report`, prog.Name),
		RunE: func(cmd *cobra.Command, ids []string) error {
			return switchSchedules(cmd, prog, ids, true, "resumed", (*schedule.Schedules).Resume)
		},
	}
}
