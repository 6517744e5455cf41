package doctor

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"

	"prescient/prescient"
	"prescient/prescient/internal/store"
	"prescient/slots"
	text "prescient/sql"
	"prescient/sql/migrate"
)

// Options are for Examine; the zero value is usable.
type Options struct {
	// Prefix of the table names; empty by default.
	Prefix string
	// Dialect is that of the client and the worker. In [text.Plain] what the tables lack in it is no damage.
	Dialect text.Dialect
	// Resolution that is configured here; zero to leave out the comparison.
	Resolution time.Duration
	// Lease that is configured here; 1 minute by default. Clocks may differ by a quarter of it at most.
	Lease time.Duration
	// SweepGrace is how old a slot has to be to be overdue; 10 s by default. SweepEvery is the time from one sweep to the
	// next; 1 minute by default. What the next sweep takes is no reason to warn.
	SweepGrace, SweepEvery time.Duration
	// Assignments of all workers that there are, together; empty to leave out whether they cover every slot.
	Assignments []slots.Assignment
	// Pools are those of job_execs that are configured. Some live agent is to serve each, where there are agents.
	Pools []string
	// MaxChecks is the highest guard of all job_execs; zero to leave out whether rows are above it.
	MaxChecks int
	// Use is what the user of the connection is for; by default that which its rights are those of, or worker. What its role has no right to
	// look at is left out.
	Use Use
	// Only are the codes of the examinations that are wanted, none with a dot; empty for all.
	Only []string
	// NoStatements leaves out what other sessions of the server send, for a reader that may not see it.
	NoStatements bool
	// AtATime is how many examinations there are at a time, with a connection each; 3 by default: most of what one takes is the way to the server.
	AtATime int

	// OverdueBad is the age from which overdue rows are bad; by default twice the time within which a sweep takes them.
	OverdueBad time.Duration
	// MissedAllowed is how many of the last slots may have been served by nobody; none by default.
	MissedAllowed int
	// Failing is from which percentage of failed calls of a job_exec in the last hour on that is a finding, and FailingCalls from how many on; 10 each
	// by default.
	Failing, FailingCalls int
	// ClockWarn is how far this machine's clock may be off; 1 s by default.
	ClockWarn time.Duration
	// PartitionsAhead is how far ahead the partitions of history should reach; a week by default, which is what one holds.
	PartitionsAhead time.Duration
	// PurgeBehind is how many transactions the server may have to purge, which is InnoDB's history list; a million by default.
	PurgeBehind int
	// TransactionOpen is for how long anybody's transaction may be open; an hour by default.
	TransactionOpen time.Duration
	// Blocked is for how long a session may wait for another at the tables; 10 s by default.
	Blocked time.Duration
}

// doctor is one Examine under way.
type doctor struct {
	tables  store.Tables
	db      *sqlx.DB
	options Options
	goesTo  time.Duration // what an unfinished reslot goes to
	schema  int64         // version that slot_config names
	now     time.Time     // by the database's clock
	skew    time.Duration // how far that is ahead of this machine's
	trip    time.Duration // how long the answer took
	vars    map[string]string
	halted  bool // everything is paused
	// eventsHalted is whether forwarders are.
	eventsHalted bool
}

// open reads slot_config, also where a reslot is unfinished, the clock and the settings.
func (d *doctor) open(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, examineTimeout)
	defer cancel()
	resolution, err := d.readResolution(ctx)
	if err != nil {
		return err
	}
	if d.tables.Grid, err = slots.NewGrid(resolution); err != nil {
		return err
	}
	before := time.Now()
	if d.now, err = d.tables.ReadClock(ctx, d.db); err != nil {
		return err
	}
	d.trip = time.Since(before)
	d.skew = d.now.Sub(before.Add(d.trip / 2))
	d.vars, err = d.readVariables(ctx)
	return err
}

// readResolution reads slot_config, or, for a role that may not, what the table makes of a plain INSERT. A role that may read neither looks at
// nothing that goes by it.
func (d *doctor) readResolution(ctx context.Context) (time.Duration, error) {
	if !d.mayUse("SELECT", "slot_config") {
		switch is, err := d.tables.ReadGridOfTable(ctx, d.db); {
		case err != nil:
			return 0, err
		case is.Filled == 0 && !d.mayUse("SELECT", "future_job"):
			return cmp.Or(d.options.Resolution, time.Hour), nil
		case is.Filled == 0:
			return 0, fmt.Errorf("%w: %sfuture_job is missing, has no default for first_check_at, or gives this user no right", prescient.ErrNotMigrated, d.tables.Prefix)
		default:
			return is.Filled, nil
		}
	}
	var resolution time.Duration
	err := store.QueryRow(ctx, d.db, []any{&resolution, &d.tables.Version, &d.goesTo, &d.schema}, d.tables.Stmt.Get("list/config"))
	if err != nil {
		// OpenTables says what is missing, and what to do.
		if _, clearer := store.OpenTables(ctx, d.db, d.tables.Prefix, 0, d.options.Dialect); clearer != nil {
			return 0, clearer
		}
		return 0, fmt.Errorf("reading slot_config: %w", err)
	}
	d.goesTo *= time.Second
	return resolution * time.Second, d.tables.HasSchema(d.schema)
}

// howToMigrate says what helps where slot_config is missing or behind.
func (d *doctor) howToMigrate(ctx context.Context) string {
	ctx, cancel := context.WithTimeout(ctx, examineTimeout)
	defer cancel()
	schema := migrate.Schema{Prefix: d.tables.Prefix, Resolution: cmp.Or(d.options.Resolution, time.Hour)}
	return sentence(migrate.Advice(ctx, d.db.DB, schema, "migrate"))
}

// readVariables reads the settings by their names, as the server has them for everybody.
func (d *doctor) readVariables(ctx context.Context) (map[string]string, error) {
	var settings []struct {
		Name  string `db:"Variable_name"`
		Value string `db:"Value"`
	}
	if err := d.db.SelectContext(ctx, &settings, d.tables.Stmt.Get("operate/variables")); err != nil {
		return nil, fmt.Errorf("reading the settings: %w", err)
	}
	vars := make(map[string]string)
	for _, one := range settings {
		vars[strings.ToLower(one.Name)] = one.Value
	}
	// The list, which this one may cut, has the server's settings; a worker's connection may have another format.
	var name, value string
	if err := store.QueryRow(ctx, d.db, []any{&value}, "SELECT CAST(@@GLOBAL.sql_select_limit AS CHAR)"); err == nil {
		vars["sql_select_limit"] = value
	}
	if err := store.QueryRow(ctx, d.db, []any{&name, &value}, "SHOW VARIABLES LIKE 'binlog_format'"); err == nil {
		vars["binlog_format"] = value
	}
	return vars, nil
}

// examineTimeout bounds each examination.
const examineTimeout = 15 * time.Second
