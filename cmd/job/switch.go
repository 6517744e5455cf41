package job

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"prescient/cmd/internal/exit"
	"prescient/cmd/internal/output"
	"prescient/cmd/internal/program"
	"prescient/prescient"
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

// switchJobs pauses or resumes jobs, in one transaction.
func switchJobs(cmd *cobra.Command, prog *program.Program, names []string, enabled bool, done string,
	do func(*steps.Jobs, context.Context, prescient.DB, string) error) error {
	if err := wantNames(cmd, names); err != nil {
		return err
	}
	s, err := prog.Connect(cmd)
	if err != nil {
		return err
	}
	defer s.Close()
	var list []did
	err = inTx(cmd.Context(), s, func(tx *sql.Tx) error {
		for _, name := range names {
			before, err := s.Jobs.Get(cmd.Context(), tx, name)
			if err == nil {
				err = do(s.Jobs, cmd.Context(), tx, name)
			}
			if err != nil {
				return err
			}
			d := did{name, done}
			if before.Schedule.Enabled == enabled {
				d.Did = "kept"
			}
			list = append(list, d)
		}
		return nil
	})
	if err != nil {
		return s.Explain(err)
	}
	return say(prog, cmd.OutOrStdout(), list)
}

func runCommand(prog *program.Program) *cobra.Command {
	return &cobra.Command{
		Use:   "run NAME",
		Short: "Run a job once, beside what its crontabs say",
		Long: `Runs a job once, in the next open slot, beside what its crontabs say; also one that is paused. It prints the run, which
"runs" shows.`,
		Example: fmt.Sprintf(`  %s job run nightly`, prog.Name),
		Args:    oneName,
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := prog.Connect(cmd)
			if err != nil {
				return err
			}
			defer s.Close()
			occurrence, err := s.Jobs.RunNow(cmd.Context(), s.DB, args[0])
			if err != nil {
				return s.Explain(err)
			}
			run := args[0] + "-" + occurrence
			if prog.JSON {
				return output.JSON(cmd.OutOrStdout(), struct {
					Name string `json:"name"`
					Run  string `json:"run"`
				}{args[0], run})
			}
			return output.Say(cmd.OutOrStdout(), "%s", run)
		},
	}
}

func deleteCommand(prog *program.Program) *cobra.Command {
	var step bool
	cmd := &cobra.Command{
		Use:   "delete NAME...",
		Short: "Delete jobs, or shared steps",
		Long: `Deletes jobs: all that are named, or none. Their runs that are under way are cancelled; the log of what they did stays, and so do
their versions. With --step it deletes shared steps, which no job may have.`,
		Example: fmt.Sprintf(`  %[1]s job delete nightly
  %[1]s job delete --step export`, prog.Name),
		RunE: func(cmd *cobra.Command, names []string) error { return deleteJobs(cmd, prog, names, step) },
	}
	cmd.Flags().BoolVar(&step, "step", false, "the names are those of shared steps")
	return cmd
}

func deleteJobs(cmd *cobra.Command, prog *program.Program, names []string, step bool) error {
	if err := wantNames(cmd, names); err != nil {
		return err
	}
	s, err := prog.Connect(cmd)
	if err != nil {
		return err
	}
	defer s.Close()
	var list []did
	err = inTx(cmd.Context(), s, func(tx *sql.Tx) error {
		for _, name := range names {
			if step {
				err = s.Jobs.DeleteStep(cmd.Context(), tx, name)
			} else {
				var n int
				if n, err = s.Jobs.Delete(cmd.Context(), tx, name); err == nil && n == 0 {
					err = fmt.Errorf("%w: job %q", steps.ErrNotFound, name)
				}
			}
			if err != nil {
				return err
			}
			list = append(list, did{name, "deleted"})
		}
		return nil
	})
	if errors.Is(err, steps.ErrInUse) {
		err = &exit.Error{Code: exit.CodePending, Err: err}
	}
	if err != nil {
		return s.Explain(err)
	}
	return say(prog, cmd.OutOrStdout(), list)
}
