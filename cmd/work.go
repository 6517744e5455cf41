package cmd

import (
	"context"
	"fmt"
	"sync"

	"github.com/coreos/go-systemd/v22/daemon"
	"github.com/spf13/cobra"

	"prescient/config"

	"prescient/prescient/worker"
)

func (a *app) workCommand() *cobra.Command {
	var listen string
	cmd := &cobra.Command{
		Use:     "work",
		GroupID: groupServe,
		Short:   "Stay up and run each assigned slot when it comes",
		Long: `Stays up, runs each assigned slot when it comes by the database's clock, and sweeps up what earlier slots
left behind every sweep.every. The log has a line for each slot in which there was something to do, and one an hour
for the empty ones; at warn it has one for each way in which a job_exec went wrong in a slot, with an example.

SIGTERM or SIGINT stops it gracefully: nothing new is started, running job_execs have worker.stop_grace to end, what
is done is committed, leases are given back. A second signal ends it at once; what was in flight then runs again
elsewhere once the lease is over.

With --listen, or metrics.listen, it serves /metrics for Prometheus, and /healthz: 200 while it works and the database
answers, else 503 and why. Under systemd it says when it is ready (Type=notify), and tells the watchdog that it is alive
(WatchdogSec=).`,
		Args: a.noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := config.CheckListen(listen); err != nil {
				return usage(fmt.Errorf("--listen: %w", err))
			}
			return a.serving(cmd, func(s *session) error { return s.work(cmd, listen) })
		},
	}
	cmd.Flags().StringVar(&listen, "listen", "", "serve /metrics and /healthz at this host:port, as metrics.listen does")
	return cmd
}

func (s *session) work(cmd *cobra.Command, listen string) error {
	w, stop, err := s.watchedWorker(cmd.Context(), first(listen, s.config.Metrics.Listen))
	if err != nil {
		return err
	}
	defer stop()
	s.log.Info().Str("worker", w.Name()).Stringer("resolution", w.Resolution()).
		Stringer("serves", s.config.Worker.Assignment).Strs("job_execs", s.registry.Names()).Msg("working")
	said := make(chan struct{})
	goesOn := context.AfterFunc(cmd.Context(), func() {
		defer close(said)
		s.log.Info().Stringer("grace", s.config.Worker.StopGrace).Msg("stopping: nothing new is started, what runs may end")
		s.notify(daemon.SdNotifyStopping)
	})
	err = w.Work(cmd.Context())
	stop()
	if !goesOn() {
		<-said
	}
	if err != nil {
		return s.explain(err)
	}
	s.log.Info().Str("worker", w.Name()).Msg("stopped")
	return nil
}

// watchedWorker returns a worker that serves its metrics, and tells the service manager how it is, until stop is called;
// that may be done twice.
func (s *session) watchedWorker(ctx context.Context, listen string) (w *worker.Worker, stop func(), err error) {
	watching, unwatch := context.WithCancel(context.WithoutCancel(ctx))
	var watcher sync.WaitGroup
	ready := func() {
		s.notify(daemon.SdNotifyReady)
		watcher.Go(func() { s.watchdog(watching, w.Alive) })
	}
	s.observer = &worker.Observer{Working: ready}
	var m *metrics
	if listen != "" {
		m = newMetrics(s.registry.Names())
		s.observer = m.observer(ready)
	}
	if w, err = s.newWorker(ctx); err != nil {
		unwatch()
		return nil, nil, err
	}
	silence, err := s.listen(ctx, listen, m, w)
	if err != nil {
		unwatch()
		return nil, nil, err
	}
	return w, sync.OnceFunc(func() {
		unwatch()
		watcher.Wait()
		silence()
	}), nil
}
