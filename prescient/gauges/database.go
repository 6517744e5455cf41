package gauges

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/prometheus/client_golang/prometheus"

	"prescient/prescient"
	"prescient/prescient/agent"
	"prescient/prescient/event"
	"prescient/prescient/forecast"
	"prescient/prescient/internal/store"
	"prescient/prescient/stats"
	"prescient/prescient/status"
	"prescient/slots"
)

const (
	mostExecs  = 200 // those with most errors
	mostPauses = 100
	lastSlots  = 10
	maxAside   = 1000
	// databaseTime bounds a look at everything, partTime one at a part.
	databaseTime = 10 * time.Second
	partTime     = 3 * time.Second
)

// distances are how far ahead pending checks are counted.
var distances = []struct {
	label  string
	before time.Duration
}{{"1h", time.Hour}, {"1d", 24 * time.Hour}, {"7d", 7 * 24 * time.Hour}, {"365d", 365 * 24 * time.Hour}}

var (
	overdueChecks = desc("overdue_checks", "Pending checks that the next sweep should have taken: counted up to 10000, above that about, as the server estimates.")
	overdueEnds   = desc("overdue_ends_per_second", "How many such checks ended a second in the last minute.")
	pendingChecks = desc("pending_checks", "Pending checks whose slots begin within a time from now, the overdue among them: counted up to 10000, above that about, as the server estimates.", "within")
	slotsLateness = desc("last_slots_lateness_seconds", "The latest begin of a part of the last 10 slots against its slot, of those that the ledger has.")
	slotsUnserved = desc("last_slots_unfinished", "How many of the last 10 slots that are over, and that came since the slots are what they are, the ledger has not, or not as finished; also while everything is paused.")
	latelyCalls   = desc("lately_calls", "Calls of the last hour, or of the last three slots where these are longer, of the job_execs with most errors.", "job_exec")
	latelyErrors  = desc("lately_call_errors", "Such calls that failed.", "job_exec")
	latelyUnended = desc("lately_unsettled", "Checks of that time that ended otherwise than as done.", "job_exec")
	latelyUnknown = desc("lately_unregistered", "How often checks of that time were put off since no worker has their job_exec, of job_execs with some.", "job_exec")
	pauses        = desc("pauses", "How many job_execs are paused; that everything is, or all events, counts as one.")
	pausedFor     = desc("paused_seconds", "For how long a job_exec is paused: * is everything, *events what forwarders publish.", "job_exec")
	setAside      = desc("set_aside_events", "Events that brokers refused for good and that wait for somebody's decision, 1000 at most.")

	ofDatabase = Family{overdueChecks, overdueEnds, pendingChecks, slotsLateness, slotsUnserved, latelyCalls, latelyErrors, latelyUnended, latelyUnknown, pauses, pausedFor, setAside}
)

// Database is a collector of all that the database tells. Each look reads a bounded number of rows; what was seen is remembered for 5 seconds.
type Database struct {
	db     *sqlx.DB
	tables *store.Tables
	grace  time.Duration
	Remembered[[]prometheus.Metric]
}

// NewDatabase returns one, on a pool whose account may read all but what is private; grace is that of sweeps.
func NewDatabase(db *sqlx.DB, tables *store.Tables, grace time.Duration) *Database {
	return &Database{db: db, tables: tables, grace: grace, Remembered: Remembered[[]prometheus.Metric]{Within: databaseTime}}
}

// Describe implements prometheus.Collector.
func (d *Database) Describe(to chan<- *prometheus.Desc) {
	for _, family := range []Family{Backlog, Outbox, Agents, Forecast, ofDatabase} {
		family.Describe(to)
	}
}

// Collect implements prometheus.Collector. Of a part that cannot be read nothing is told.
func (d *Database) Collect(to chan<- prometheus.Metric) {
	all, _ := d.Look(d.ask)
	for _, m := range all {
		to <- m
	}
}

// look is a look at the database.
type look struct {
	*Database
	now time.Time
	to  chan<- prometheus.Metric
}

func (d *Database) ask(ctx context.Context) (all []prometheus.Metric, _ error) {
	to, done := make(chan prometheus.Metric), make(chan struct{})
	go func() {
		defer close(done)
		for m := range to {
			all = append(all, m)
		}
	}()
	l := look{Database: d, to: to}
	if err := l.part(ctx, l.backlog); err == nil { // where the database does not answer, it is not asked on
		for _, read := range []func(context.Context) error{l.overdue, l.pending, l.ledger, l.lately, l.pauses, l.outbox, l.agents, l.forecast} {
			_ = l.part(ctx, read) // it is missing then
		}
	}
	close(to)
	<-done
	return all, nil
}

func (l *look) part(ctx context.Context, read func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, partTime)
	defer cancel()
	return read(ctx)
}

