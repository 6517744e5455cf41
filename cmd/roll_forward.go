package cmd

import (
	"github.com/spf13/cobra"

	"prescient/prescient/worker"
)

func (a *app) rollForwardCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "roll-forward",
		GroupID: groupServe,
		Short:   "Move everything overdue to the next slot, without running it",
		Long: `The other way to catch up after an outage: moves every row of slots before the current one to the next slot,
in batches, and runs nothing. What a live worker holds is left alone, and rows that a transaction of somebody else has
locked are passed over. due_at and the counts stay as they are.`,
		Args: a.noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.rollForward(cmd) },
	}
}

func (a *app) rollForward(cmd *cobra.Command) error {
	s, err := a.connect(cmd)
	if err != nil {
		return err
	}
	defer s.close()
	w, err := s.newWorker(cmd.Context())
	if err != nil {
		return err
	}
	bar := a.newBar("moving rows", 0)
	defer bar.stop()
	rolled, err := w.RollForward(cmd.Context(), func(rolled worker.Rolled) {
		bar.set(rolled.Moved)
		s.log.Debug().Int("rows", rolled.Moved).Int("locked", rolled.PassedOver).Msg("rolling forward")
	})
	bar.stop()
	if err != nil && !stopped(cmd.Context(), err) {
		return s.explain(err)
	}
	if a.json {
		return printJSON(cmd.OutOrStdout(), rolled)
	}
	if rolled.PassedOver > 0 {
		return say(cmd.OutOrStdout(), "moved %d rows to the next slot; passed over %d that others have locked: sweep runs them, or roll forward again",
			rolled.Moved, rolled.PassedOver)
	}
	return say(cmd.OutOrStdout(), "moved %d rows to the next slot", rolled.Moved)
}
