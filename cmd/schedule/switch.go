package schedule

import (
	"context"
	"database/sql"

	"github.com/spf13/cobra"

	"prescient/cmd/internal/output"
	"prescient/cmd/internal/program"
	"prescient/prescient"
	"prescient/prescient/schedule"
)

// switchSchedules pauses or resumes schedules, in one transaction. done is what it says of those that are not so already.
func switchSchedules(cmd *cobra.Command, prog *program.Program, ids []string, enabled bool, done string,
	do func(*schedule.Schedules, context.Context, prescient.DB, string) error) error {
	ids, err := wantIDs(cmd, ids)
	if err != nil {
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
		found, err := s.Schedules.Find(cmd.Context(), tx, ids...)
		if err != nil {
			return err
		}
		so := make(map[string]bool, len(found))
		for _, one := range found {
			so[one.ID] = one.Enabled == enabled
		}
		for _, id := range ids {
			if err := do(s.Schedules, cmd.Context(), tx, id); err != nil {
				return err
			}
			if so[id] {
				list = append(list, did{id, "kept"})
			} else {
				list = append(list, did{id, done})
			}
		}
		return nil
	})
	if err != nil {
		return s.Explain(err)
	}
	if prog.JSON {
		return output.Lines(cmd.OutOrStdout(), list)
	}
	for _, d := range list {
		text := "%s: %s"
		if d.Did == "kept" {
			text = "%s: %s was so already"
		}
		if err := output.Say(cmd.OutOrStdout(), text, d.Did, d.ID); err != nil {
			return err
		}
	}
	return nil
}
