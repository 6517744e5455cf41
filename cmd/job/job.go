package job

import (
	"github.com/spf13/cobra"

	"prescient/cmd/internal/arguments"
	"prescient/cmd/internal/program"
)

// Command returns the command job.
func Command(prog *program.Program) *cobra.Command {
	job := &cobra.Command{
		Use:   "job",
		Short: "Create, change and list jobs of several steps",
		Long: `A job takes its steps one after another, whenever one of its crontabs says so: each is a job_exec and its arguments. Steps
may be shared by several jobs. Workers run jobs, as long runs; a change takes effect with the next run that begins.`,
		Args: arguments.None,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	job.AddCommand(showCommand(prog), listCommand(prog), exportCommand(prog), versionsCommand(prog))
	for _, changes := range []*cobra.Command{createCommand(prog), editCommand(prog), pauseCommand(prog), resumeCommand(prog), runCommand(prog), deleteCommand(prog),
		importCommand(prog), backCommand(prog)} {
		job.AddCommand(program.Reasoned(changes))
	}
	return job
}
