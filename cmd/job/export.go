package job

import (
	"bufio"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"prescient/cmd/internal/exit"
	"prescient/cmd/internal/file"
	"prescient/cmd/internal/output"
	"prescient/cmd/internal/program"
	"prescient/cmd/internal/words"
	"prescient/prescient/steps"
)

func exportCommand(prog *program.Program) *cobra.Command {
	return &cobra.Command{
		Use:   "export [NAME...]",
		Short: "Write jobs and shared steps as YAML",
		Long: `Writes jobs to stdout, with the shared steps that they have, as import reads them: those that are named, or all jobs and all
shared steps. To import them where they come from changes nothing. What plain SQL has written and is no definition is left out, with a warning.`,
		Example: fmt.Sprintf(`  %[1]s job export > jobs.yaml
  %[1]s job export nightly`, prog.Name),
		RunE: func(cmd *cobra.Command, names []string) error { return export(cmd, prog, names) },
	}
}

func export(cmd *cobra.Command, prog *program.Program, names []string) error {
	if prog.JSON {
		return exit.Usage(errors.New("job export writes YAML: --json is not for it"))
	}
	if len(names) > 0 {
		if _, err := wantNames(cmd, names); err != nil {
			return err
		}
	}
	return prog.Read(cmd, func(s *program.Session) error {
		ctx := cmd.Context()
		var jobs, all []file.Entry
		var shared []string
		leftOut := func(wrong error) error {
			return output.Say(cmd.ErrOrStderr(), "%s: warning: left out: %s", prog.Name, words.Clip(words.Of(wrong), words.LongestComplaint))
		}
		add := func(job steps.Stored) error {
			if job.Wrong != nil {
				return leftOut(job.Wrong)
			}
			jobs = append(jobs, entryOf(job))
			for _, step := range job.Steps {
				if step.Shared && !slices.Contains(shared, step.Name) {
					shared = append(shared, step.Name)
				}
			}
			return nil
		}
		for _, name := range names {
			job, err := s.Jobs.Get(ctx, s.DB, name)
			if err != nil {
				return s.Explain(err)
			}
			_ = add(job) // never fails
		}
		for _, name := range shared {
			step, err := s.Jobs.GetStep(ctx, s.DB, name)
			if err != nil {
				return s.Explain(err)
			}
			all = append(all, file.Entry{Step: &step.Step})
		}
		if len(names) == 0 {
			err := eachStep(ctx, s, func(step steps.StoredStep) error {
				if step.Wrong != nil {
					return leftOut(step.Wrong)
				}
				all = append(all, file.Entry{Step: &step.Step})
				return nil
			})
			if err == nil {
				err = eachJob(ctx, s, add)
			}
			if err != nil {
				return s.Explain(err)
			}
		}
		out := bufio.NewWriter(cmd.OutOrStdout())
		if err := file.Write(out, append(all, jobs...)...); err != nil {
			return err
		}
		return out.Flush()
	})
}
