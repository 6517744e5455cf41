package job

import (
	"fmt"

	"github.com/spf13/cobra"

	"prescient/cmd/internal/arguments"
	"prescient/cmd/internal/program"
)

const fileFormat = `A file is YAML, a list of jobs and shared steps, or one a document. Of a job: job (its name), crontab (a text or a list), zone,
steps, pool, heartbeat, overlap, tolerance, quota, catch_up, catch_up_within, expires_after, jitter, coalesce, enabled. Of a step: step (the name of
a shared one) or name (of one of a job), exec, arguments (any value, which becomes JSON), timeout, retries, retry_wait, on_failure (stop
or continue). A step of a job that is a text is the shared step of this name:

  - step: export
    exec: export-orders
    arguments: {table: orders}
  - job: nightly
    crontab: 0 3 * * *
    steps:
      - export
      - name: report
        exec: send-report
        retries: 3

Schedules and rules may stand in the same file: they are checked, too, and left to schedule import and rule import.`

// importFlags are the flags of import.
type importFlags struct{ update, dryRun bool }

func importCommand(prog *program.Program) *cobra.Command {
	var f importFlags
	cmd := &cobra.Command{
		Use:   "import FILE",
		Short: "Create and change jobs and shared steps as a file says",
		Long: `Creates the jobs and shared steps of a file, or with - of stdin, and with --update changes those that are there with
another definition: all of them, or none. The difference is printed before it is made: + created, ~ changed, with the lines that change.
--dry-run prints it and does nothing.

` + fileFormat,
		Example: fmt.Sprintf(`  %[1]s job import jobs.yaml --update --dry-run
  %[1]s job export | ssh other %[1]s job import - --update`, prog.Name),
		Args: arguments.File,
		RunE: func(cmd *cobra.Command, args []string) error { return take(cmd, prog, f, args[0]) },
	}
	cmd.Flags().BoolVar(&f.update, "update", false, "change those that are there with another definition")
	cmd.Flags().BoolVar(&f.dryRun, "dry-run", false, "only print what would be done")
	return cmd
}
