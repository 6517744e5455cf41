package serve

import (
	"errors"
	"io"

	"github.com/spf13/cobra"

	"prescient/cmd/internal/arguments"
	"prescient/cmd/internal/exit"
	"prescient/cmd/internal/output"
	"prescient/cmd/internal/program"
	"prescient/cmd/internal/words"
	"prescient/prescient/worker"
)

// RollForward returns the command roll-forward.
func RollForward(prog *program.Program) *cobra.Command {
	return program.Reasoned(&cobra.Command{
		Use:   "roll-forward",
		Short: "Move everything overdue to the next slot, without running it",
		Long: `The other way to catch up after an outage: moves every row of slots before the current one to the next slot,
in batches, and runs nothing. Rows that a transaction of somebody else has locked are passed over, and what a live worker
runs is left alone: stop the sweeper, and work, before it. Where something is left, the exit code says so. due_at and the counts
stay as they are.`,
		Args: arguments.None,
		RunE: func(cmd *cobra.Command, _ []string) error { return rollForward(cmd, prog) },
	})
}

func rollForward(cmd *cobra.Command, prog *program.Program) error {
	return gracefully(cmd.Context(), prog.Connect(cmd, func(s *program.Session) error {
		w, err := s.NewWorker(cmd.Context())
		if err != nil {
			return err
		}
		bar := prog.Bar("moving rows", 0)
		defer bar.Stop()
		rolled, err := w.RollForward(cmd.Context(), func(rolled worker.Rolled) {
			bar.Set(rolled.Moved)
			s.Log.Debug().Int("rows", rolled.Moved).Int("locked", rolled.PassedOver).Msg("rolling forward")
		})
		bar.Stop()
		if err != nil && !stopped(cmd.Context(), err) {
			return s.Explain(err)
		}
		if err := sayRolled(cmd.OutOrStdout(), rolled, prog.JSON); err != nil || rolled.PassedOver+rolled.Held == 0 {
			return err
		}
		return &exit.Error{Code: exit.CodeWarn, Err: errors.New("not everything overdue was moved"), Printed: true}
	}))
}

func sayRolled(w io.Writer, rolled worker.Rolled, json bool) error {
	if json {
		return output.JSON(w, rolled)
	}
	p := output.To(w)
	p.Say("moved %s to the next slot", words.Counted(rolled.Moved, "row", "rows"))
	if rolled.PassedOver > 0 {
		p.Say("passed over %s that others have locked: sweep runs what is left, or roll forward again", words.Counted(rolled.PassedOver, "row", "rows"))
	}
	if rolled.Held > 0 {
		p.Say("left %s that live workers run, such as %s: stop those, and roll forward again", words.Counted(rolled.Held, "bucket", "buckets"), rolled.HeldBy)
	}
	return p.Err()
}
