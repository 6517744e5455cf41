package schedule

import (
	"github.com/spf13/cobra"

	"prescient/cmd/internal/arguments"
	"prescient/cmd/internal/program"
)

// Command returns the command schedule.
func Command(prog *program.Program) *cobra.Command {
	schedule := &cobra.Command{
		Use:   "schedule",
		Short: "Create, change and list schedules, and say when crontabs fire",
		Long: `A schedule turns crontabs into work: whenever one of them says so, it runs a job_exec, or sends an event to a topic. Workers
fire it, as they do all checks.`,
		Args: arguments.None,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	schedule.AddCommand(listCommand(prog), showCommand(prog), nextCommand(prog), exportCommand(prog), versionsCommand(prog))
	for _, changes := range []*cobra.Command{createCommand(prog), updateCommand(prog), deleteCommand(prog), pauseCommand(prog), resumeCommand(prog),
		runCommand(prog), importCommand(prog), backCommand(prog)} {
		schedule.AddCommand(program.Reasoned(changes))
	}
	return schedule
}
