package localserver

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"prescient/prescient/localserver/internal/folder"
	"prescient/prescient/localserver/internal/port"
	"prescient/prescient/localserver/internal/process"
)

// portAttempts is how often Start tries another port after somebody else took
// the one that was free a moment ago.
const portAttempts = 5

// startTimeout bounds every start, whatever its context says: a server that
// has not answered by then never will.
const startTimeout = 2 * time.Minute

// member is a server's part in a cluster.
type member interface {
	// args returns further arguments for a start.
	args(ctx context.Context) ([]string, error)
	// join is called once the server answers. It returns when the server has what the others have.
	join(ctx context.Context, begun starting) error
}

// Start starts a server and returns when it answers. ctx bounds the start
// only; the server runs until Close or the end of the process.
func Start(ctx context.Context, options Options) (*Server, error) {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	program, err := Find(ctx, options)
	if err != nil {
		return nil, err
	}
	server := newServer(program, options, rand.Text())
	if err := server.prepare(ctx); err != nil {
		server.installation.folder.Remove()
		return nil, fmt.Errorf("localserver: starting %s: %w", program.Path, err)
	}
	return server, nil
}

func newServer(program Program, options Options, password string) *Server {
	return &Server{installation: installation{program: program, options: options}, account: account{password: password}}
}

func (s *Server) makeFolder() (err error) {
	s.installation.folder, err = folder.Make(s.installation.options.Parent)
	return err
}

// prepare makes the folder, the system tables and the account, and serves.
func (s *Server) prepare(ctx context.Context) error {
	if err := s.makeFolder(); err != nil {
		return err
	}
	if err := s.installation.bootstrap(ctx); err != nil {
		return err
	}
	initFile := filepath.Join(s.Dir(), "account.sql")
	if err := os.WriteFile(initFile, []byte(s.account.statements()), 0o600); err != nil {
		return fmt.Errorf("writing the account: %w", err)
	}
	defer os.Remove(initFile)

	s.mu.Lock()
	defer s.mu.Unlock()
	for attempt := 1; ; attempt++ {
		free, err := port.Free()
		if err != nil {
			return err
		}
		s.account.port = free
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
		if err := s.process.Stop(); err != nil {
			return fmt.Errorf("localserver: restarting %s: %w", s.installation.program.Path, err)
		}
	}
	if err := s.serve(ctx, ""); err != nil {
		return fmt.Errorf("localserver: restarting %s: %w", s.installation.program.Path, err)
	}
	return nil
}

// serve starts the server on the data and waits until it answers. The caller
// holds mu.
func (s *Server) serve(ctx context.Context, initFile string) error {
	i := s.installation
	i.folder.RemoveStale()
	args := i.serveArgs(s.account.port, initFile)
	if s.member != nil {
		more, err := s.member.args(ctx)
		if err != nil {
			return err
		}
		args = append(args, more...)
	}
	run, err := process.Start(process.Command{
		Program: i.program.Path, Args: args, Dir: i.folder.Path, Env: i.options.Env, Log: i.folder.Log(), Hidden: s.account.password,
	})
	if err != nil {
		return err
	}
	s.process = run
	begun := starting{account: s.account, process: run}
	version, err := begun.ready(ctx)
	if err == nil && s.member != nil {
		err = s.member.join(ctx, begun)
	}
	if err != nil {
		run.Kill()
		return err
	}
	s.version = version
	return nil
}
