package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jmoiron/sqlx"

	"prescient/prescient"
	text "prescient/sql"
)

// examination is one thing that Examine looks at.
type examination struct {
	code string
	run  func(*doctor, context.Context) ([]Finding, error)
	// reads are the tables that it reads: it is left out for a role that may not.
	reads []string
}

// examinations are what Examine looks at, in this order. Each costs a bounded number of rows, whatever the tables hold.
var examinations = []examination{
	{"resolution", (*doctor).examineResolution, nil},
	{"version", (*doctor).examineVersion, []string{"slot_config"}},
	{"schema", (*doctor).examineSchema, nil},
	{"paused", (*doctor).examinePaused, []string{"job_pause"}},
	{"overdue", (*doctor).examineOverdue, []string{"future_job"}},
	{"put_off", (*doctor).examinePutOff, []string{"future_job"}},
	{"schedules", (*doctor).examineSchedules, []string{"schedule", "future_job"}},
	{"long_runs", (*doctor).examineLongRuns, []string{"long_run", "future_job", "job_pause"}},
	{"events", (*doctor).examineEvents, []string{"event_outbox", "event_topic", "event_shard", "event_forwarder", "event_set_aside"}},
	{"audit", (*doctor).examineAudit, []string{"audit_log", "schedule", "job_definition", "step_definition"}},
	{"missed", (*doctor).examineMissed, []string{"slot_config", "slot_run"}},
	{"leases", (*doctor).examineLeases, []string{"slot_run"}},
	{"leases.far", (*doctor).examineFarLeases, []string{"slot_run"}},
	{"coverage", (*doctor).examineCoverage, nil},
	{"agents", (*doctor).examineAgents, []string{"agent", "schedule", "long_run"}},
	{"rows", (*doctor).examineRows, []string{"future_job"}},
	{"invariants", (*doctor).examineInvariants, nil},
	{"partitions", (*doctor).examinePartitions, nil},
	{"clock", (*doctor).examineClock, nil},
	{"binlog", (*doctor).examineBinlog, nil},
	{"durability", (*doctor).examineDurability, nil},
	{"purge", (*doctor).examinePurge, nil},
	{"blocking", (*doctor).examineBlocking, nil},
	{"settings", (*doctor).examineSettings, nil},
	{"time_zone", (*doctor).examineTimeZone, nil},
	{"grants", (*doctor).examineGrants, nil},
	{"grants.surplus", (*doctor).examineSurplus, nil},
}

// Examine looks for what is wrong with an installation, on a pool made by connect.Open. Each thing that it looks at has at least
// one finding. An error is returned only where the database cannot be asked at all; one that a single examination meets
// is a finding.
func Examine(ctx context.Context, db *sqlx.DB, options Options) ([]Finding, error) {
	options.Lease = cmp.Or(options.Lease, prescient.DefaultLease)
	options.SweepGrace = cmp.Or(options.SweepGrace, prescient.DefaultSweepGrace)
	options.SweepEvery = cmp.Or(options.SweepEvery, prescient.DefaultSweepEvery)
	options.ClockWarn = cmp.Or(options.ClockWarn, DefaultClockWarn)
	options.PartitionsAhead = cmp.Or(options.PartitionsAhead, text.PartitionSpan)
	options.PurgeBehind = cmp.Or(options.PurgeBehind, DefaultPurgeBehind)
	options.TransactionOpen = cmp.Or(options.TransactionOpen, DefaultTransactionOpen)
	options.Blocked = cmp.Or(options.Blocked, DefaultBlocked)
	asked := options.Use
	var err error
	if options.Use, err = ParseUse(string(asked)); err != nil {
		return nil, err
	}
	d := &doctor{db: db, options: options}
	if err := text.CheckPrefix(options.Prefix); err != nil {
		return nil, fmt.Errorf("%w: %w", prescient.ErrInvalid, err)
	}
	if d.tables.Server, d.tables.Dialect, err = options.Dialect.Choose(ctx, db); errors.Is(err, text.ErrDialect) {
		return nil, fmt.Errorf("%w: %w", prescient.ErrInvalid, err)
	} else if err != nil {
		return nil, err
	}
	if d.tables.Stmt, err = text.LoadFor(d.tables.Dialect, options.Prefix); err != nil {
		return nil, fmt.Errorf("%w: %w", prescient.ErrInvalid, err)
	}
	d.tables.Prefix = options.Prefix
	if asked == "" {
		if d.options.Use, err = d.ownUse(ctx); err != nil {
			return nil, err
		}
	}
	if err := d.open(ctx); errors.Is(err, prescient.ErrNotMigrated) {
		return []Finding{bad("tables", err.Error(), d.howToMigrate(ctx))}, nil
	} else if err != nil {
		return nil, err
	}
	var all []Finding
	for _, e := range examinations {
		if !d.mayUse("SELECT", e.reads...) {
			all = append(all, d.unseen(e.code, e.reads))
			continue
		}
		one, cancel := context.WithTimeout(ctx, examineTimeout)
		found, err := e.run(d, one)
		cancel()
		if ctx.Err() != nil {
			return all, ctx.Err()
		}
		if err != nil {
			why := err.Error()
			if errors.Is(err, context.DeadlineExceeded) {
				why = fmt.Sprintf("the look took longer than %s", examineTimeout)
			}
			found = append(found, warn(e.code, "This could not be looked at: "+why, "Mend what the error names. Mostly the user lacks a right."))
		}
		all = append(all, found...)
	}
	return d.afterReslot(all), nil
}

// afterReslot gives what an unfinished reslot leaves behind its place: the reslot is what is to be done first, and nothing
// that the findings for themselves would call for.
func (d *doctor) afterReslot(all []Finding) []Finding {
	for i := range all {
		f := &all[i]
		kind, _, _ := strings.Cut(f.Code, ".")
		if d.goesTo != 0 && f.Severity.Wrong() && slices.Contains([]string{"resolution", "schema", "overdue", "missed", "rows"}, kind) {
			f.Do = "End the reslot first, and run `doctor` again after that."
		}
	}
	return all
}
