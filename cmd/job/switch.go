package job

import (
	"context"
	"database/sql"
	"errors"

	"github.com/spf13/cobra"

	"prescient/cmd/internal/program"
	"prescient/prescient"
	"prescient/prescient/steps"
)

// eachNamed does something with each of some names, in one transaction, and says what. do returns what it has done.
func eachNamed(cmd *cobra.Command, prog *program.Program, names []string,
	do func(ctx context.Context, jobs *steps.Jobs, tx *sql.Tx, name string) (done string, err error)) error {
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
			done, err := do(cmd.Context(), s.Jobs, tx, name)
			if err != nil {
				return err
			}
			list = append(list, did{name, done})
		}
		return nil
	})
	if err != nil {
		return s.Explain(err)
	}
	return say(prog, cmd.OutOrStdout(), list)
}

// switchJobs pauses or resumes jobs, in one transaction. done is what it says of those that are not so already.
func switchJobs(cmd *cobra.Command, prog *program.Program, names []string, enabled bool, done string,
	do func(*steps.Jobs, context.Context, prescient.DB, string) error) error {
	return eachNamed(cmd, prog, names, func(ctx context.Context, jobs *steps.Jobs, tx *sql.Tx, name string) (string, error) {
		before, err := jobs.Get(ctx, tx, name)
		if err == nil || errors.Is(err, steps.ErrUnreadable) {
			err = do(jobs, ctx, tx, name)
		}
		if before.Schedule.Enabled == enabled {
			return "kept", err
		}
		return done, err
	})
}
