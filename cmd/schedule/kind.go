package schedule

import (
	"fmt"

	"github.com/spf13/cobra"

	"prescient/cmd/internal/arguments"
	"prescient/cmd/internal/definition"
	"prescient/cmd/internal/program"
)

// kind is what schedules have of their own, where they are treated as jobs are.
func kind(prog *program.Program) definition.Kind {
	return definition.Kind{Prog: prog, Names: wantIDs, WasSo: " was so already",
		Named: func(id string) definition.Done { return definition.Done{ID: id} },
		Of:    func(s *program.Session) definition.Definitions { return s.Schedules }}
}

func pauseCommand(prog *program.Program) *cobra.Command {
	return kind(prog).Pause(&cobra.Command{
		Use:   "pause ID...",
		Short: "Stop schedules until resume",
		Long: `Stops schedules until resume: all that are named, or none. What was due before fires all the same: its runs are called,
with their retries, and its events are put into the outbox at once. The runs of their next occurrences end as superseded. One
that is paused already stays so.`,
		Example: fmt.Sprintf(`  %s schedule pause digest/42 report`, prog.Name),
	})
}

func resumeCommand(prog *program.Program) *cobra.Command {
	return kind(prog).Resume(&cobra.Command{
		Use:   "resume ID...",
		Short: "Let schedules that were paused fire again",
		Long: `Lets schedules fire again, from now on: all that are named, or none. What was due meanwhile is not missed. One that is
not paused stays as it is.`,
		Example: fmt.Sprintf(`  %s schedule resume digest/42 report`, prog.Name),
	})
}

func runCommand(prog *program.Program) *cobra.Command {
	return kind(prog).Run(&cobra.Command{
		Use:   "run ID",
		Short: "Run a schedule once, beside what its crontabs say",
		Long: `Runs a schedule once, in the next open slot, or puts its event into the outbox, beside what its crontabs say; also one
that is paused. It prints the id of the run or event, which ` + "`schedule show --run`" + ` takes.`,
		Example: fmt.Sprintf(`  %s schedule run digest/42`, prog.Name),
		Args:    arguments.One("the id of one schedule"),
	})
}
