package status

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/jmoiron/sqlx"
	"golang.org/x/sync/errgroup"

	"prescient/prescient"
	"prescient/prescient/agent"
	"prescient/prescient/doctor"
	"prescient/prescient/event"
	"prescient/prescient/forecast"
	"prescient/prescient/internal/store"
	"prescient/prescient/stats"
)

// Report is how an installation is. Times are UTC.
type Report struct {
	// At is the database's time.
	At         time.Time     `json:"at"`
	Resolution time.Duration `json:"resolution_ns"`
	// Agents are the processes of work that live or died not long ago, and timers.
	Agents  []agent.Known `json:"agents"`
	Backlog Backlog       `json:"backlog"`
	// Fails are the job_execs of which calls failed, checks ended unsettled, or no worker knows them, since FailsFrom; those with most errors
	// first. FailsCut says that earlier ones were too many to be read.
	FailsFrom time.Time    `json:"fails_from"`
	FailsCut  bool         `json:"fails_cut"`
	Fails     []stats.Exec `json:"fails"`
	// Paused is what somebody has paused.
	Paused []prescient.Paused `json:"paused"`
	// Pools are those in which long runs wait for a place, Topics those of whose events some wait in the outbox.
	Pools  []agent.Pool    `json:"pools"`
	Topics []event.Waiting `json:"topics"`
	// Next are the next slots that have something to do, by the forecast of NextAt; nil where none was made yet.
	NextAt *time.Time      `json:"next_at"`
	Next   []forecast.Part `json:"next"`
	// Findings are what the doctor finds wrong with all this, the worst first in each section.
	Findings []Finding `json:"findings"`
	// Unseen is what was not looked at, and who would.
	Unseen []Finding `json:"unseen"`
	// Severity is that of the worst finding.
	Severity doctor.Severity `json:"severity"`
}

// Finding is one of the doctor's, and the section that it belongs to.
type Finding struct {
	Section Section `json:"section"`
	doctor.Finding
}

// maxTopics is among how many events of the outbox those that wait are counted.
const maxTopics = 10_000

// Look asks how an installation is, by a bounded number of rows whatever the tables hold. db is a pool made by connect.Open; options are those
// of the doctor, whose Only is set here. The account has the role operator, oncall or owner; what further rights would show is among
// Unseen. The error wraps prescient.ErrNotMigrated, prescient.ErrInvalid or what the server says.
func Look(ctx context.Context, db *sqlx.DB, options doctor.Options) (Report, error) {
	tables, err := store.OpenTables(ctx, db, options.Prefix, 0, options.Dialect)
	if err != nil {
		return Report{}, err
	}
	r := Report{Resolution: tables.Grid.Resolution(), Findings: []Finding{}, Unseen: []Finding{}}
	if r.At, err = tables.ReadClock(ctx, db); err != nil {
		return Report{}, err
	}
	l := looker{db: db, tables: &tables, options: options, report: &r}
	options.Only = codes()
	var found []doctor.Finding
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() (err error) { found, err = doctor.Examine(ctx, db, options); return err })
	group.Go(func() error {
		for _, read := range []func(context.Context) error{l.agents, l.backlog, l.fails, l.paused, l.pools, l.topics, l.next} {
			if err := read(ctx); err != nil {
				return err
			}
		}
		return nil
	})
	if err := group.Wait(); err != nil {
		return Report{}, err
	}
	r.Severity = doctor.Worst(found)
	for _, f := range found {
		switch one := (Finding{sectionOf(f), f}); {
		case f.Severity.Wrong():
			r.Findings = append(r.Findings, one)
		case f.Severity == doctor.SeverityUnseen:
			r.Unseen = append(r.Unseen, one)
		}
	}
	slices.SortStableFunc(r.Findings, func(a, b Finding) int {
		if order := slices.Index(Sections, a.Section) - slices.Index(Sections, b.Section); order != 0 {
			return order
		}
		return badFirst(a) - badFirst(b)
	})
	r.Agents, r.Fails, r.Paused = orNone(r.Agents), orNone(r.Fails), orNone(r.Paused)
	r.Pools, r.Topics, r.Next = orNone(r.Pools), orNone(r.Topics), orNone(r.Next)
	return r, nil
}

// orNone is a list that is empty where there is none, also in JSON.
func orNone[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

func badFirst(f Finding) int {
	if f.Severity == doctor.SeverityBad {
		return 0
	}
	return 1
}

// Of are the findings of a section.
func (r Report) Of(section Section) (list []Finding) {
	for _, f := range r.Findings {
		if f.Section == section {
			list = append(list, f)
		}
	}
	return list
}

// looker reads the parts of a report.
type looker struct {
	db      *sqlx.DB
	tables  *store.Tables
	options doctor.Options
	report  *Report
}

func (l looker) agents(ctx context.Context) (err error) {
	l.report.Agents, err = agent.ListBy(ctx, l.db, l.tables.Stmt)
	return err
}

func (l looker) fails(ctx context.Context) error {
	report, err := stats.Lately(ctx, l.db, l.tables, l.report.At)
	l.report.FailsFrom, l.report.FailsCut = report.From, report.Cut
	l.report.Fails = slices.DeleteFunc(report.Execs, func(e stats.Exec) bool {
		return e.Errors == 0 && e.Unsettled() == 0 && e.PutOff.Unregistered == 0 && e.PutOff.Abandoned == 0
	})
	return err
}

func (l looker) paused(ctx context.Context) error {
	return l.db.SelectContext(ctx, &l.report.Paused, l.tables.Stmt.Get("list/pauses"))
}

func (l looker) pools(ctx context.Context) error {
	pools, err := agent.PoolsBy(ctx, l.db, l.tables.Stmt, l.report.Agents)
	l.report.Pools = slices.DeleteFunc(pools, func(p agent.Pool) bool { return p.Waiting == 0 })
	return err
}

func (l looker) topics(ctx context.Context) (err error) {
	l.report.Topics, err = event.BacklogBy(ctx, l.db, l.tables.Stmt, maxTopics)
	return err
}

// maxNext is how many slots to come are told of.
const maxNext = 5

func (l looker) next(ctx context.Context) error {
	made, err := forecast.SlotsBy(ctx, l.db, l.tables.Stmt)
	if errors.Is(err, forecast.ErrNone) {
		return nil
	}
	l.report.NextAt = &made.MadeAt
	for _, part := range made.Slots {
		if part.Due+part.Occurrences > 0 && part.Start.After(l.report.At) && len(l.report.Next) < maxNext {
			l.report.Next = append(l.report.Next, part)
		}
	}
	return err
}
