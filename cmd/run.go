package cmd

import (
	"errors"

	"github.com/spf13/cobra"

	"prescient/prescient"

	"prescient/prescient/worker"
)

// runReport is what run --json prints.
type runReport struct {
	Worker   string `json:"worker"`
	Assigned bool   `json:"assigned"`
	worker.Figures
}

func (a *app) runCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "run",
		GroupID: groupServe,
		Short:   "Run the slot that is now, then end: for cron and systemd timers",
		Long: `Runs the slot that is now, by the database's clock, and ends when nothing of it is left for this worker.
Started a moment too early it waits for the slot. A slot that is not assigned to this worker (worker.minutes,
worker.share) is left alone, which is no failure. SIGTERM stops it gracefully.
Where the server stays away for longer than worker.patience it fails with 5; the next sweep takes the slot then.

The log has one line with the figures of the run, and at warn one for each way in which a job_exec went wrong, with an
example. --json prints the same.`,
		Example: `  */15 * * * *  root  ` + a.options.Program + ` run --config /etc/prescient/prescient.yaml`,
		Args:    a.noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.serving(cmd, func(s *session) error { return s.run(cmd) })
		},
	}
}

func (s *session) run(cmd *cobra.Command) error {
	w, err := s.newWorker(cmd.Context())
	if err != nil {
		return err
	}
	figures, err := w.Run(cmd.Context())
	unassigned := errors.Is(err, prescient.ErrNotAssigned)
	if unassigned {
		s.log.Info().Time("slot", figures.Slot).Stringer("assigned", s.config.Worker.Assignment).
			Msg("this slot is not assigned to this worker; nothing to do")
	} else if err != nil {
		return s.explain(err)
	}
	if s.app.json {
		return printJSON(cmd.OutOrStdout(), runReport{Worker: w.Name(), Assigned: !unassigned, Figures: figures})
	}
	return nil
}
