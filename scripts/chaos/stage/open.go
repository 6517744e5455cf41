package stage

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/jmoiron/sqlx"

	"prescient/prescient"
	"prescient/prescient/client"
	"prescient/prescient/connect"
	"prescient/prescient/localserver/vitess"
	"prescient/prescient/schedule"
	"prescient/scripts/chaos/checker"
	"prescient/scripts/chaos/checker/evidence"
	"prescient/scripts/chaos/wire"
	"prescient/sql/migrate"
)

// open makes database, tables and journal, and names the socket.
func (s *Stage) open(ctx context.Context) (err error) {
	if s.journal, err = checker.NewJournal(filepath.Join(s.Dir, "journal.jsonl")); err != nil {
		return err
	}
	s.reports = newReports(s.journal, s.Logf)
	if s.Engine.Vitess == nil {
		if err := s.makeDatabase(ctx); err != nil {
			return fmt.Errorf("making the database: %w", err)
		}
	}
	if err := s.openParts(); err != nil {
		return err
	}
	dsn, err := s.appDSN()
	if err != nil {
		return err
	}
	if s.App, err = open(dsn); err != nil {
		return err
	}
	s.App.SetConnMaxLifetime(2 * time.Second) // new ones see what was set meanwhile
	for _, p := range s.parts {
		if err := s.makeTables(ctx, p); err != nil {
			return err
		}
	}
	if s.Engine.Vitess != nil {
		if err := s.awaitTables(ctx); err != nil {
			return err
		}
	}
	if s.Client, err = client.New(ctx, s.App, client.Options{Prefix: Prefix}); err != nil {
		return err
	}
	s.Plans = schedule.New(s.Client)
	if !s.hasJobs() {
		return nil
	}
	return s.makeJobs(ctx)
}

func (s *Stage) makeDatabase(ctx context.Context) error {
	statements := []string{"DROP DATABASE IF EXISTS " + s.Database, "CREATE DATABASE " + s.Database + " CHARACTER SET utf8mb4"}
	if s.Engine.Server != nil {
		statements = append(statements, "CREATE USER IF NOT EXISTS "+workerUser+" IDENTIFIED BY '"+workerPassword+"'",
			"GRANT ALL ON "+s.Database+".* TO "+workerUser)
	}
	return s.Engine.admin(ctx, statements...)
}

// openParts names the parts.
func (s *Stage) openParts() error {
	if s.Engine.Vitess == nil {
		s.parts = []*part{{ledgers: []*ledger{{dsn: s.dsn}}}}
		return nil
	}
	for _, shard := range s.Engine.Vitess.Shards {
		l, err := s.ledgerOf(shard, 0)
		if err != nil {
			return err
		}
		s.parts = append(s.parts, &part{shard: shard.Name, keys: l.Keys, ledgers: []*ledger{l}})
	}
	return nil
}

// makeTables makes the tables of a part, and has it note what they do not keep.
func (s *Stage) makeTables(ctx context.Context, p *part) error {
	if err := s.migrate(ctx, p); err != nil {
		return err
	}
	return p.ledgers[0].with("", func(db *sqlx.DB) error {
		// No key but a number, without which a replication group refuses rows: an effect that is there twice must show.
		if _, err := db.ExecContext(ctx, "CREATE TABLE "+Prefix+"effects (id BIGINT NOT NULL, checks INT NOT NULL, n BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY)"); err != nil {
			return err
		}
		if err := errors.Join(evidence.MakeJobs(ctx, db.DB, Prefix), evidence.Watch(ctx, db.DB, Prefix)); err != nil {
			return err
		}
		statements := s.Scenario.Tables
		if s.Scenario.Hours {
			statements = append(hours(), statements...)
		}
		for _, statement := range statements {
			if _, err := db.ExecContext(ctx, statement); err != nil {
				return fmt.Errorf("setting up: %w", err)
			}
		}
		return nil
	})
}

// migrate makes the tables of the product, as its users do.
func (s *Stage) migrate(ctx context.Context, p *part) error {
	dsn := s.dsn("")
	if p.shard != "" {
		dsn = s.Engine.Vitess.shard(p.shard).DSN()
	}
	db, err := connect.Open(dsn, 0)
	if err != nil {
		return err
	}
	_, err = migrate.Up(ctx, db.DB, migrate.Schema{Prefix: Prefix, Resolution: resolution})
	return errors.Join(err, db.Close())
}

// awaitTables rehearses what apps do, and takes it back, until vtgate has heard of all tables and columns.
func (s *Stage) awaitTables(ctx context.Context) error {
	if err := s.Engine.Vitess.Control(ctx, "ReloadSchemaKeyspace", vitess.Keyspace); err != nil {
		return err
	}
	var err error
	for until := time.Now().Add(time.Minute); time.Now().Before(until); Pause(ctx, 200*time.Millisecond) {
		if err = s.rehearse(ctx); err == nil {
			return nil
		}
	}
	return fmt.Errorf("waiting until vtgate knows the tables: %w", err)
}

func (s *Stage) rehearse(ctx context.Context) error {
	c, err := client.New(ctx, s.App, client.Options{Prefix: Prefix})
	if err != nil {
		return err
	}
	for n := range 8 { // some on each shard
		tx, err := s.App.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		name := fmt.Sprint("rehearsal", n)
		one := prescient.NewJob{Entity: prescient.Entity{Name: entity, Key: name}, JobExec: "done", DueAt: s.Now().Add(time.Hour)}
		_, err = c.Insert(ctx, tx, one)
		if err == nil {
			_, err = c.Reschedule(ctx, tx, one.Entity, one.JobExec, "", one.DueAt.Add(time.Hour))
		}
		if err == nil {
			_, err = c.Cancel(ctx, tx, one.Entity, one.JobExec)
		}
		if err == nil {
			_, err = schedule.New(c).Create(ctx, tx, schedule.Schedule{ID: name, Crontabs: []string{"@daily"}, JobExec: "done"})
		}
		if err == nil {
			_, err = schedule.New(c).Delete(ctx, tx, name)
		}
		if err = errors.Join(err, tx.Rollback()); err != nil {
			return err
		}
	}
	return nil
}

// gates is how many networks between apps and a vtgate there were in this process.
var gates atomic.Int64

// appDSN names the database for the apps: of a Vitess, by the network that breaks.
func (s *Stage) appDSN() (string, error) {
	const params = "readTimeout=10s&timeout=5s"
	if s.Scenario.AppWire == nil {
		return s.dsn(params), nil
	}
	plan, err := wire.With(s.Scenario.AppWire, s.Seed)
	if err != nil {
		return "", err
	}
	plan.Whole = func() bool { return !s.begun.Load() || s.over.Load() }
	plan.Tell = func(what, statement string, lasts time.Duration) {
		s.journal.Note(checker.Event{Kind: checker.Fault, What: what + " to an app", Worker: "an app", Key: statement[:min(len(statement), 60)], Took: lasts + aftermath})
	}
	network := fmt.Sprintf("%s-app-%d", wire.Network, gates.Add(1))
	mysql.RegisterDialContext(network, plan.Dial)
	return with(s.Engine.dsn(s.Database, 0, func(config *mysql.Config) { config.Net = network }), params), nil
}
