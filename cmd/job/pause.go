package job

import (
	"fmt"

	"github.com/spf13/cobra"

	"prescient/cmd/internal/program"
	"prescient/prescient/steps"
)

func pauseCommand(prog *program.Program) *cobra.Command {
	return &cobra.Command{
		Use:     "pause NAME...",
		Short:   "Stop jobs until resume",
		Long:    `Stops jobs until resume: all that are named, or none. What has begun goes on. One that is paused already stays so.`,
		Example: fmt.Sprintf(`  %s job pause nightly`, prog.Name),
		RunE: func(cmd *cobra.Command, names []string) error {
			return switchJobs(cmd, prog, names, false, "paused", (*steps.Jobs).Pause)
		},
	}
}
