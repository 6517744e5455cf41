package serve

import (
	"context"
	"errors"
	"io"

	"github.com/spf13/cobra"

	"prescient/cmd/internal/arguments"
	"prescient/cmd/internal/output"
	"prescient/cmd/internal/program"
	"prescient/prescient"
	"prescient/prescient/worker/books"
)

// runReport is what run --json prints.
type runReport struct {
	Shard    string `json:"shard,omitempty"` // of Vitess
	Worker   string `json:"worker"`
	Assigned bool   `json:"assigned"`
	books.Figures
}

// Run returns the command run.
func Run(prog *program.Program) *cobra.Command {
	return &cobra.Command{
		Use:   "run",
		Short: "Run the slot that is now, then end: for cron and systemd timers",
		Long: `Runs the slot that is now, by the database's clock, and ends when nothing of it is left for this worker.
Started a moment too early it waits for the slot. A slot that is not assigned to this worker (worker.minutes,
worker.share) is left alone, and SIGTERM stops it gracefully: in both cases the exit code is 0. Where the server stays away for
longer than worker.patience the exit code is 5; the next sweep takes the slot then.

Where job_execs took on long runs, it ends when these do. SIGTERM hands them on: they have worker.stop_grace to save a
checkpoint, from which another worker goes on. A systemd timer does not start the service meanwhile, so that slots are
left to the sweep: work is the better command for them.

Heartbeats that are configured are sent, too: it waits for them for at most 5s.

The log has one line with the figures of the run, and at warn one for each way in which a job_exec went wrong, with an
example. --json prints the same.`,
		Example: `  */15 * * * *  root  ` + prog.Name + ` run --config /etc/prescient/prescient.yaml`,
		Args:    arguments.None,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return serving(cmd, prog, runs{each: func(ctx context.Context, s *program.Session) error {
				return runSlot(ctx, s, cmd.OutOrStdout())
			}})
		},
	}
}

func runSlot(ctx context.Context, s *program.Session, out io.Writer) error {
	figures, err := s.Service.RunSlot(ctx)
	defer forecastOnce(ctx, s, s.Service.Name()) // after what is printed
	unassigned := errors.Is(err, prescient.ErrNotAssigned)
	if unassigned {
		s.Log.Info().Time("slot", figures.Slot).Stringer("assigned", s.Config.Worker.Assignment).
			Msg("this slot is not assigned to this worker; nothing to do")
	} else if err != nil && !stopped(ctx, err) {
		return s.Explain(err)
	}
	if s.Program.JSON {
		return output.JSON(out, runReport{Shard: s.Shard, Worker: s.Service.Name(), Assigned: !unassigned, Figures: figures})
	}
	return nil
}
