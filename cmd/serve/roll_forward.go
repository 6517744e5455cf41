package serve

import (
	"github.com/spf13/cobra"

	"prescient/cmd/internal/arguments"
	"prescient/cmd/internal/output"
	"prescient/cmd/internal/program"
	"prescient/prescient/worker"
)

// RollForward returns the command roll-forward.
func RollForward(prog *program.Program) *cobra.Command {
	return &cobra.Command{
		Use:   "roll-forward",
		Short: "Move everything overdue to the next slot, without running it",
		Long: `The other way to catch up after an outage: moves every row of slots before the current one to the next slot,
in batches, and runs nothing. What a live worker holds is left alone, and rows that a transaction of somebody else has
locked are passed over. due_at and the counts stay as they are.`,
		Args: arguments.None,
		RunE: func(cmd *cobra.Command, _ []string) error { return rollForward(cmd, prog) },
	}
}

func rollForward(cmd *cobra.Command, prog *program.Program) error {
	s, err := prog.Connect(cmd)
	if err != nil {
		return err
	}
	defer s.Close()
	w, err := s.NewWorker(cmd.Context(), nil)
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
	if prog.JSON {
		return output.JSON(cmd.OutOrStdout(), rolled)
	}
	if rolled.PassedOver > 0 {
		return output.Say(cmd.OutOrStdout(), "moved %d rows to the next slot; passed over %d that others have locked: sweep runs them, or roll forward again",
			rolled.Moved, rolled.PassedOver)
	}
	return output.Say(cmd.OutOrStdout(), "moved %d rows to the next slot", rolled.Moved)
}
