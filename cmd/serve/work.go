package serve

import (
	"cmp"
	"context"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/cobra"

	"prescient/cmd/internal/arguments"
	"prescient/cmd/internal/program"
	"prescient/config/value"
	"prescient/prescient/agent"
	"prescient/prescient/forecast"
	"prescient/prescient/worker"
	"prescient/sql"
)

// Work returns the command work.
func Work(prog *program.Program) *cobra.Command {
	var listen string
	cmd := &cobra.Command{
		Use:   "work",
		Short: "Stay up and run each assigned slot when it comes",
		Long: `Stays up, runs each assigned slot when it comes by the database's clock, and sweeps up what earlier slots
left behind every sweep.every. On the keyspace of a Vitess it does so on each shard for itself. Where events.routes says where events go, it also publishes what is in the outbox.
Beside its slots one of the workers sums up history by hour and by day, also while everything is paused.
Where heartbeats are configured, services outside are told of the slots that were served, and of the schedules that
name them. The log has a line for each slot in which there was something to do, and one an hour for the empty ones;
at warn it has one for each way in which a job_exec went wrong in a slot, with an example.

SIGTERM or SIGINT stops it gracefully: nothing new is started, running job_execs have worker.stop_grace to end, what
is done is committed, leases are given back. Long runs have that time to save a checkpoint, from which another worker goes
on. A second signal ends it at once; what was in flight then runs again
elsewhere once the lease is over.

With --listen, or metrics.listen, it serves /metrics for Prometheus, and /healthz: 200 while it works and the database
answers, else 503 and why. Under systemd it says when it is ready (Type=notify), and tells the watchdog that it is alive
(WatchdogSec=).`,
		Args: arguments.None,
		RunE: func(cmd *cobra.Command, _ []string) error {
			p := newProcess()
			return serving(cmd, prog, runs{stays: true,
				once: func(ctx context.Context, s *program.Session) (stop func(), err error) {
					p.listen = cmp.Or(listen, s.Config.Metrics.Listen)
					return p.begin(ctx, s)
				},
				each: func(ctx context.Context, s *program.Session) error { return workOn(ctx, s, p) },
			})
		},
	}
	arguments.Text(cmd.Flags(), &listen, "listen", value.CheckListen, "serve /metrics and /healthz at this host:port, as metrics.listen does")
	return cmd
}

func workOn(ctx context.Context, s *program.Session, p *process) error {
	events := newEventMetrics()
	events.start(topicsOf(s.Config))
	f, err := s.NewForwarder(ctx, events.observer())
	if err != nil {
		return err
	}
	if f == nil {
		events = nil
	}
	rests := new(idle)
	w, a, stop, err := watchedWorker(ctx, s, p, events, rests)
	if err != nil {
		return err
	}
	defer stop()
	m, err := newForecaster(ctx, s, w.Name())
	if err != nil {
		return err
	}
	s.Busy = a.Busy
	s.Log.Info().Str("worker", w.Name()).Stringer("resolution", w.Resolution()).
		Stringer("serves", s.Config.Worker.Assignment).Strs("job_execs", s.Registry.Names()).Msg("working")
	logged := make(chan struct{})
	goesOn := context.AfterFunc(ctx, func() {
		defer close(logged)
		s.Log.Info().Stringer("grace", s.Config.Worker.StopGrace).Msg("stopping: nothing new is started, what runs may end")
	})
	end := func(ending context.Context) error {
		if ctx.Err() == nil {
			return s.Long.Hold(ending) // it may be told to go on
		}
		return s.Long.Drain(ending)
	}
	work := func(ctx context.Context) error {
		return forwarding(ctx, s, f, func(ctx context.Context) error {
			return drainingLong(ctx, s, end, func(ctx context.Context) error {
				return claimingLong(ctx, s, func(ctx context.Context) error {
					return summing(ctx, s, w.Name(), func(ctx context.Context) error { return beside(ctx, m.Serve, w.Work) })
				})
			})
		})
	}
	err = registered(ctx, a, func(ctx context.Context) error { return obeying(ctx, s, a, rests, work) })
	stop()
	if !goesOn() {
		<-logged
	}
	if err != nil {
		return s.Explain(err)
	}
	s.Log.Info().Str("worker", w.Name()).Msg("stopped")
	return nil
}

// watchedWorker returns a worker that is a part of the process until stop is called; that may be done twice. The agent has other processes know
// of it. While it rests it is well though it does not work.
func watchedWorker(ctx context.Context, s *program.Session, p *process, events *eventMetrics, rests *idle) (w *worker.Worker, a *agent.Agent, stop func(), err error) {
	ready := func() {
		rests.over()
		p.ready()
	}
	observer := &worker.Observer{Working: ready}
	var m *metrics
	if p.listen != "" {
		m = newMetrics(s.Registry.Names())
		observer = m.observer(ready)
	}
	if w, err = s.NewWorker(ctx, observer); err == nil {
		a, err = s.NewAgent(ctx, w, agent.Work)
	}
	if err != nil {
		return nil, nil, nil, err
	}
	backlog := &probe{ask: w.Backlog}
	one := part{backlog: backlog.backlog, alive: func() error {
		if rests.isWell() {
			return nil
		}
		return w.Alive()
	}}
	var told []prometheus.Collector
	if m != nil {
		told = append(m.collectors(), backlog, &outboxProbe{ask: s.Outbox}, &agentProbe{list: a.List, pools: a.Pools, busy: a.Busy},
			&forecastProbe{ask: func(ctx context.Context) (forecast.Report, error) {
				return forecast.Slots(ctx, s.DB, s.Config.TablePrefix, sql.Dialect(s.Config.Dialect))
			}})
		if events != nil {
			told = append(told, events.collectors()...)
		}
	}
	return w, a, sync.OnceFunc(p.join(s.Shard, one, told...)), nil
}
