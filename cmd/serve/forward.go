package serve

import (
	"cmp"
	"context"
	"errors"

	"github.com/coreos/go-systemd/v22/daemon"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/cobra"

	"prescient/cmd/internal/arguments"
	"prescient/cmd/internal/exit"
	"prescient/cmd/internal/program"
	"prescient/config"
	"prescient/config/value"
	"prescient/prescient/event/forward"
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
			return prog.Connect(cmd, func(s *program.Session) error { return forwardOn(cmd.Context(), s, listen, untilEmpty) })
		},
	}
	arguments.Text(cmd.Flags(), &listen, "listen", value.CheckListen, "serve /metrics and /healthz at this host:port, as metrics.listen does")
	cmd.Flags().BoolVar(&untilEmpty, "until-empty", false, "make one pass over what waits, and end")
	return cmd
}

func forwardOn(ctx context.Context, s *program.Session, listen string, untilEmpty bool) error {
	s.Config.Worker.Name = cmp.Or(s.Config.Worker.Name, worker.NewName())
	m := newEventMetrics()
	m.start(topicsOf(s.Config))
	f, err := s.NewForwarder(ctx, m.observer())
	if err != nil {
		return err
	}
	p, registry := &outboxProbe{ask: s.Outbox}, prometheus.NewRegistry()
	registry.MustRegister(p)
	registry.MustRegister(m.collectors()...)
	silence, err := serveHTTP(ctx, s, cmp.Or(listen, s.Config.Metrics.Listen), registry, f.Alive, p.oldest)
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

// forwarding runs what runs slots, and a forwarder beside it where there is one. The forwarder ends last: what the last slots
// have published goes out as well.
func forwarding(ctx context.Context, s *program.Session, f *forward.Forwarder, run func(ctx context.Context) error) error {
	if f == nil {
		return run(ctx)
	}
	told, stop := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan error, 1)
	go func() { ended <- f.Run(told) }()
	err := run(ctx)
	stop()
	if failed := <-ended; failed != nil {
		s.Log.Warn().Err(failed).Msg("the forwarder did not leave in order")
	}
	return err
}
