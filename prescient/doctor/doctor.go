package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"

	"prescient/slots"
	text "prescient/sql"

	"prescient/prescient"
	"prescient/prescient/internal/store"
)

// Severity says how bad a finding is.
type Severity string

// The severities.
const (
	// SeverityOK: it was looked at, and is as it should be.
	SeverityOK Severity = "ok"
	// SeverityWarn: it works, but will bite some day, or needs to be known.
	SeverityWarn Severity = "warn"
	// SeverityBad: checks are late, lost sight of, or refused.
	SeverityBad Severity = "bad"
)

// Finding is what Examine has to say about one thing.
type Finding struct {
	// Code names the kind of finding, for scripts: it does not change.
	Code     string   `json:"code"`
	Severity Severity `json:"severity"`
	Text     string   `json:"text"`
	// Do says what to do about it; empty where it is ok.
	Do string `json:"do,omitempty"`
	// DDL are the statements that mend it, where migrate --repair, or somebody, is to send some.
	DDL []string `json:"ddl,omitempty"`
	// Unseen says that it was not looked at, since the role of the account has no right to and needs none.
	Unseen bool `json:"unseen,omitempty"`
}

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
	// MaxChecks is the highest guard of all job_execs; zero to leave out whether rows are above it.
	MaxChecks int
	// Use is what the user of the connection is for; worker by default. What its role has no right to look at is left out.
	Use Use

	// OverdueBad is the age from which overdue rows are bad; by default twice the time within which a sweep takes them.
	OverdueBad time.Duration
	// MissedAllowed is how many of the last slots may have been served by nobody; none by default.
	MissedAllowed int
	// ClockWarn is how far this machine's clock may be off; 1 s by default.
	ClockWarn time.Duration
	// PartitionsAhead is how far ahead the partitions of history should reach; a week by default, which is what one holds.
	PartitionsAhead time.Duration
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
}

// checkTimeout bounds each check.
const checkTimeout = 15 * time.Second

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

// open reads slot_config, also where a reslot is unfinished, the clock and the settings.
func (d *doctor) open(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	resolution, err := d.readResolution(ctx)
	if err != nil {
		return err
	}
	if d.tables.Grid, err = slots.NewGrid(resolution); err != nil {
		return err
	}
	before := time.Now()
	if err := store.QueryRow(ctx, d.db, []any{&d.now}, "SELECT UTC_TIMESTAMP(6)"); err != nil {
		return fmt.Errorf("asking for the time: %w", err)
	}
	d.trip = time.Since(before)
	d.skew = d.now.Sub(before.Add(d.trip / 2))
	d.vars, err = d.readVariables(ctx)
	return err
}

// readResolution reads slot_config, or, for a role that may not, what the table makes of a plain INSERT.
func (d *doctor) readResolution(ctx context.Context) (time.Duration, error) {
	if !d.sees("SELECT", "slot_config") {
		switch is, err := d.tables.ReadGridOfTable(ctx, d.db); {
		case err != nil:
			return 0, err
		case is.Filled == 0:
			return 0, fmt.Errorf("%w: %sfuture_job is not there, has no default for first_check_at, or this user has no right on it", prescient.ErrNotMigrated, d.tables.Prefix)
		default:
			return is.Filled, nil
		}
	}
	var resolution time.Duration
	err := store.QueryRow(ctx, d.db, []any{&resolution, &d.tables.Version, &d.goesTo, &d.schema}, d.tables.Stmt.Get("list/config"))
	if err != nil {
		// It says what is missing, and how.
		if _, said := store.OpenTables(ctx, d.db, d.tables.Prefix, 0, d.options.Dialect); said != nil {
			return 0, said
		}
		return 0, fmt.Errorf("reading slot_config: %w", err)
	}
	d.goesTo *= time.Second
	return resolution * time.Second, d.tables.HasSchema(d.schema)
}

// howToMigrate says what helps where slot_config is missing or behind: a migration, unless it is missing though all were
// applied.
func (d *doctor) howToMigrate(ctx context.Context) string {
	if d.tables.Version != 0 {
		return "run migrate"
	}
	missing, err := text.Pending(ctx, d.db.DB, text.Schema{Prefix: d.tables.Prefix, Resolution: cmp.Or(d.options.Resolution, time.Hour)})
	if err == nil && missing == 0 {
		return "all migrations were applied, so it was dropped or emptied: migrate --repair says what is missing"
	}
	return "run migrate"
}

// readVariables reads the settings by their names, as the server has them for everybody.
func (d *doctor) readVariables(ctx context.Context) (map[string]string, error) {
	rows, err := d.db.QueryContext(ctx, d.tables.Stmt.Get("operate/variables"))
	if err != nil {
		return nil, fmt.Errorf("reading the settings: %w", err)
	}
	defer rows.Close()
	vars := make(map[string]string)
	for rows.Next() {
		var name, value string
		if err := rows.Scan(&name, &value); err != nil {
			return nil, err
		}
		vars[strings.ToLower(name)] = value
	}
	return vars, rows.Err()
}

func fine(code, text string) Finding {
	return Finding{Code: code, Severity: SeverityOK, Text: text}
}

func warn(code, text, do string) Finding {
	return Finding{Code: code, Severity: SeverityWarn, Text: text, Do: do}
}

func bad(code, text, do string) Finding {
	return Finding{Code: code, Severity: SeverityBad, Text: text, Do: do}
}

// orFine adds what is said where nothing was found.
func orFine(found []Finding, code, text string) []Finding {
	if len(found) == 0 {
		return []Finding{fine(code, text)}
	}
	return found
}

// Worst is the severity of the worst finding.
func Worst(findings []Finding) Severity {
	worst := SeverityOK
	for _, f := range findings {
		if f.Severity == SeverityBad || f.Severity == SeverityWarn && worst == SeverityOK {
			worst = f.Severity
		}
	}
	return worst
}
