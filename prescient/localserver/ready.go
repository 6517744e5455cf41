package localserver

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// errPortTaken is returned when somebody else listens on the server's port.
var errPortTaken = errors.New("the port is taken")

// readyPause is the time between two looks whether the server answers.
const readyPause = 20 * time.Millisecond

// waitReady waits until the server answers to its password, which nobody
// else's server does, and returns its version.
func (s *Server) waitReady(ctx context.Context, process *process, logFrom int64) (string, error) {
	db, err := s.admin()
	if err != nil {
		return "", err
	}
	defer db.Close()

	var answer error
	for {
		var version string
		if answer = db.QueryRowContext(ctx, "SELECT VERSION()").Scan(&version); answer == nil {
			return version, nil
		}
		select {
		case <-process.exited:
			if s.portTakenSince(logFrom) {
				return "", errPortTaken
			}
			return "", fmt.Errorf("the server ended (%v) before it answered%s", process.err, s.logTail())
		case <-ctx.Done():
			return "", fmt.Errorf("waiting for the server: %w (last answer: %v)%s", ctx.Err(), answer, s.logTail())
		case <-time.After(readyPause):
		}
	}
}
