package job

import (
	"io"

	"github.com/spf13/cobra"

	"prescient/cmd/internal/output"
	"prescient/cmd/internal/program"
	"prescient/cmd/job/file"
	"prescient/prescient/steps"
)

// did is what was done with a job or a shared step, in JSON.
type did struct {
	Name string `json:"name"`
	Did  string `json:"did"`
}

// change is what was done with an entry.
type change struct {
	did
	// Lines are those that changed, of one that was.
	Lines []string `json:"lines,omitempty"`
	// Jobs have a shared step that changed.
	Jobs []string `json:"jobs,omitempty"`
}

// say says what was done with each, a line or an object each.
func say(prog *program.Program, out io.Writer, list []did) error {
	if prog.JSON {
		return output.Lines(out, list)
	}
	for _, d := range list {
		if err := output.Say(out, "%s: %s", d.Did, d.Name); err != nil {
			return err
		}
	}
	return nil
}

// warn warns of job_execs that nobody has.
func warn(cmd *cobra.Command, s *program.Session, entries ...file.Entry) error {
	var names program.ExecNames
	add := func(step steps.Step) {
		if step.JobExec != "" {
			names.Add(step.JobExec)
		}
	}
	for _, entry := range entries {
		if entry.Step != nil {
			add(*entry.Step)
			continue
		}
		for _, step := range entry.Job.Steps {
			add(step)
		}
	}
	return s.WarnUnregistered(cmd.Context(), cmd.ErrOrStderr(), "a run that comes to it is tried again, and fails", names...)
}
