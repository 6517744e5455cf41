package cmd

import (
	"context"

	"github.com/spf13/cobra"
)

func (a *app) workCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "work",
		GroupID: groupServe,
		Short:   "Stay up and run each assigned slot when it comes",
		Long: `Stays up, runs each assigned slot when it comes by the database's clock, and sweeps up what earlier slots
left behind every sweep.every. The log has one line for each slot run.

SIGTERM or SIGINT stops it gracefully: nothing new is started, running job_execs have worker.stop_grace to end, what
is done is committed, leases are given back. A second signal ends it at once; what was in flight then runs again
elsewhere once the lease is over.`,
		Args: a.noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.work(cmd) },
	}
}

func (a *app) work(cmd *cobra.Command) error {
	s, err := a.connectWithExecs(cmd)
	if err != nil {
		return err
	}
	defer s.close()
	w, err := s.newWorker(cmd.Context())
	if err != nil {
		return err
	}
	s.warnIfNothingIsRegistered()
	s.log.Info().Str("worker", w.Name()).Stringer("resolution", w.Resolution()).
		Stringer("serves", s.config.Worker.Assignment).Strs("job_execs", s.registry.Names()).Msg("working")
	defer context.AfterFunc(cmd.Context(), func() {
		s.log.Info().Stringer("grace", s.config.Worker.StopGrace).Msg("stopping: nothing new is started, what runs may end")
	})()
	if err := w.Work(cmd.Context()); err != nil {
		return s.explain(err)
	}
	s.log.Info().Str("worker", w.Name()).Msg("stopped")
	return nil
}
