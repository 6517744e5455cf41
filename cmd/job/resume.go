package job

import (
	"fmt"

	"github.com/spf13/cobra"

	"prescient/cmd/internal/program"
	"prescient/prescient/steps"
)

func resumeCommand(prog *program.Program) *cobra.Command {
	return &cobra.Command{
		Use:   "resume NAME...",
		Short: "Let jobs that were paused run again",
		Long: `Lets jobs run again, from now on: all that are named, or none. What was due meanwhile is not missed. One that is not paused
stays as it is.`,
		Example: fmt.Sprintf(`  %s job resume nightly`, prog.Name),
		RunE: func(cmd *cobra.Command, names []string) error {
			return switchJobs(cmd, prog, names, true, "resumed", (*steps.Jobs).Resume)
		},
	}
}
