package ops

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/prometheus/client_golang/prometheus"

	"prescient/prescient"
	"prescient/prescient/agent"
	"prescient/prescient/audit"
	"prescient/prescient/bulk"
	"prescient/prescient/client"
	"prescient/prescient/doctor"
	"prescient/prescient/event"
	"prescient/prescient/gauges"
	"prescient/prescient/internal/password"
	"prescient/prescient/internal/recent"
	"prescient/prescient/internal/reserved"
	"prescient/prescient/internal/store"
	"prescient/prescient/rulebook"
	"prescient/prescient/schedule"
	"prescient/prescient/steps"
	text "prescient/sql"
)

// Ops does operations on one installation. It is for concurrent use.
type Ops struct {
	accounts  Accounts
	tables    *store.Tables
	client    *client.Client
	schedules *schedule.Schedules
	jobs      *steps.Jobs
	rules     *rulebook.Book
	outbox    *event.Outbox
	bulk      *bulk.Bulk
	agents    agent.Controls
	audit     audit.Log
	passwords *password.Hasher
	seen      *seen
	recent    recent.Answers
	options   Options
}

// Accounts are pools, made by connect.Open, of the database accounts that operations run on: one for each role of a caller.
type Accounts struct {
	Viewer, Operator, Admin *sqlx.DB
}

// of returns the pool of a role. A role that is none has none.
func (a Accounts) of(role Role) *sqlx.DB {
	return map[Role]*sqlx.DB{Viewer: a.Viewer, Operator: a.Operator, Admin: a.Admin}[role]
}

// Options are for Open.
type Options struct {
	// Accounts are all needed; they may be the same.
	Accounts Accounts
	// Prefix of the table names; empty by default.
	Prefix string
	// Dialect is [text.Auto] by default: what the server can do.
	Dialect text.Dialect
	// Guards of the installation; their Horizon bounds what is inserted and moved.
	Guards prescient.Guards
	// Registry is optional: with it the horizon of each job_exec is known.
	Registry *prescient.Registry
	// Search is for how long a list is searched where no index serves its filter, 60 ms by default: it has what was found then, and where to go on.
	Search time.Duration
	// Doctor is what the doctor's thresholds are. Its Prefix and Dialect are set here.
	Doctor doctor.Options
	// Metrics are what this process tells of itself, beside what ReadMetrics tells of the database; none by default.
	Metrics []prometheus.Collector
	// Program is what the audit calls the program; by default that of the process.
	Program string
}

// Open reads slot_config by the viewer's account. The error wraps prescient.ErrNotMigrated or prescient.ErrInvalid.
func Open(ctx context.Context, o Options) (*Ops, error) {
	for _, role := range Roles {
		if o.Accounts.of(role) == nil {
			return nil, fmt.Errorf("%w: there is no database account for the role %s", prescient.ErrInvalid, role)
		}
	}
	db := o.Accounts.Viewer
	c, err := client.New(ctx, db, client.Options{Prefix: o.Prefix, Dialect: o.Dialect, Guards: o.Guards, Registry: o.Registry})
	if err != nil {
		return nil, err
	}
	o.Doctor.Prefix, o.Doctor.Dialect, o.Search = o.Prefix, o.Dialect, cmp.Or(o.Search, 60*time.Millisecond)
	s, tables := schedule.New(c), c.Bulk(reserved.Bulk()).Tables()
	made := &Ops{accounts: o.Accounts, tables: tables, client: c, schedules: s, jobs: steps.New(c, steps.Options{Guards: o.Guards}), rules: rulebook.New(c), outbox: s.Outbox(), bulk: bulk.New(c),
		agents: agent.ControlsOn(tables), audit: audit.On(tables), passwords: password.NewHasher(), recent: recent.Answers{Most: 256}, options: o}
	made.look()
	return made, nil
}

// seen is what is looked at for all callers, and remembered for some seconds.
type seen struct {
	metrics *prometheus.Registry
	ready   gauges.Remembered[error]
}

// look prepares what is looked at, by the account of viewers.
func (o *Ops) look() {
	o.seen = &seen{metrics: prometheus.NewRegistry()}
	o.seen.metrics.MustRegister(o.options.Metrics...)
	o.seen.metrics.MustRegister(gauges.NewDatabase(o.accounts.Viewer, o.tables, o.options.Doctor.SweepGrace))
}
