package program

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"prescient/cmd/internal/exit"
	"prescient/config"
	"prescient/config/value"
	"prescient/prescient"
	"prescient/prescient/client"
	"prescient/prescient/connect"
	"prescient/prescient/longrun"
	"prescient/prescient/rulebook"
	"prescient/prescient/schedule"
	"prescient/prescient/service"
	"prescient/prescient/shards"
	"prescient/prescient/steps"
	"prescient/prescient/worker"
	"prescient/sql"
	"prescient/sql/migrate"
)

// ConnectTime bounds the first statements of a command, so that a server that hangs is told of.
const ConnectTime = 30 * time.Second

// Session is a command at work: its configuration, the database, and what was made of these.
type Session struct {
	Program *Program
	Config  config.Config
	Log     zerolog.Logger
	DB      *sqlx.DB
	// Shard is that of Vitess which the session is on, where a command does its work on each; empty for the whole of what the DSN names.
	Shard    string
	Registry *prescient.Registry
	Client   *client.Client
	// Schedules are those of the client.
	Schedules *schedule.Schedules
	// Jobs are those of the client.
	Jobs *steps.Jobs
	// Rules are those of the client.
	Rules *rulebook.Book
	// Long calls long runs, beside the worker and under its name; nil where there is none, as of a command that inserts.
	Long *longrun.Runner
	// Service is what works; nil in a command without a worker.
	Service *service.Service
	closers []func()
	lease   time.Duration // what the connections are set for
	away    func()        // called where the shard has no server
}

// Open reads the configuration and opens the database, whose tables may be missing still, for as long as do takes. lease is what its
// connections are set for; zero for the configured one.
func (prog *Program) Open(cmd *cobra.Command, lease time.Duration, do func(s *Session) error) error {
	return prog.OpenAs(cmd, func(*config.Config) {}, lease, do)
}

// OpenAs is Open with a configuration that was changed, as to another account.
func (prog *Program) OpenAs(cmd *cobra.Command, as func(c *config.Config), lease time.Duration, do func(s *Session) error) error {
	s, end, err := prog.Begin(cmd, as, lease)
	if err != nil {
		return err
	}
	defer end()
	return do(s)
}

// Begin is OpenAs until end is called.
func (prog *Program) Begin(cmd *cobra.Command, as func(c *config.Config), lease time.Duration) (s *Session, end func(), err error) {
	c, err := prog.Load(cmd)
	if err != nil {
		return nil, nil, err
	}
	as(&c)
	dsn, err := c.RequireDSN()
	if err != nil {
		return nil, nil, err
	}
	if err := prog.sayBy(cmd, c); err != nil {
		return nil, nil, err
	}
	if lease == 0 {
		lease = c.Worker.Lease
	}
	s = &Session{Program: prog, Config: c, Log: prog.Logger(c.Log), Registry: prescient.NewRegistry(), lease: lease}
	if s.DB, err = s.OpenPool(dsn, lease); err != nil {
		return nil, nil, err
	}
	return s, s.close, nil
}

// OpenPool opens a pool on a DSN, for as long as the session lasts.
func (s *Session) OpenPool(dsn string, lease time.Duration) (*sqlx.DB, error) {
	return s.openPool(dsn, connect.Options{Lease: lease, Connections: s.Config.Connections, StatementTime: s.Program.StatementTime, Shard: s.Shard, Away: s.away})
}

func (s *Session) openPool(dsn string, o connect.Options) (*sqlx.DB, error) {
	o.TLS = tlsOf(s.Config.TLS)
	db, err := connect.OpenWith(dsn, o)
	if err != nil {
		return nil, err
	}
	s.closers = append(s.closers, func() {
		if err := db.Close(); err != nil {
			s.Log.Debug().Err(err).Msg("closing the database")
		}
	})
	return db, nil
}

func tlsOf(c config.TLS) connect.TLS {
	return connect.TLS{CA: []byte(c.CA), ServerName: c.ServerName, Cert: []byte(c.Cert), Key: []byte(c.Key.Reveal()),
		PublicKey: []byte(c.PublicKey)}
}

// Connect is Open, and makes a client on tables that have to be there.
func (prog *Program) Connect(cmd *cobra.Command, do func(s *Session) error) error {
	return prog.Open(cmd, 0, func(s *Session) error {
		if err := s.NewClient(cmd.Context()); err != nil {
			return err
		}
		return do(s)
	})
}

// Read is Connect for a command that writes nothing: of whichever resolution the tables are.
func (prog *Program) Read(cmd *cobra.Command, do func(s *Session) error) error {
	return prog.Open(cmd, 0, func(s *Session) error { return s.read(cmd.Context(), do) })
}

func (s *Session) read(ctx context.Context, do func(s *Session) error) error {
	if err := s.newClient(ctx, 0); err != nil {
		return err
	}
	s.Config.Grid = s.Client.Grid()
	return do(s)
}

// NewClient makes the client, on tables of the resolution that is configured.
func (s *Session) NewClient(ctx context.Context) error {
	return s.newClient(ctx, s.Config.Grid.Resolution())
}

