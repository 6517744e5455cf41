package serve

import (
	"context"

	"github.com/spf13/cobra"

	"prescient/cmd/internal/arguments"
	"prescient/cmd/internal/program"
	"prescient/config/value"
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
name them. Where notify.receivers are, one of the workers looks for findings of doctor, and tells them. The log has a line for each slot in which there was something to do, and one an hour for the empty ones;
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
			p := newProcess(listen)
			return serving(cmd, prog, runs{stays: true, once: p.begin,
				with: p.with,
				each: func(ctx context.Context, s *program.Session) error {
					defer p.join(s)()
					return s.Explain(s.Service.Run(ctx))
				},
			})
		},
	}
	arguments.Text(cmd.Flags(), &listen, "listen", value.CheckListen, "serve /metrics and /healthz at this host:port, as metrics.listen does")
	return cmd
}
