package job

import (
	"github.com/spf13/cobra"

	"prescient/cmd/internal/definition"
	"prescient/cmd/internal/file"
	"prescient/cmd/internal/program"
)

// change is what was done with an entry.
type change struct {
	definition.Done
	// Lines are those that changed, of one that was.
	Lines []string `json:"lines,omitempty"`
	// Jobs have a shared step that changed.
	Jobs []string `json:"jobs,omitempty"`
}

// warn warns of job_execs that nobody has.
func warn(cmd *cobra.Command, s *program.Session, entries ...file.Entry) error {
	var names []string
	for _, entry := range entries {
		if entry.Step != nil {
			names = append(names, entry.Step.JobExec)
			continue
		}
		for _, step := range entry.Job.Steps {
			names = append(names, step.JobExec)
		}
	}
	return s.WarnUnregistered(cmd.Context(), cmd.ErrOrStderr(), "a run that comes to it is tried again, and fails", names...)
}
