package schedule

import (
	"fmt"

	"github.com/spf13/cobra"

	"prescient/cmd/internal/program"
	"prescient/prescient/schedule"
)

func pauseCommand(prog *program.Program) *cobra.Command {
	return &cobra.Command{
		Use:   "pause ID...",
		Short: "Stop schedules until resume",
		Long: `Stops schedules until resume: all that are named, or none. What was due before fires all the same: its runs are called,
with their retries, and its events are put into the outbox at once. The runs of their next occurrences end as superseded. One
that is paused already stays so.`,
		Example: fmt.Sprintf(`  %s schedule pause digest/42 report`, prog.Name),
		RunE: func(cmd *cobra.Command, ids []string) error {
			return switchSchedules(cmd, prog, ids, false, "paused", (*schedule.Schedules).Pause)
		},
	}
}
