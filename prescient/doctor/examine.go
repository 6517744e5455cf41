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

// check is one thing that Examine looks at.
type check struct {
	code string
	run  func(*doctor, context.Context) ([]Finding, error)
	// reads are the tables that it reads: it is left out for a role that may not.
	reads []string
}

// checks are what Examine looks at, in this order. Each costs a bounded number of rows, whatever the tables hold.
var checks = []check{
	{"resolution", (*doctor).checkResolution, nil},
	{"version", (*doctor).checkVersion, []string{"slot_config"}},
	{"schema", (*doctor).checkSchema, nil},
	{"paused", (*doctor).checkPaused, []string{"job_pause"}},
	{"overdue", (*doctor).checkOverdue, []string{"future_job"}},
	{"put_off", (*doctor).checkPutOff, []string{"future_job"}},
	{"missed", (*doctor).checkMissed, []string{"slot_config", "slot_run"}},
	{"leases", (*doctor).checkLeases, []string{"slot_run"}},
	{"leases.far", (*doctor).checkFarLeases, []string{"slot_run"}},
	{"coverage", (*doctor).checkCoverage, nil},
	{"rows", (*doctor).checkRows, []string{"future_job"}},
	{"invariants", (*doctor).checkInvariants, nil},
	{"partitions", (*doctor).checkPartitions, nil},
	{"clock", (*doctor).checkClock, nil},
	{"binlog", (*doctor).checkBinlog, nil},
	{"durability", (*doctor).checkDurability, nil},
	{"settings", (*doctor).checkSettings, nil},
	{"time_zone", (*doctor).checkTimeZone, nil},
	{"grants", (*doctor).checkGrants, nil},
}

// Examine looks for what is wrong with an installation, on a pool made by connect.Open. Each thing that it looks at has at least
// one finding. An error is returned only where the database cannot be asked at all; one that meets a single check is a
// finding of it.
func Examine(ctx context.Context, db *sqlx.DB, options Options) ([]Finding, error) {
	options.Lease = cmp.Or(options.Lease, prescient.DefaultLease)
	options.SweepGrace = cmp.Or(options.SweepGrace, prescient.DefaultSweepGrace)
	options.SweepEvery = cmp.Or(options.SweepEvery, prescient.DefaultSweepEvery)
	options.ClockWarn = cmp.Or(options.ClockWarn, DefaultClockWarn)
	options.PartitionsAhead = cmp.Or(options.PartitionsAhead, text.PartitionSpan)
	var err error
	if options.Use, err = ParseUse(string(options.Use)); err != nil {
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
	if err := d.open(ctx); errors.Is(err, prescient.ErrNotMigrated) {
		return []Finding{bad("tables", err.Error(), d.howToMigrate(ctx))}, nil
	} else if err != nil {
		return nil, err
	}
	var all []Finding
	for _, check := range checks {
		if !d.sees("SELECT", check.reads...) {
			all = append(all, options.Use.unseen(check.code, check.reads))
			continue
		}
		one, cancel := context.WithTimeout(ctx, checkTimeout)
		found, err := check.run(d, one)
		cancel()
		if ctx.Err() != nil {
			return all, ctx.Err()
		}
		if err != nil {
			why := err.Error()
			if errors.Is(err, context.DeadlineExceeded) {
				why = fmt.Sprintf("it took longer than %s", checkTimeout)
			}
			found = append(found, warn(check.code, "this could not be looked at: "+why, "see what refuses it; the rights that the user has, mostly"))
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
		if d.goesTo != 0 && f.Severity != SeverityOK && slices.Contains([]string{"resolution", "schema", "overdue", "missed", "rows"}, kind) {
			f.Do = "see reslot first, and look again when it is done"
		}
	}
	return all
}
