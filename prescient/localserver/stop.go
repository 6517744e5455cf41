package localserver

import (
	"errors"
	"fmt"
)

// Kill ends the server at once, with SIGKILL. The data stay; Restart brings
// them back.
func (s *Server) Kill() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.process != nil {
		s.process.Kill()
	}
}

// Close stops the server and removes its folder. Closing again does nothing.
func (s *Server) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	var err error
	if s.process != nil && !s.process.Gone() {
		if err = s.process.Stop(); err != nil {
			err = fmt.Errorf("localserver: %w", err)
		}
	}
	if left := s.installation.folder.Remove(); left != nil {
		err = errors.Join(err, fmt.Errorf("localserver: %w", left))
	}
	return err
}
