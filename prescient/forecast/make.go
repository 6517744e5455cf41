package forecast

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/rs/zerolog"

	"prescient/prescient"
	"prescient/prescient/agent"
	"prescient/prescient/internal/duty"
	"prescient/prescient/internal/store"
	text "prescient/sql"
)

const (
	// Every is how often a forecast is made.
	Every = time.Minute
	// makeTime is how long one may take.
	makeTime = 20 * time.Second
	// dutyTerm is for how long one has the duty to make it.
	dutyTerm = time.Minute
)

// Options are for New; zero fields mean the defaults.
type Options struct {
	// Prefix of the table names; empty by default.
	Prefix string
	// Dialect is [text.Auto] by default: what the server can do.
	Dialect text.Dialect
	// Name of the worker that makes it, at most 64 characters.
	Name string
	// Log has a line at warn where it cannot be made. The zero value is silent.
	Log zerolog.Logger
}

// Maker makes the forecast where nobody else does. It is for one goroutine.
type Maker struct {
	options Options
	db      *sqlx.DB
	tables  store.Tables
}

// New returns a maker, on a pool that connect.Open made. The error wraps prescient.ErrNotMigrated, prescient.ErrInvalid or what the server says.
func New(ctx context.Context, db *sqlx.DB, o Options) (*Maker, error) {
	if err := prescient.ValidText("name of a maker of forecasts", o.Name, 64); err != nil {
		return nil, err
	}
	t, err := store.OpenTables(ctx, db, o.Prefix, 0, o.Dialect)
	if err != nil {
		return nil, err
	}
	return &Maker{options: o, db: db, tables: t}, nil
}

// Serve makes the forecast every minute where nobody else has, until ctx ends. What fails it tries again the next time, and says so in the log once
// for each time that it begins to fail.
func (m *Maker) Serve(ctx context.Context) {
	const soon = 5 * time.Second // others know this process by then
	failing := false
	for wait := soon; store.Sleep(ctx, wait) == nil; wait = Every + rand.N(Every/20) {
		_, err := m.Make(ctx)
		if err != nil && !failing && ctx.Err() == nil {
			m.options.Log.Warn().Err(err).Msg("the forecast could not be made; slots run all the same")
		}
		failing = err != nil
	}
}

// Make makes the forecast, unless somebody has within the last minute, or does: then it is false.
func (m *Maker) Make(ctx context.Context) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, makeTime)
	defer cancel()
	if fresh, err := m.fresh(ctx); fresh || err != nil {
		return false, err
	}
	held, err := duty.Try(ctx, m.db, &m.tables, duty.Forecast, m.options.Name, dutyTerm)
	if held == nil || err != nil {
		return false, err
	}
	defer func() { _ = held.Release(ctx) }() // else the lease lapses
	if fresh, err := m.fresh(ctx); fresh || err != nil {
		return false, err
	}
	r, err := m.look(ctx)
	if err != nil {
		return false, err
	}
	return true, m.write(ctx, held, r)
}

// fresh says whether there is one that was made within the last minute.
func (m *Maker) fresh(ctx context.Context) (bool, error) {
	_, _, age, err := newestTurn(ctx, m.db, m.tables.Stmt)
	if errors.Is(err, ErrNone) {
		return false, nil
	}
	return err == nil && age < Every-Every/20 && age >= 0, err
}

// look reads what the forecast is made of, and makes it.
func (m *Maker) look(ctx context.Context) (Report, error) {
	began := time.Now()
	r := &reader{ctx: ctx, db: m.db, pool: m.db, tables: &m.tables}
	var version uint64
	if err := store.QueryRow(ctx, m.db, []any{store.At(&r.now), &version}, m.tables.Stmt.Get("client/now")); err != nil {
		return Report{}, fmt.Errorf("asking for the time: %w", err)
	}
	if err := m.tables.SameVersion(version); err != nil {
		return Report{}, err
	}
	execs, err := r.execs()
	if err != nil {
		return Report{}, err
	}
	agents, err := agent.ListBy(ctx, m.db, m.tables.Stmt)
	if err != nil {
		return Report{}, err
	}
	r.read += int64(len(agents))
	grid := m.tables.Grid
	near, days := slotsOf(grid, r.now), daysOf(grid, r.now)
	if err := r.begin(near[0]); err != nil {
		return Report{}, err
	}
	s, err := r.pending(near, days)
	if err != nil {
		return Report{}, err
	}
	plan, err := r.schedules(days[len(days)-1].before)
	if err != nil {
		return Report{}, err
	}
	plan.put(grid, near)
	plan.put(grid, days)
	by := capacity{grid: grid, crews: crewsOf(grid, agents), execs: execs}
	report := Report{MadeAt: r.now, Worker: m.options.Name, From: near[0].start, Before: near[len(near)-1].before, Schedules: plan.read, SchedulesAll: plan.all}
	var ofSlots, ofDays []load
	for _, u := range near {
		ofSlots = append(ofSlots, load{start: u.start, before: u.before, calls: u.calls(), crews: ofSlot(by.crews, u.start), prompt: true})
	}
	for _, u := range days {
		ofDays = append(ofDays, load{start: u.from, before: u.before, calls: u.calls(), crews: ofDay(by.crews, grid, u.from, u.before)})
	}
	report.Slots = tell(near, fit(ofSlots, len(by.crews), r.now, execs), execs)
	peaks, err := r.peaks(days, report.Before, s, plan, by)
	if err != nil {
		return Report{}, err
	}
	report.Slots = append(report.Slots, peaks...)
	report.Days = tell(days, fit(ofDays, len(by.crews), r.now, execs), execs)
	report.TookMS, report.Read = time.Since(began).Milliseconds(), r.read
	return report, nil
}

// tell returns slots or days as they are told.
func tell(units []*unit, fits []Fit, execs map[string]exec) []Part {
	parts := make([]Part, len(units))
	for i, u := range units {
		var occurrences float64
		for _, n := range u.occurrences {
			occurrences += n
		}
		parts[i] = Part{Start: u.start, Due: u.all.due(), Low: u.all.low(), High: u.all.high(), Occurrences: rounded(occurrences), How: u.how, Fit: fits[i], Lines: u.lines(execs)}
	}
	return parts
}
