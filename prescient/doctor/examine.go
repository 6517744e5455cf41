package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jmoiron/sqlx"
	"golang.org/x/sync/errgroup"

	"prescient/prescient"
	"prescient/prescient/doctor/internal/account"
	"prescient/prescient/internal/store"
	text "prescient/sql"
)

// examination is one thing that Examine looks at.
type examination struct {
	code string
	run  func(*look, context.Context)
	// reads are the tables that it reads: it is left out for a role that may not.
	reads []string
}

// examinations are what Examine looks at, in this order. Each costs a bounded number of rows, whatever the tables hold.
var examinations = []examination{
	{"resolution", (*look).examineResolution, nil},
	{"version", (*look).examineVersion, []string{"slot_config"}},
	{"schema", (*look).examineSchema, nil},
	{"paused", (*look).examinePaused, []string{"job_pause"}},
	{"overdue", (*look).examineOverdue, []string{"future_job"}},
	{"put_off", (*look).examinePutOff, []string{"future_job"}},
	{"failing", (*look).examineFailing, []string{"exec_run"}},
	{"slower", (*look).examineSlower, []string{"stats_bucket", "step_run_log"}},
	{"forecast", (*look).examineForecast, []string{"forecast_made", "forecast_fit"}},
	{"execs", (*look).examineExecs, []string{"exec_known"}},
	{"stats", (*look).examineStats, []string{"stats_hour", "job_history"}},
	{"schedules", (*look).examineSchedules, []string{"schedule", "future_job"}},
	{"rules", (*look).examineRules, []string{"rule", "duty"}},
	{"long_runs", (*look).examineLongRuns, []string{"long_run", "future_job", "job_pause"}},
	{"events", (*look).examineEvents, []string{"event_outbox", "event_topic", "event_shard", "event_forwarder", "event_set_aside"}},
	{"notify", (*look).examineNotify, []string{"finding"}},
	{"audit", (*look).examineAudit, []string{"audit_log", "schedule", "job_definition", "step_definition", "rule"}},
	{"missed", (*look).examineMissed, []string{"slot_config", "slot_run"}},
	{"leases", (*look).examineLeases, []string{"slot_run"}},
	{"leases.far", (*look).examineFarLeases, []string{"slot_run"}},
	{"coverage", (*look).examineCoverage, nil},
	{"agents", (*look).examineAgents, []string{"agent", "schedule", "long_run"}},
	{"rows", (*look).examineRows, []string{"future_job"}},
	{"invariants", (*look).examineInvariants, nil},
	{"partitions", (*look).examinePartitions, nil},
	{"clock", (*look).examineClock, nil},
	{"binlog", (*look).examineBinlog, nil},
	{"durability", (*look).examineDurability, nil},
	{"purge", (*look).examinePurge, nil},
	{"blocking", (*look).examineBlocking, nil},
	{"settings", (*look).examineSettings, nil},
	{"time_zone", (*look).examineTimeZone, nil},
	{"grants", (*look).examineGrants, nil},
	{"grants.surplus", (*look).examineSurplus, nil},
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
	options.Failing = cmp.Or(options.Failing, DefaultFailing)
	options.FailingCalls = cmp.Or(options.FailingCalls, DefaultFailingCalls)
	options.Blocked = cmp.Or(options.Blocked, DefaultBlocked)
	asked := options.Use
	var err error
	if options.Use, err = ParseUse(string(asked)); err != nil {
		return nil, err
	}
	if err = CheckCodes(options.Only); err != nil {
		return nil, err
	}
	d := &doctor{db: db, options: options}
	if d.tables, err = store.NameTables(ctx, db, options.Prefix, options.Dialect); err != nil {
		return nil, err
	}
	if asked == "" {
		role, err := account.RoleOf(ctx, db, options.Prefix)
		if err != nil {
			return nil, err
		}
		d.options.Use = Use(role)
	}
	if err := d.open(ctx); errors.Is(err, prescient.ErrNotMigrated) {
		return []Finding{bad("tables", err.Error(), d.howToMigrate(ctx))}, nil
	} else if err != nil {
		return nil, err
	}
	found := make([][]Finding, len(examinations))
	var group errgroup.Group
	group.SetLimit(cmp.Or(options.AtATime, 3))
	for _, first := range []bool{true, false} {
		for i, e := range examinations {
			if first != (e.code == "paused") || len(d.options.Only) > 0 && !slices.Contains(d.options.Only, e.code) {
				continue
			}
			group.Go(func() error { found[i] = d.examine(ctx, e); return ctx.Err() })
		}
		err = group.Wait() // others go by what is paused
	}
	return d.afterReslot(slices.Concat(found...)), err
}

