package stage

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-sql-driver/mysql"

	"prescient/prescient"
	"prescient/prescient/client"
	"prescient/prescient/schedule"
	"prescient/prescient/steps"
	"prescient/scripts/chaos/checker"
	"prescient/scripts/chaos/wire"
	"prescient/scripts/chaos/worker"
)

// Setup says what is played, and where.
type Setup struct {
	Scenario     Scenario
	Engine       Engine
	Seed         uint64
	Rows         int    // that are inserted at least, however long that takes
	Dir          string // for the journal and logs
	Database     string
	ClockProgram string // a worker whose clock can be set, for the scenarios that do
	Logf         func(format string, args ...any)
}

// Stage is one run of one scenario.
type Stage struct {
	Setup
	journal *checker.Journal
	reports *reports
	App     *sql.DB
	Client  *client.Client
	Plans   *schedule.Schedules
	jobs    *steps.Jobs
	crew    *crew
	parts   []*part
	begun   atomic.Bool // apps and workers
	over    atomic.Bool // the time of faults
	mu      sync.Mutex
	found   []checker.Finding // by the scenario itself

	Timings map[string]time.Duration // that the scenario took
	Remarks []string                 // for those who read the table
}

// dsn names the stage's database, with further parameters.
func (s *Stage) dsn(params string) string { return with(s.Engine.dsn(s.Database, 0, nil), params) }

// workerDSN names it for the worker in a place: by the network that breaks, each worker at home on another node of a
// cluster, and on a server of our own by an account without any rights that let it by where others are refused.
func (s *Stage) workerDSN(place int) string {
	return with(s.Engine.dsn(s.Database, place, func(config *mysql.Config) {
		config.Net = wire.Network
		if s.Engine.Server != nil {
			config.User, config.Passwd = workerUser, workerPassword
		}
	}), s.Scenario.Workers.Params)
}

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

// rules are what the checker is to hold a part of this run against.
func (s *Stage) rules(p *part) checker.Rules {
	rules := checker.Rules{Resolution: resolution, Entity: entity, Batch: batch, Streams: 2, MaxLate: maxLate,
		MaxChecks: maxChecks, MaxErrors: maxErrors, InFlight: 10 * time.Second, Lease: Lease, Outcomes: worker.Outcomes(), Tx: worker.IsTx(), Long: worker.IsLong(), Callers: worker.Callers(),
		Steps: worker.Steps(), StepTx: worker.TxStep,
		LocksNeighbours: s.Engine.LocksNeighbours()}
	if s.Scenario.Rules != nil {
		s.Scenario.Rules(&rules)
	}
	if s.beside(p) {
		rules.MaxLate, rules.Beside = maxLate, s.Scenario.Beside
	}
	return rules
}

// wire is what happens to the statements of a worker, as long as it is time for faults.
func (s *Stage) wire(place, life int) []wire.Rule {
	if s.Scenario.Workers.Wire == nil || s.over.Load() {
		return nil
	}
	return s.Scenario.Workers.Wire(place, life)
}

// counted are the outcomes that slot runs count: all but those of the app.
func counted() (list []string) {
	for _, outcome := range prescient.Outcomes() {
		if !outcome.ByApp() {
			list = append(list, string(outcome))
		}
	}
	return list
}

// Clear drops the stage's database.
func (s *Stage) Clear(ctx context.Context) error {
	var err error
	if s.Engine.Vitess == nil {
		err = s.Engine.admin(ctx, "DROP DATABASE IF EXISTS "+s.Database)
	}
	return errors.Join(err, os.RemoveAll(s.Dir))
}
