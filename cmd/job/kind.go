package job

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"prescient/cmd/internal/definition"
	"prescient/cmd/internal/program"
	"prescient/prescient"
	"prescient/prescient/steps"
)

// kind is what jobs have of their own, where they are treated as schedules are.
func kind(prog *program.Program) definition.Kind {
	return definition.Kind{Prog: prog, Names: wantNames,
		Named: func(name string) definition.Done { return definition.Done{Name: name} },
		Of:    func(s *program.Session) definition.Definitions { return jobs{s.Jobs} }}
}

type jobs struct{ *steps.Jobs }

func (j jobs) RunNow(ctx context.Context, db prescient.DB, name string) (run string, err error) {
	occurrence, err := j.Jobs.RunNow(ctx, db, name)
	return name + "-" + occurrence, err
}

func pauseCommand(prog *program.Program) *cobra.Command {
	return kind(prog).Pause(&cobra.Command{
		Use:     "pause NAME...",
		Short:   "Stop jobs until resume",
		Long:    `Stops jobs until resume: all that are named, or none. What has begun goes on. One that is paused already stays so.`,
		Example: fmt.Sprintf(`  %s job pause nightly`, prog.Name),
	})
}

func resumeCommand(prog *program.Program) *cobra.Command {
	return kind(prog).Resume(&cobra.Command{
		Use:   "resume NAME...",
		Short: "Let jobs that were paused run again",
		Long: `Lets jobs run again, from now on: all that are named, or none. What was due meanwhile is not missed. One that is not paused
stays as it is.`,
		Example: fmt.Sprintf(`  %s job resume nightly`, prog.Name),
	})
}

func runCommand(prog *program.Program) *cobra.Command {
	return kind(prog).Run(&cobra.Command{
		Use:   "run NAME",
		Short: "Run a job once, beside what its crontabs say",
		Long: `Runs a job once, in the next open slot, beside what its crontabs say; also one that is paused. It prints the run, which
"runs" shows.`,
		Example: fmt.Sprintf(`  %s job run nightly`, prog.Name),
		Args:    oneJob,
	})
}