func (l *look) backlog(ctx context.Context) (err error) {
	var age time.Duration
	defer func() { SendBacklog(l.to, age, err) }()
	if l.now, err = l.tables.ReadClock(ctx, l.db); err != nil {
		return err
	}
	var first []time.Time
	if err = l.db.SelectContext(ctx, &first, l.tables.Stmt.Get("sweep/overdue"), prescient.EarliestDue, l.now, 1); err == nil && len(first) > 0 {
		age = l.now.Sub(first[0])
	}
	return err
}

func (l *look) overdue(ctx context.Context) error {
	b, err := status.BacklogBy(ctx, l.db, l.tables, l.now, l.grace)
	if err == nil {
		gauge(l.to, overdueChecks, float64(b.Checks))
		gauge(l.to, overdueEnds, b.Rate)
	}
	return err
}

func (l *look) pending(ctx context.Context) error {
	for _, distance := range distances {
		n, _, err := status.PendingBy(ctx, l.db, l.tables, l.now.Add(distance.before))
		if err != nil {
			return err
		}
		gauge(l.to, pendingChecks, float64(n), distance.label)
	}
	return nil
}

func (l *look) ledger(ctx context.Context) error {
	resolution := l.tables.Grid.Resolution()
	last := l.tables.Grid.Floor(l.now.Add(-resolution)) // the last that is over
	var since time.Time
	if err := l.db.GetContext(ctx, &since, l.tables.Stmt.Get("operate/since")); err != nil {
		return err
	}
	first := slots.Later(l.tables.Grid.Ceil(since), l.tables.Grid.Floor(last.Add(-(lastSlots-1)*resolution)))
	var rows []struct {
		Slot       time.Time  `db:"slot"`
		StartedAt  *time.Time `db:"started_at"`
		There      int        `db:"there"`
		Buckets    int        `db:"buckets"`
		Unfinished int        `db:"unfinished"`
	}
	if err := l.db.SelectContext(ctx, &rows, l.tables.Stmt.Get("status/last_slots"), first, last.Add(time.Second)); err != nil {
		return err
	}
	unserved, latest := 0, time.Duration(0)
	for slot := first; !slot.After(last); slot = l.tables.Grid.Next(slot) {
		unserved++
	}
	for _, row := range rows {
		if row.StartedAt != nil {
			latest = max(latest, row.StartedAt.Sub(row.Slot))
		}
		if row.There == row.Buckets && row.Unfinished == 0 && l.tables.Grid.Floor(row.Slot).Equal(row.Slot) {
			unserved--
		}
	}
	if len(rows) > 0 {
		gauge(l.to, slotsLateness, latest.Seconds())
	}
	gauge(l.to, slotsUnserved, float64(max(unserved, 0)))
	return nil
}

func (l *look) lately(ctx context.Context) error {
	report, err := stats.Lately(ctx, l.db, l.tables, l.now)
	if err != nil {
		return err
	}
	for _, e := range report.Execs[:min(len(report.Execs), mostExecs)] {
		gauge(l.to, latelyCalls, float64(e.Calls), e.JobExec)
		gauge(l.to, latelyErrors, float64(e.Errors), e.JobExec)
		gauge(l.to, latelyUnended, float64(e.Unsettled()), e.JobExec)
	}
	unknown := slices.DeleteFunc(report.Execs, func(e stats.Exec) bool { return e.PutOff.Unregistered == 0 }) // most have no errors, as those with a label above
	for _, e := range unknown[:min(len(unknown), mostExecs)] {
		gauge(l.to, latelyUnknown, float64(e.PutOff.Unregistered), e.JobExec)
	}
	return nil
}

func (l *look) pauses(ctx context.Context) error {
	var list []prescient.Paused
	if err := l.db.SelectContext(ctx, &list, l.tables.Stmt.Get("list/pauses")); err != nil {
		return err
	}
	gauge(l.to, pauses, float64(len(list)))
	for _, p := range list[:min(len(list), mostPauses)] {
		gauge(l.to, pausedFor, l.now.Sub(p.Since).Seconds(), p.JobExec)
	}
	return nil
}

func (l *look) outbox(ctx context.Context) error {
	waiting, err := event.BacklogBy(ctx, l.db, l.tables.Stmt, event.MaxBacklog)
	if err != nil {
		return err
	}
	SendOutbox(l.to, waiting)
	var aside []string
	if err := l.db.SelectContext(ctx, &aside, l.tables.Stmt.Get("operate/set_aside"), maxAside); err != nil {
		return err
	}
	gauge(l.to, setAside, float64(len(aside)))
	return nil
}

func (l *look) agents(ctx context.Context) error {
	agents, err := agent.ListBy(ctx, l.db, l.tables.Stmt)
	if err != nil {
		return err
	}
	pools, err := agent.PoolsBy(ctx, l.db, l.tables.Stmt, agents)
	if err == nil {
		SendAgents(l.to, WorkingOf(agents, pools))
	}
	return err
}

func (l *look) forecast(ctx context.Context) error {
	report, err := forecast.SlotsBy(ctx, l.db, l.tables.Stmt)
	switch {
	case errors.Is(err, forecast.ErrNone):
		return nil
	case err == nil:
		SendForecast(l.to, report)
	}
	return err
}
