package serve

import (
	"errors"

	"github.com/spf13/cobra"

	"prescient/cmd/internal/exit"
	"prescient/cmd/internal/output"
	"prescient/cmd/internal/program"
	"prescient/prescient"
)

// Resume returns the command resume.
func Resume(prog *program.Program) *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use:   "resume JOB_EXEC... | --all",
		Short: "End a pause",
		Long: `Ends the pause of job_execs, or with --all that of everything; job_execs that were paused by their names stay so.
What came due meanwhile runs with the next slot, or with the next sweep. That nothing was paused is no failure.`,
		RunE: func(cmd *cobra.Command, args []string) error { return resume(cmd, prog, all, args) },
	}
	cmd.Flags().BoolVar(&all, "all", false, "end the pause of everything")
	return program.Reasoned(cmd)
}

func resume(cmd *cobra.Command, prog *program.Program, all bool, execs []string) error {
	if all {
		execs = append(execs, prescient.AllExecs)
	}
	if len(execs) == 0 {
		return exit.Usage(errors.New("give the job_execs to resume, or --all"))
	}
	s, err := prog.Connect(cmd)
	if err != nil {
		return err
	}
	defer s.Close()
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
}
