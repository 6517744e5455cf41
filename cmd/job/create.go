package job

import (
	"fmt"

	"github.com/spf13/cobra"

	"prescient/cmd/internal/arguments"
	"prescient/cmd/internal/program"
)

func createCommand(prog *program.Program) *cobra.Command {
	return &cobra.Command{
		Use:   "create FILE",
		Short: "Create the jobs and shared steps of a file",
		Long: `Creates the jobs and shared steps of a file, or with - of stdin: all of them, or none. What is there with the same
definition stays as it is; with another one it is refused: import --update changes it, and edit.

` + fileFormat,
		Example: fmt.Sprintf(`  %s job create nightly.yaml`, prog.Name),
		Args:    arguments.File,
		RunE:    func(cmd *cobra.Command, args []string) error { return take(cmd, prog, importFlags{}, args[0]) },
	}
}
