package cmd

import (
	"testing"
	"time"

	"prescient/config"
)

// What the configuration calls 0, for not at all, is the default in the library.
func TestAWorkerThatIsNotToPutPurgeOffDoesNot(t *testing.T) {
	for _, c := range []struct{ configured, want time.Duration }{
		{config.Default().Worker.PutOffPurge, 10 * time.Second},
		{3 * time.Second, 3 * time.Second},
		{0, -1},
	} {
		s := &session{config: config.Default()}
		s.config.Worker.PutOffPurge = c.configured
		if got := s.workerOptions().PutOffPurge; got != c.want {
			t.Errorf("put_off_purge %s: %s; want %s", c.configured, got, c.want)
		}
	}
}
