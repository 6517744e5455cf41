package program

import "github.com/coreos/go-systemd/v22/daemon"

// Notify tells the service manager that started the process, where there is one, how it is.
func (s *Session) Notify(state string) {
	if _, err := daemon.SdNotify(false, state); err != nil {
		s.Log.Warn().Err(err).Str("state", state).Msg("the service manager cannot be told")
	}
}
