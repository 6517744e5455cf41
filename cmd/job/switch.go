package job

import (
	"context"
	"database/sql"

	"github.com/spf13/cobra"

	"prescient/cmd/internal/program"
	"prescient/prescient"
	"prescient/prescient/steps"
)

// switchJobs pauses or resumes jobs, in one transaction. done is what it says of those that are not so already.
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
	err = s.InTx(cmd.Context(), func(tx *sql.Tx) error {
		list = nil
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
