package serve

import (
	"cmp"
	"context"
	"errors"

	"github.com/coreos/go-systemd/v22/daemon"
	"github.com/spf13/cobra"

	"prescient/cmd/internal/arguments"
	"prescient/cmd/internal/exit"
	"prescient/cmd/internal/program"
	"prescient/config"
	"prescient/config/value"
	"prescient/prescient/event"
	"prescient/prescient/gauges"
	"prescient/prescient/metrics"
	"prescient/prescient/worker"
)

// Forward returns the command forward.
func Forward(prog *program.Program) *cobra.Command {
	var listen string
	var untilEmpty bool
	cmd := &cobra.Command{
		Use:   "forward",
		Short: "Stay up and publish the events of the outbox",
		Long: `Stays up and publishes what is in the outbox to the brokers of events.routes, as work does beside its slots: for
where workers are timers, or may not reach the brokers. Several share the outbox.

With --until-empty it makes one pass over what waits as it begins, which suits a timer. It ends also where an event cannot be
published: then it exits with 1 and names the oldest of those, and the next pass tries them again. What is set aside
is no failure. Shards that another forwarder has are left to that one.

An event that a broker refuses for good is set aside, or keeps those of its key waiting, as the route says: see event.
SIGTERM or SIGINT stops it gracefully: what is under way has worker.stop_grace to be acknowledged. What was not is
published again by others.`,
		Args: arguments.None,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := prog.Load(cmd)
			if err == nil && len(c.Events.Routes) == 0 {
				err = exit.Usage(errors.New("events.routes is empty: a route says where events go, in the configuration file"))
			}
			if err != nil {
				return err
			}
			return gracefully(cmd.Context(), prog.Connect(cmd, func(s *program.Session) error { return forwardOn(cmd.Context(), s, listen, untilEmpty) }))
		},
	}
	arguments.Text(cmd.Flags(), &listen, "listen", value.CheckListen, "serve /metrics and /healthz at this host:port, as metrics.listen does")
	cmd.Flags().BoolVar(&untilEmpty, "until-empty", false, "make one pass over what waits, and end")
	return cmd
}

func forwardOn(ctx context.Context, s *program.Session, listen string, untilEmpty bool) error {
	s.Config.Worker.Name = cmp.Or(s.Config.Worker.Name, worker.NewName())
	m := metrics.New()
	m.Outbox(s.Outbox)
	f, err := s.NewForwarder(ctx, m.Forwarder(topicsOf(s.Config)))
	if err != nil {
		return err
	}
	var outbox gauges.Remembered[[]event.Waiting]
	answers := func() error {
		_, err := outbox.Look(s.Outbox)
		return err
	}
	silence, err := serveHTTP(ctx, s, cmp.Or(listen, s.Config.Metrics.Listen), m, f.Alive, answers)
	if err != nil {
		return err
	}
	defer silence()
	s.Log.Info().Str("forwarder", s.Config.Worker.Name).Int("routes", len(s.Config.Events.Routes)).Msg("forwarding")
	s.Notify(daemon.SdNotifyReady)
	run := f.Run
	if untilEmpty {
		run = f.RunUntilEmpty
	}
	if err := run(ctx); err != nil {
		return s.Explain(err)
	}
	s.Log.Info().Str("forwarder", s.Config.Worker.Name).Msg("stopped")
	return nil
}

// topicsOf are what routes say of the topics that they take.
func topicsOf(c config.Config) (topics []string) {
	for _, route := range c.Events.Routes {
		topics = append(topics, route.Topics)
	}
	return topics
}
