package serve

import (
	"context"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"

	"prescient/cmd/internal/program"
)

// watchdog tells the service manager that the process is alive, twice in the time that it waits for that, while it is.
// It returns once ctx has ended.
func watchdog(ctx context.Context, s *program.Session, alive func() error) {
	within, err := daemon.SdWatchdogEnabled(false)
	if err != nil {
		s.Log.Warn().Err(err).Msg("there is no watchdog")
	}
	if within <= 0 {
		return
	}
	ticker := time.NewTicker(within / 2)
	defer ticker.Stop()
	for {
		if err := alive(); err != nil {
			s.Log.Error().Err(err).Msg("the watchdog is not told that all is well")
		} else {
			s.Notify(daemon.SdNotifyWatchdog)
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}