// newClient is NewClient on tables of a resolution; 0 for any.
func (s *Session) newClient(ctx context.Context, resolution time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, ConnectTime)
	defer cancel()
	var err error
	s.Client, err = client.New(ctx, s.DB, client.Options{Prefix: s.Config.TablePrefix, Dialect: sql.Dialect(s.Config.Dialect),
		Resolution: resolution, Guards: s.Config.Guards, Registry: s.Registry})
	if err == nil {
		s.Schedules, s.Rules = schedule.New(s.Client), rulebook.New(s.Client)
		s.Jobs = steps.New(s.Client, steps.Options{Guards: s.Config.Guards, Log: s.Log})
	}
	return s.Explain(err)
}

// NewWorker returns a worker as it is configured, for what runs no slot.
func (s *Session) NewWorker(ctx context.Context) (*worker.Worker, error) {
	ctx, cancel := context.WithTimeout(ctx, ConnectTime)
	defer cancel()
	w, err := worker.New(ctx, s.DB, s.workerOptions())
	return w, s.Explain(err)
}

// workerOptions are those of the configuration.
func (s *Session) workerOptions() worker.Options {
	c := s.Config
	return worker.Options{
		Prefix:     c.TablePrefix,
		Dialect:    sql.Dialect(c.Dialect),
		Resolution: c.Grid.Resolution(),
		Registry:   s.Registry,
		Guards:     c.Guards,
		Assignment: c.Worker.Assignment,
		Name:       c.Worker.Name,
		Load: worker.Load{
			Concurrency:  c.Worker.Concurrency,
			Buckets:      c.Worker.Buckets,
			Batch:        c.Worker.Batch,
			Pace:         worker.Pace(c.Worker.Pace),
			FinishWithin: c.Worker.FinishWithin,
			PutOffPurge:  c.Worker.PutOffPurge,
		},
		Times: worker.Times{Lease: c.Worker.Lease, StopGrace: c.Worker.StopGrace, Patience: c.Worker.Patience},
		Sweep: worker.Sweep{Every: c.Sweep.Every, Grace: c.Sweep.Grace, Rate: float64(c.Sweep.Rate), FinishWithin: c.Sweep.FinishWithin},
		Log:   s.Log,
	}
}

// Now asks the database what time it is, to the millisecond: what people count from.
func (s *Session) Now(ctx context.Context) (time.Time, error) {
	ctx, cancel := context.WithTimeout(ctx, ConnectTime)
	defer cancel()
	now, err := s.Client.Now(ctx, s.DB)
	return now.Truncate(time.Millisecond), s.Explain(err)
}

// Explain adds to an error what is to be done about it: which database could not be reached, which command applies
// the migrations or prints rights, and who may have the rows locked for which a statement waited in vain.
func (s *Session) Explain(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, prescient.ErrNotMigrated):
		ctx, cancel := context.WithTimeout(context.Background(), ConnectTime)
		defer cancel()
		if s.Unprepared(ctx) {
			return fmt.Errorf("%w. A reshard has made its tables: run `%s`, which copies what all shards have alike", err, s.Program.withConfig("vschema prepare"))
		}
		schema := migrate.Schema{Prefix: s.Config.TablePrefix, Resolution: s.Config.Grid.Resolution()}
		return fmt.Errorf("%w. %s", err, migrate.Advice(ctx, s.DB.DB, schema, s.Program.withConfig("migrate")))
	case errors.Is(err, context.Canceled):
		return err
	case exit.IsDenied(err):
		return fmt.Errorf("%w (the account lacks this right%s: use the account of such a role, or have an administrator run what %s grants prints)", err, s.rolesWith(err), s.Program.Name)
	case exit.IsInsecure(err) && s.Config.TLS == (config.TLS{}):
		return fmt.Errorf("database %s: %w (see first whether user and password of the DSN are right and the account may come from this host; if the server or the account wants TLS, as with require_secure_transport, give tls.ca_file, or tls=true in the DSN)", s.Config.DSN, err)
	case connect.IsUnreachable(err):
		return fmt.Errorf("database %s: %w", s.Config.DSN, err)
	}
	err = migrate.Schema{Prefix: s.Config.TablePrefix}.RowsHeld(context.Background(), s.DB, err)
	if held := new(migrate.HeldError); errors.As(err, &held) && held.Rows && held.Lacks != "" {
		return fmt.Errorf("%w. Run this again: while it waits, %s blocking says by whom, to an account that may see that", err, s.Program.Name)
	}
	return err
}

// Unprepared says whether the session is on a shard of Vitess which a reshard has made and which has nothing yet of what all shards have alike.
func (s *Session) Unprepared(ctx context.Context) bool {
	server, err := sql.ServerOf(ctx, s.DB)
	if err != nil || server != sql.VitessShard {
		return false
	}
	is, err := shards.Prepared(ctx, s.DB, s.Config.TablePrefix)
	return err == nil && !is
}

// rolesWith names the roles that have the right for want of which an error came.
func (s *Session) rolesWith(err error) string {
	right, name, column, is := exit.Denied(err)
	roles := sql.RolesWith(right, strings.TrimPrefix(name, s.Config.TablePrefix), column, sql.Dialect(s.Config.Dialect))
	switch {
	case !is || len(roles) == 0:
		return ""
	case len(roles) == 1:
		return ", which the role " + roles[0] + " has"
	}
	return ", which the roles " + value.List(roles, "and") + " have"
}

// OnClose has something given back with the session.
func (s *Session) OnClose(do func()) { s.closers = append(s.closers, do) }

// close gives everything back, the last first.
func (s *Session) close() {
	for i := len(s.closers) - 1; i >= 0; i-- {
		s.closers[i]()
	}
}
