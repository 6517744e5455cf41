package dev

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"prescient/cmd/internal/exit"
	"prescient/cmd/internal/private"
	"prescient/cmd/internal/program"
	"prescient/cmd/internal/words"
	"prescient/config"
	"prescient/config/value"
	"prescient/prescient/connect"
	"prescient/prescient/event/broker"
	"prescient/prescient/localserver"
	"prescient/prescient/worker"
	"prescient/slots"
	"prescient/sql"
	"prescient/sql/migrate"
)

// database is the name of the database.
const database = "dev"

// What makes a person wait is short.
const (
	lookEvery  = 250 * time.Millisecond // at the file
	graceTime  = 5 * time.Second        // for what is under way when the file has changed, or dev is to end
	sweepEvery = 5 * time.Second
	sweepGrace = 2 * time.Second
)

// stage is what stays while readings of the configuration come and go: the server, its tables and the page.
type stage struct {
	cmd   *cobra.Command
	prog  *program.Program
	flags flags
	told  *told
	ends  []func() error // the last first

	server *localserver.Server
	dsn    string
	db     *sqlx.DB
	prefix string
	file   file
	page   string // its URL; empty for none
	now    *reading
}

func newStage(cmd *cobra.Command, prog *program.Program, f flags) *stage {
	s := &stage{cmd: cmd, prog: prog, flags: f, told: &told{out: cmd.OutOrStdout(), json: prog.JSON}}
	prog.NoDatabase, prog.Calls = true, answered
	prog.Brokers = map[string]broker.Open{scheme: s.told.open}
	return s
}

func (s *stage) onEnd(do func() error) { s.ends = append(s.ends, do) }

func (s *stage) end() error {
	var all []error
	for i := len(s.ends) - 1; i >= 0; i-- {
		all = append(all, s.ends[i]())
	}
	return errors.Join(all...)
}

// set makes all that is needed. A fault of the configuration, and an address that is taken, are found before the server is started.
func (s *stage) set(ctx context.Context) error {
	c, err := s.prog.Load(s.cmd)
	if err != nil {
		return err
	}
	s.prefix, s.file = c.TablePrefix, newFile(cmp.Or(c.File, "prescient.yaml"))
	if c.File != "" {
		s.prog.ConfigFile = c.File // so that nobody else's is read once it is gone
	}
	if err := s.file.check(); err != nil {
		return err
	}
	var listener net.Listener
	if s.prog.Page != nil {
		if listener, err = listen(ctx, s.flags.listen, s.cmd.Flags().Changed("listen")); err != nil {
			return err
		}
		s.page = private.URL(listener)
		s.onEnd(func() error { _ = listener.Close(); return nil }) // it is closed by then, where the page was served
	}
	if err := s.makeTables(ctx, c); err != nil {
		return err
	}
	if s.now, err = s.read(ctx); err != nil {
		return err
	}
	s.onEnd(func() error { return s.now.end() })
	if listener != nil {
		stop, err := private.Page{DB: s.db, Prefix: s.prefix, Dialect: sql.Dialect(c.Dialect), Guards: c.Guards, Place: cmp.Or(c.Serve.Place, database), Colour: c.Serve.Colour,
			Worker: worker.NewName(), Log: s.now.Log}.Serve(ctx, s.prog, listener)
		if err != nil {
			return fmt.Errorf("the page: %w", err)
		}
		s.onEnd(func() error { stop(); return nil })
	}
	return s.introduce(ctx)
}

// makeTables starts the server, and migrates.
func (s *stage) makeTables(ctx context.Context, c config.Config) (err error) {
	if s.server, s.dsn, err = private.Start(ctx, s.flags.server, database); err != nil {
		return err
	}
	s.onEnd(s.server.Close)
	if s.db, err = connect.Open(s.dsn, 0); err != nil {
		return err
	}
	s.onEnd(s.db.Close)
	_, err = migrate.Up(ctx, s.db.DB, migrate.Schema{Prefix: s.prefix, Dialect: sql.Dialect(c.Dialect), Resolution: s.flags.resolution})
	return err
}

// own has a configuration count, but for what dev has of its own.
func (s *stage) own(c *config.Config) {
	c.DSN = value.SecretShownAs(s.dsn, "of the private server")
	c.Grid, _ = slots.NewGrid(s.flags.resolution) // the flag was checked
	c.Worker.Assignment, c.Worker.Name, c.Worker.FinishWithin = slots.Assignment{}, "", 0
	c.Worker.StopGrace = min(c.Worker.StopGrace, graceTime)
	c.Sweep.Every, c.Sweep.Grace = min(c.Sweep.Every, sweepEvery), min(c.Sweep.Grace, sweepGrace)
	c.Heartbeats = config.Heartbeats{}
	c.Events.Routes = printed(c.Events.Routes)
	if !s.cmd.Flags().Changed("log-level") {
		c.Log.Level = max(c.Log.Level, zerolog.WarnLevel) // a slot comes every few seconds
	}
}

// work has the readings of the file follow each other until ctx ends.
func (s *stage) work(ctx context.Context) error {
	s.now.begin(ctx)
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil // the reading ends with the stage, which has its error
		case <-s.now.ended:
			return nil // as there
		case <-look.C:
			if !s.file.changed() {
				continue
			}
		}
		next, err := s.read(ctx)
		if err != nil && ctx.Err() == nil {
			// There is nobody to tell when stderr fails.
			_, _ = io.WriteString(s.cmd.ErrOrStderr(), words.Complaint(s.prog.Name, err)+s.prog.Name+": the checks of before go on until the file is right\n")
		}
		if err != nil {
			continue
		}
		err = s.now.end()
		s.now = next
		if err != nil {
			return err
		}
		s.now.begin(ctx)
		s.say()
	}
}

// samePrefix refuses a file that names other tables than were made.
func (s *stage) samePrefix(c config.Config) error {
	if c.TablePrefix == s.prefix {
		return nil
	}
	return exit.Usage(fmt.Errorf("table_prefix %s: the tables were made with %s; start %s dev again", value.Quote(c.TablePrefix), value.Quote(s.prefix), s.prog.Name))
}
