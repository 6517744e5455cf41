package schedule

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/spf13/cobra"

	"prescient/cmd/internal/output"
	"prescient/cmd/internal/program"
	"prescient/prescient"
	"prescient/prescient/client"
	"prescient/prescient/schedule"
)

func pauseCommand(prog *program.Program) *cobra.Command {
	return &cobra.Command{
		Use:   "pause ID...",
		Short: "Stop schedules until resume",
		Long: `Stops schedules until resume: all that are named, or none. What was due before fires all the same: its runs are called,
with their retries, and its events are put into the outbox at once. The runs of their next occurrences end as superseded. One
that is paused already stays so.`,
		Example: fmt.Sprintf(`  %s schedule pause digest/42 report`, prog.Name),
		RunE: func(cmd *cobra.Command, ids []string) error {
			return switchSchedules(cmd, prog, ids, false, "paused", (*schedule.Schedules).Pause)
		},
	}
}

func resumeCommand(prog *program.Program) *cobra.Command {
	return &cobra.Command{
		Use:   "resume ID...",
		Short: "Let schedules that were paused fire again",
		Long: `Lets schedules fire again, from now on: all that are named, or none. What was due meanwhile is not missed. One that is
not paused stays as it is.`,
		Example: fmt.Sprintf(`  %s schedule resume digest/42 report`, prog.Name),
		RunE: func(cmd *cobra.Command, ids []string) error {
			return switchSchedules(cmd, prog, ids, true, "resumed", (*schedule.Schedules).Resume)
		},
	}
}

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
	err = inTx(cmd.Context(), s, func(tx *sql.Tx) error {
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

// inTx runs do in a transaction, of which nothing is left after an error. It is begun again for some seconds while others get in its way.
func inTx(ctx context.Context, s *program.Session, do func(tx *sql.Tx) error) error {
	_, err := backoff.Retry(ctx, func() (struct{}, error) {
		err := tryTx(ctx, s, do)
		if err != nil && !client.BeginAgain(err) {
			err = backoff.Permanent(err)
		}
		return struct{}{}, err
	}, backoff.WithMaxElapsedTime(10*time.Second))
	return err
}

func tryTx(ctx context.Context, s *program.Session, do func(tx *sql.Tx) error) error {
	tx, err := s.DB.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelReadCommitted})
	if err != nil {
		return err
	}
	if err := do(tx); err != nil {
		// Where the connection is gone the server rolls back.
		if undo := tx.Rollback(); undo != nil && !errors.Is(undo, sql.ErrTxDone) {
			s.Log.Debug().Err(undo).Msg("rolling back")
		}
		if ctx.Err() != nil { // what else is said follows from that
			return ctx.Err()
		}
		return err
	}
	return tx.Commit()
}
