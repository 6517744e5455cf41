package localserver

import (
	"errors"
	"path/filepath"
	"sync"

	"prescient/prescient/localserver/internal/process"
)

// ErrClosed is returned when a Server is used after Close.
var ErrClosed = errors.New("local server is closed")

// A Server is a private database server. Its methods may be called from
// several goroutines at once.
type Server struct {
	installation installation
	account      account
	member       member // nil outside of a cluster

	mu      sync.Mutex       // guards what follows; held while starting and stopping
	process *process.Process // nil when the server is down
	version string
	closed  bool
}

// DSN returns the data source name of a database on the server, in the form
// of github.com/go-sql-driver/mysql. The database need not exist before the
// name is used; an empty name selects none.
func (s *Server) DSN(database string) string {
	return s.account.config(database).FormatDSN()
}

// Addr returns the address that the server listens on, "127.0.0.1:port". It
// stays the same over a Restart.
func (s *Server) Addr() string { return s.account.addr() }

// Socket returns the path of the server's unix socket, "" in a temporary folder
// whose path is too long for a socket.
func (s *Server) Socket() string {
	if path := s.installation.folder.Socket(); filepath.IsAbs(path) {
		return path
	}
	return ""
}

// Flavour returns the server's flavour.
func (s *Server) Flavour() Flavour { return s.installation.program.Flavour }

// Version returns what SELECT VERSION() says, such as 10.11.19-MariaDB-log.
func (s *Server) Version() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.version
}

// Dir returns the server's folder, which Close removes.
func (s *Server) Dir() string { return s.installation.folder.Path }

// Pid returns the server's process id, 0 when it is down.
func (s *Server) Pid() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.process == nil || s.process.Gone() {
		return 0
	}
	return s.process.Pid
}
