package job

import (
	"github.com/spf13/cobra"

	"prescient/cmd/internal/file"
	"prescient/cmd/internal/program"
)

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
