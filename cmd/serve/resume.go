package serve

import (
	"errors"

	"github.com/spf13/cobra"

	"prescient/cmd/internal/exit"
	"prescient/cmd/internal/output"
	"prescient/cmd/internal/program"
)

// Resume returns the command resume.
func Resume(prog *program.Program) *cobra.Command {
	var all, events bool
	cmd := &cobra.Command{
		Use:   "resume JOB_EXEC... | --all | --events",
		Short: "End a pause",
		Long: `Ends the pause of job_execs, with --events that of events, or with --all that of everything; what was paused by its own name
stays so.
What came due meanwhile runs with the next slot, or with the next sweep. That nothing was paused is no failure.`,
		RunE: func(cmd *cobra.Command, args []string) error { return resume(cmd, prog, args, all, events) },
	}
	cmd.Flags().BoolVar(&all, "all", false, "end the pause of everything")
	cmd.Flags().BoolVar(&events, "events", false, "end the pause of events")
	return program.Reasoned(cmd)
}

func resume(cmd *cobra.Command, prog *program.Program, execs []string, all, events bool) error {
	execs, err := pauseNames(execs, all, events)
	if err != nil {
		return err
	}
	if len(execs) == 0 {
		return exit.Usage(errors.New("give the job_execs to resume, --events or --all"))
	}
	return prog.ConnectEach(cmd, func(s *program.Session) error {
		resumed, err := s.Client.Resume(cmd.Context(), s.DB, execs...)
		if err != nil {
			return s.Explain(err)
		}
		if !prog.JSON {
			if err := output.Say(cmd.OutOrStdout(), "ended %d pauses", resumed); err != nil {
				return err
			}
		}
		return printPauses(cmd.Context(), s, cmd.OutOrStdout())
	})
}
