package localserver

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// portAttempts is how often Start tries another port after somebody else took
// the one that was free a moment ago.
const portAttempts = 5

// startTimeout bounds every start, whatever its context says: a server that
// has not answered by then never will.
const startTimeout = 2 * time.Minute

// Start starts a server and returns when it answers. ctx bounds the start
// only; the server runs until Close or the end of the process.
func Start(ctx context.Context, options Options) (*Server, error) {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	program, err := Find(ctx, options)
	if err != nil {
		return nil, err
	}
	server := &Server{program: program, options: options, password: randomText(16)}
	if err := server.prepare(ctx); err != nil {
		server.remove()
		return nil, fmt.Errorf("localserver: starting %s: %w", program.Path, err)
	}
	return server, nil
}

// prepare makes the folder, the system tables and the account, and serves.
func (s *Server) prepare(ctx context.Context) error {
	if err := s.makeFolder(); err != nil {
		return err
	}
	if err := s.bootstrap(ctx); err != nil {
		return err
	}
	initFile := filepath.Join(s.dir, "account.sql")
	if err := os.WriteFile(initFile, []byte(accountSQL(s.password)), 0o600); err != nil {
		return fmt.Errorf("writing the account: %w", err)
	}
	defer os.Remove(initFile)

	s.mu.Lock()
	defer s.mu.Unlock()
	for attempt := 1; ; attempt++ {
		port, err := freePort()
		if err != nil {
			return err
		}
		s.port = port
		err = s.serve(ctx, initFile)
		if err == nil || !errors.Is(err, errPortTaken) || attempt == portAttempts {
			return err
		}
	}
}

// Restart starts the server again on the same data and port, after stopping it
// if it runs. ctx bounds the restart only.
func (s *Server) Restart(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return fmt.Errorf("localserver: restarting: %w", ErrClosed)
	}
	if s.process != nil {
		if err := s.process.stop(); err != nil {
			return fmt.Errorf("localserver: restarting %s: %w", s.program.Path, err)
		}
	}
	if err := s.serve(ctx, ""); err != nil {
		return fmt.Errorf("localserver: restarting %s: %w", s.program.Path, err)
	}
	return nil
}

// serve starts the server on the data and waits until it answers. The caller
// holds mu.
func (s *Server) serve(ctx context.Context, initFile string) error {
	// The lock beside the socket names a process id that somebody else may have
	// by now; the server would take it for a rival.
	for _, stale := range []string{s.sockFile(), s.sockFile() + ".lock", filepath.Join(s.dataDir(), "s.sock.lock"), s.pidFile()} {
		os.Remove(stale)
	}
	args := s.serveArgs(initFile)
	if s.member != nil {
		more, err := s.member.Args(ctx)
		if err != nil {
			return err
		}
		args = append(args, more...)
	}
	started := s.logSize()
	process, err := s.spawn(args, nil)
	if err != nil {
		return err
	}
	s.process = process
	version, err := s.waitReady(ctx, process, started)
	if err == nil && s.member != nil {
		err = s.member.join(ctx)
	}
	if err != nil {
		process.kill()
		return err
	}
	s.version = version
	return nil
}

// accountSQL makes the account, for the socket and for the port. A server reads
// it, a statement a line, before it takes connections.
func accountSQL(password string) string {
	text := "SET sql_log_bin = 0;\n"
	for _, host := range []string{"localhost", "127.0.0.1"} {
		text += fmt.Sprintf("CREATE USER IF NOT EXISTS 'root'@'%s';\n", host)
		text += fmt.Sprintf("ALTER USER 'root'@'%s' IDENTIFIED BY '%s';\n", host, password)
		text += fmt.Sprintf("GRANT ALL PRIVILEGES ON *.* TO 'root'@'%s' WITH GRANT OPTION;\n", host)
	}
	return text + "DROP USER IF EXISTS 'root'@'::1';\n"
}

// randomText returns n random bytes in hexadecimal.
func randomText(n int) string {
	bytes := make([]byte, n)
	rand.Read(bytes)
	return hex.EncodeToString(bytes)
}
