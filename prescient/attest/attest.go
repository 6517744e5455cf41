package attest

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/jmoiron/sqlx"

	"prescient/prescient"
	"prescient/prescient/audit"
	"prescient/prescient/internal/store"
	"prescient/slots"
	text "prescient/sql"
)

const (
	// DefaultSpan is how long before now a span begins that has no begin.
	DefaultSpan = 24 * time.Hour
	// MaxSpan is the longest span.
	MaxSpan = 366 * 24 * time.Hour
	// DefaultLate is from when on a slot is begun late.
	DefaultLate = time.Minute
	// DefaultEnds is how many ends of history are read at most.
	DefaultEnds = 1_000_000

	// window is how many slots are looked at at a time, ledgerPage how many of them are read at a time.
	window     = 10_000
	ledgerPage = 500
)

// Options are for Run; zero fields mean the defaults.
type Options struct {
	// Prefix of the table names; empty by default.
	Prefix string
	// Dialect is that of the client and the worker.
	Dialect text.Dialect
	// From (inclusive) and Before (exclusive) are the span: the last 24 hours by default. It ends by now, and is no longer than MaxSpan.
	From, Before time.Time
	// Grace is how old a slot has to be, beside that the next has come, to be over; prescient.DefaultSweepGrace by default.
	Grace time.Duration
	// Late is from when on a slot is begun late, and finished late once the next has come and the grace is over; DefaultLate by default.
	Late time.Duration
	// Ends is how many ends of history are read at most; DefaultEnds by default, and none where it is negative. Those of other slots count, from
	// the begin of the span until now.
	Ends int
}

// Run says of each slot of a span what became of it. It reads page by page, locks nothing, and keeps no more than the report and the slots
// whose ends are late; ctx ends it. db is from connect.Open, and its account has the role operator. The error wraps prescient.ErrInvalid for a
// span that is none, with the name of its field in a [prescient.FieldError].
func Run(ctx context.Context, db *sqlx.DB, options Options) (Report, error) {
	a := &attest{db: db, options: options}
	if err := a.open(ctx); err != nil {
		return Report{}, err
	}
	for at := a.report.From; at.Before(a.report.Before); {
		next, err := a.window(ctx, at)
		if err != nil {
			return Report{}, err
		}
		at = next
	}
	a.spans.flush()
	if err := a.compare(ctx); err != nil {
		return Report{}, err
	}
	a.report.Verdict = a.report.verdict()
	a.report.RestsOn, a.report.CannotSee = a.restsOn(), a.cannotSee()
	return a.report, nil
}

// attest is one Run under way.
type attest struct {
	tables  store.Tables
	db      *sqlx.DB
	options Options
	report  Report
	spans   spans
	is      evidence
	eras    []era
	balance *balance
	history *reader
}

// open reads what all slots are judged by.
func (a *attest) open(ctx context.Context) (err error) {
	o := &a.options
	o.Grace, o.Late, o.Ends = cmp.Or(o.Grace, prescient.DefaultSweepGrace), cmp.Or(o.Late, DefaultLate), cmp.Or(o.Ends, DefaultEnds)
	if o.Grace < 0 || o.Late < 0 {
		return fmt.Errorf("%w: neither the grace nor what is late can be negative", prescient.ErrInvalid)
	}
	if a.tables, err = store.OpenTables(ctx, a.db, o.Prefix, 0, o.Dialect); err != nil {
		return err
	}
	var state struct {
		Now         time.Time  `db:"read_at"`
		ChangedAt   time.Time  `db:"changed_at"`
		PausedSince *time.Time `db:"paused_since"`
	}
	if err := a.db.GetContext(ctx, &state, a.tables.Stmt.Get("attest/state")); err != nil {
		return fmt.Errorf("reading slot_config: %w", err)
	}
	a.report = Report{Now: state.Now.UTC(), Totals: Totals{States: make(map[State]int)}, Spans: []Span{}}
	if a.report.From, a.report.Before, err = o.span(a.report.Now); err != nil {
		return err
	}
	log, err := audit.Open(ctx, a.db, audit.Options{Prefix: o.Prefix, Dialect: o.Dialect})
	if err != nil {
		return err
	}
	t, err := readTrail(ctx, log, a.db, a.report.From, a.report.Now)
	if err != nil {
		return err
	}
	a.report.Unread = t.unread
	var agrees bool
	if a.eras, agrees = erasOf(t.changes, a.tables.Grid, state.ChangedAt.UTC()); !agrees || len(t.changes) == 0 {
		t.known.raise(state.ChangedAt.UTC(), "the audit does not say of which resolution the slots were")
	}
	if err := a.settle(ctx); err != nil {
		return err
	}
	first := a.report.Now
	if page, err := a.ledger(ctx, prescient.EarliestDue, first, 1); err != nil {
		return err
	} else if len(page) > 0 {
		first = page[0].Slot
	}
	a.is = evidence{first: first, now: a.report.Now, grace: o.Grace, late: o.Late, known: t.known, pauses: still(t.pauses, state.PausedSince)}
	for i := eraAt(a.eras, a.report.From); i < len(a.eras) && (i == 0 || a.eras[i].from.Before(a.report.Before)); i++ {
		a.report.Resolutions = append(a.report.Resolutions, Resolution{slots.Later(a.eras[i].from, a.report.From), a.eras[i].grid.String()})
	}
	a.spans.report = &a.report
	a.balance = newBalance(slots.Later(a.report.From, t.known.since), a.report.Before)
	compared := o.Ends > 0 && a.balance.from.Before(a.report.Before)
	a.report.Ends = Ends{Compared: compared, Whole: compared}
	a.history = newReader(&a.tables, a.db, a.balance.from, o.Ends)
	return nil
}

// span is the span that is asked for.
func (o *Options) span(now time.Time) (from, to time.Time, err error) {
	from, to = o.From.UTC(), o.Before.UTC()
	if o.Before.IsZero() {
		to = now
	}
	if o.From.IsZero() {
		from = to.Add(-DefaultSpan)
	}
	switch {
	case to.After(now):
		return from, to, prescient.InField("before", fmt.Errorf("%w: %s is not over: it is %s", prescient.ErrInvalid, slots.Stamp(to), slots.Stamp(now)))
	case !from.Before(to):
		return from, to, prescient.InField("from", fmt.Errorf("%w: %s is not before the end, %s", prescient.ErrInvalid, slots.Stamp(from), slots.Stamp(to)))
	case to.Sub(from) > MaxSpan:
		return from, to, prescient.InField("from", fmt.Errorf("%w: %s is more than %d days before the end, %s", prescient.ErrInvalid, slots.Stamp(from), MaxSpan/(24*time.Hour), slots.Stamp(to)))
	}
	return from, to, nil
}

// settle finds out when changes of the resolution were done of which nothing tells: by the first slot that was served then.
func (a *attest) settle(ctx context.Context) error {
	for i := range a.eras {
		e := &a.eras[i]
		if !e.unsettled {
			continue
		}
		e.settled = a.report.Now
		if i+1 < len(a.eras) {
			e.settled = a.eras[i+1].from
		}
		first, err := a.ledger(ctx, e.from, e.settled, 1)
		if err != nil {
			return err
		}
		if len(first) > 0 {
			e.settled = first[0].Slot
		}
	}
	return nil
}
