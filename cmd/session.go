package cmd

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"prescient/config"
	"prescient/prescient"

	"prescient/prescient/client"
	"prescient/prescient/connect"
	"prescient/prescient/worker"
)

// connectTime bounds the first statements of a command, so that a server that hangs is told of.
const connectTime = 30 * time.Second

// session is a command at work: its configuration, the database, and what was made of these.
type session struct {
	app      *app
	config   config.Config
	log      zerolog.Logger
	db       *sqlx.DB
	registry *prescient.Registry
	client   *client.Client
	observer *worker.Observer // of the worker; nil for none
	closers  []func()
}

// load reads the configuration, which is all that some commands need.
func (a *app) load(cmd *cobra.Command) (config.Config, error) {
	return config.Load(config.Options{File: a.configFile, SearchPaths: a.options.ConfigPaths, Flags: cmd.Flags(),
		Env: a.options.Env, Environ: a.options.Environ})
}

// open reads the configuration and opens the database, whose tables may be missing still. lease is what its connections
// are set for; zero for the configured one.
func (a *app) open(cmd *cobra.Command, lease time.Duration) (*session, error) {
	c, err := a.load(cmd)
	if err != nil {
		return nil, err
	}
	dsn, err := c.RequireDSN()
	if err != nil {
		return nil, err
	}
	if lease == 0 {
		lease = c.Worker.Lease
	}
	db, err := connect.OpenTLS(dsn, lease, tlsOf(c.TLS))
	if err != nil {
		return nil, err
	}
	s := &session{app: a, config: c, log: a.newLogger(c.Log), db: db, registry: prescient.NewRegistry()}
	s.closers = append(s.closers, func() {
		if err := db.Close(); err != nil {
			s.log.Debug().Err(err).Msg("closing the database")
		}
	})
	return s, nil
}

func tlsOf(c config.TLS) connect.TLS {
	return connect.TLS{CA: []byte(c.CA), ServerName: c.ServerName, Cert: []byte(c.Cert), Key: []byte(c.Key.Reveal()),
		PublicKey: []byte(c.PublicKey)}
}

// connect is open, and a client on tables that have to be there.
func (a *app) connect(cmd *cobra.Command) (*session, error) {
	s, err := a.open(cmd, 0)
	if err != nil {
		return nil, err
	}
	if err := s.newClient(cmd.Context()); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// connectWithExecs is connect, and everything registered.
func (a *app) connectWithExecs(cmd *cobra.Command) (*session, error) {
	s, err := a.connect(cmd)
	if err != nil {
		return nil, err
	}
	if err := s.register(cmd.Context()); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// serving runs a command that runs slots. What it fails with is a line of the log too: that is where one looks for what
// became of a service, and a reader of JSON does not read the other line. Before there is a configuration there is no log.
func (a *app) serving(cmd *cobra.Command, serve func(s *session) error) error {
	s, err := a.open(cmd, 0)
	if err != nil {
		return err
	}
	defer s.close()
	if err = s.newClient(cmd.Context()); err == nil {
		err = s.register(cmd.Context())
	}
	if err == nil {
		s.warnIfNothingIsRegistered()
		err = serve(s)
	}
	if err != nil && !errors.Is(err, context.Canceled) {
		s.log.Error().Str(zerolog.ErrorFieldName, clip(inWords(err), longestComplaint)).Int("exit_code", ExitCode(err)).
			Msg(cmd.Name() + " failed")
	}
	return err
}

func (s *session) newClient(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, connectTime)
	defer cancel()
	var err error
	s.client, err = client.New(ctx, s.db, client.Options{Prefix: s.config.TablePrefix,
		Resolution: s.config.Grid.Resolution(), Guards: prescient.Guards(s.config.Guards), Registry: s.registry})
	return s.explain(err)
}

// newWorker returns a worker as it is configured.
func (s *session) newWorker(ctx context.Context) (*worker.Worker, error) {
	ctx, cancel := context.WithTimeout(ctx, connectTime)
	defer cancel()
	w, err := worker.New(ctx, s.db, s.workerOptions())
	return w, s.explain(err)
}

// workerOptions are those of the configuration.
func (s *session) workerOptions() worker.Options {
	c := s.config
	return worker.Options{
		Prefix:      c.TablePrefix,
		Resolution:  c.Grid.Resolution(),
		Registry:    s.registry,
		Guards:      prescient.Guards(c.Guards),
		Assignment:  c.Worker.Assignment,
		Name:        c.Worker.Name,
		Concurrency: c.Worker.Concurrency,
		Buckets:     c.Worker.Buckets,
		Batch:       c.Worker.Batch,
		Lease:       c.Worker.Lease,
		StopGrace:   c.Worker.StopGrace,
		Patience:    c.Worker.Patience,
		PutOffPurge: c.Worker.PutOffPurge,
		SweepEvery:  c.Sweep.Every,
		SweepGrace:  c.Sweep.Grace,
		SweepRate:   float64(c.Sweep.Rate),
		Observer:    s.observer,
		Log:         s.log,
	}
}

// now asks the database what time it is, to the millisecond: what people count from.
func (s *session) now(ctx context.Context) (time.Time, error) {
	ctx, cancel := context.WithTimeout(ctx, connectTime)
	defer cancel()
	now, err := s.client.Now(ctx, s.db)
	return now.Truncate(time.Millisecond), s.explain(err)
}

// explain adds to an error what is to be done about it: which database could not be reached, which command applies
// the migrations.
func (s *session) explain(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, prescient.ErrNotMigrated):
		return fmt.Errorf("%w (%s migrate applies them)", err, s.app.options.Program)
	case errors.Is(err, context.Canceled):
		return err
	case isInsecure(err) && s.config.TLS == (config.TLS{}):
		return fmt.Errorf("database %s: %w (if the server or the account wants TLS, give tls.ca_file)", s.config.DSN, err)
	case unreachable(err):
		return fmt.Errorf("database %s: %w", s.config.DSN, err)
	}
	return err
}

// close gives everything back, the last first.
func (s *session) close() {
	for i := len(s.closers) - 1; i >= 0; i-- {
		s.closers[i]()
	}
}