// examine makes one examination.
func (d *doctor) examine(ctx context.Context, e examination) []Finding {
	if !d.mayRead(e.reads...) {
		return []Finding{d.unseen(e.code, e.reads)}
	}
	ctx, cancel := context.WithTimeout(ctx, examineTimeout)
	defer cancel()
	l := &look{doctor: d}
	if e.run(l, ctx); l.err == nil {
		return l.found
	}
	why := l.err.Error()
	if errors.Is(l.err, context.DeadlineExceeded) {
		why = fmt.Sprintf("the look took longer than %s", examineTimeout)
	}
	return append(l.found, Finding{Code: e.code, Severity: SeverityWarn, Text: "This could not be looked at: " + why, Do: "Mend what the error names. Mostly the user lacks a right.", Unread: true})
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

// furtherCodes are those of findings beside the codes of the examinations.
var furtherCodes = []string{"tables", "reslot", "schema.table", "schema.column", "schema.index", "schema.check", "schema.default", "schema.grid",
	"schema.view", "schema.procedure", "schema.definer", "schema.vschema", "coverage.unserved", "coverage.doubled", "rows.key", "rows.early", "rows.checks",
	"rows.names", "rows.grid", "invariants.both", "invariants.twice", "invariants.ledger", "invariants.unfinished", "purge.transaction", "blocking.rows",
	"audit.versions", "audit.deleted", "schedules.timers", "schedules.timerless", "schedules.zones", "schedules.crontabs", "long_runs.waiting", "long_runs.takeovers", "long_runs.checkpoint",
	"agents.slots", "agents.sweep", "agents.pools", "agents.runs", "agents.names", "agents.versions", "agents.clock", "agents.connections", "events.failing", "events.old", "events.refused", "events.shard"}

// FindingCodes returns the codes that findings have. One with a dot is of the kind that stands before it.
func FindingCodes() []string {
	all := slices.Clone(furtherCodes)
	for _, e := range examinations {
		all = append(all, e.code)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// always count, whatever is selected: with tables that are missing or broken nothing else can be told for sure.
var always = []string{"tables", "schema.table", "schema.column"}

// CheckCodes refuses a code that no finding has. The error wraps prescient.ErrInvalid and lists the codes.
func CheckCodes(codes []string) error {
	known := FindingCodes()
	for _, code := range codes {
		if !slices.Contains(known, code) {
			return fmt.Errorf("%w: no finding has the code %.40q; the codes are %s", prescient.ErrInvalid, code, strings.Join(known, ", "))
		}
	}
	return nil
}

// SelectFindings keeps the findings of some codes, or all where only is empty, but for those of other codes. A code also
// stands for those of its kind. Missing and broken tables are always kept. The error wraps prescient.ErrInvalid: a code that there
// is not, one that cannot be ignored, or that nothing of only was looked at.
func SelectFindings(found []Finding, only, ignore []string) ([]Finding, error) {
	if err := CheckCodes(append(slices.Clone(only), ignore...)); err != nil {
		return nil, err
	}
	for _, code := range ignore {
		if slices.Contains(always, code) {
			return nil, fmt.Errorf("%w: %s cannot be ignored: where tables are missing or broken, no other finding is sure", prescient.ErrInvalid, code)
		}
	}
	is := func(f Finding, codes []string) bool {
		kind, _, _ := strings.Cut(f.Code, ".")
		return slices.Contains(codes, f.Code) || slices.Contains(codes, kind)
	}
	var kept []Finding
	for _, f := range found {
		switch {
		case f.Severity.Wrong() && slices.Contains(always, f.Code):
		case len(only) > 0 && !is(f, only), is(f, ignore):
			continue
		}
		kept = append(kept, f)
	}
	looked := func(f Finding) bool { return f.Severity != SeverityUnseen }
	if len(only) > 0 && len(kept) > 0 && !slices.ContainsFunc(kept, looked) {
		f := kept[0]
		return nil, fmt.Errorf("%w: %s: %s: %s: %s", prescient.ErrInvalid, f.Code, f.Severity, f.Text, f.Do)
	}
	return kept, nil
}
