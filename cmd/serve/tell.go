package serve

import (
	"cmp"
	"context"
	"errors"

	"github.com/spf13/cobra"

	"prescient/cmd/internal/arguments"
	"prescient/cmd/internal/exit"
	"prescient/cmd/internal/program"
	"prescient/prescient/worker"
)

// Notify returns the command notify.
func Notify(prog *program.Program) *cobra.Command {
	return &cobra.Command{
		Use:   "notify",
		Short: "Tell receivers once of what doctor finds",
		Long: `Looks once for findings of doctor, and tells notify.receivers what follows, as work does all the time: for where workers are
timers. It ends once each receiver has acknowledged. Where one could not be told it exits with 1 and names it; what it was to be
told is kept, and sent by the next. Where another process tells receivers, it leaves that to it.`,
		Args: arguments.None,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := prog.Load(cmd)
			if err == nil && len(c.Notify.Receivers) == 0 {
				err = exit.Usage(errors.New("notify.receivers is empty: a receiver says who is told, in the configuration file"))
			}
			if err != nil {
				return err
			}
			return prog.Connect(cmd, func(s *program.Session) error { return notifyOnce(cmd.Context(), s) })
		},
	}
}

func notifyOnce(ctx context.Context, s *program.Session) error {
	n, err := s.OpenNotifier(ctx)
	if err != nil {
		return err
	}
	told, err := n.Once(ctx, cmp.Or(s.Config.Worker.Name, worker.NewName()))
	if err == nil && !told {
		s.Log.Info().Msg("another process tells receivers of findings")
	}
	return s.Explain(err)
}
