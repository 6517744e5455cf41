package stage

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-sql-driver/mysql"

	"prescient/prescient/client"
	"prescient/prescient/schedule"
	"prescient/prescient/steps"
	"prescient/scripts/chaos/checker"
	"prescient/scripts/chaos/wire"
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

// wire is what happens to the statements of a worker, as long as it is time for faults.
func (s *Stage) wire(place, life int) []wire.Rule {
	if s.Scenario.Workers.Wire == nil || s.over.Load() {
		return nil
	}
	return s.Scenario.Workers.Wire(place, life)
}

// Clear drops the stage's database.
func (s *Stage) Clear(ctx context.Context) error {
	var err error
	if s.Engine.Vitess == nil {
		err = s.Engine.admin(ctx, "DROP DATABASE IF EXISTS "+s.Database)
	}
	return errors.Join(err, os.RemoveAll(s.Dir))
}
