package ops

import (
	"context"
	"fmt"
	"time"

	"prescient/prescient"
	"prescient/prescient/attest"
	"prescient/prescient/client"
	"prescient/prescient/forecast"
)

// SlotsAsked narrows a list of slots.
type SlotsAsked struct {
	SlotSpan
	Paging
}

// SlotLoad is a slot, and how many checks wait for it.
type SlotLoad struct {
	Slot  time.Time        `json:"slot"`
	Jobs  int              `json:"jobs" doc:"How many checks wait for it."`
	About bool             `json:"about" doc:"More checks wait than were counted, which are 50,000 for all slots together: jobs is about how many."`
	State client.LoadState `json:"state" enum:"overdue,now,coming"`
}

// Cursor is the place of the slot in the list.
func (l SlotLoad) Cursor() string { return l.Slot.UTC().Format(time.RFC3339) }

// LoadSlots counts what waits for each slot.
var LoadSlots = shared(query("slots.load", Viewer, "Count the checks that wait for each slot, the earliest slot first.", func(ctx context.Context, q asked, in SlotsAsked) (Page[SlotLoad], error) {
	if err := checkTimes(in.From, in.Before); err != nil {
		return Page[SlotLoad]{}, err
	}
	from, before := in.From, in.Before
	if from.IsZero() {
		from = prescient.EarliestDue
	}
	if before.IsZero() {
		before = prescient.LatestSlot.Add(time.Second - time.Microsecond)
	}
	if in.After != "" {
		last, err := time.Parse(time.RFC3339, in.After)
		if err != nil || checkTimes(last) != nil || last.IsZero() {
			return Page[SlotLoad]{}, fmt.Errorf("%w: cursor %.100q is no cursor; give next of the page before", prescient.ErrInvalid, in.After)
		}
		if !last.Before(prescient.LatestSlot) {
			return Page[SlotLoad]{Rows: []SlotLoad{}}, nil
		}
		if last = last.Add(time.Second); last.After(from) {
			from = last
		}
	}
	now, err := q.client.Now(ctx, q.db)
	if err != nil {
		return Page[SlotLoad]{}, err
	}
	found, err := q.client.Load(ctx, q.db, from, before, in.Limit+1)
	rows := make([]SlotLoad, len(found))
	for i, l := range found {
		rows[i] = SlotLoad{l.Slot.UTC(), l.Jobs, l.About, l.State(q.client.Grid(), now)}
	}
	return page(rows, in.Limit, err)
}))

// Clock is the time of the database, and the slots around it.
type Clock struct {
	Now          time.Time `json:"now" doc:"By the database's clock."`
	ResolutionMS int64     `json:"resolution_ms" doc:"How long it is from slot to slot."`
	Slot         time.Time `json:"slot" doc:"The slot that has come last."`
	Next         time.Time `json:"next" doc:"The slot that comes next."`
}

// Resolution is ResolutionMS.
func (c Clock) Resolution() time.Duration { return time.Duration(c.ResolutionMS) * time.Millisecond }

// GetClock tells the time.
var GetClock = query("slots.clock", Viewer, "Tell the time of the database, the slot that has come last, and the next.", func(ctx context.Context, q asked, _ struct{}) (Clock, error) {
	now, err := q.client.Now(ctx, q.db)
	if err != nil {
		return Clock{}, err
	}
	grid := q.client.Grid()
	return Clock{now.UTC(), grid.Resolution().Milliseconds(), grid.Floor(now).UTC(), grid.Next(now).UTC()}, nil
})

// LedgerAsked narrows a list of the ledger.
type LedgerAsked struct {
	Slot time.Time `query:"slot" doc:"Only this slot."`
	SlotSpan
	Paging
}

// ListLedger lists the ledger.
var ListLedger = query("slots.ledger", Viewer, "List the parts of slots that were run, by whom, when and with which ends, the latest slot first.", func(ctx context.Context, q asked, in LedgerAsked) (Page[client.Bucket], error) {
	if err := checkTimes(in.Slot, in.From, in.Before); err != nil {
		return Page[client.Bucket]{}, err
	}
	f := client.LedgerFilter{From: in.From, Before: in.Before, After: in.After, Limit: in.Limit + 1}
	if !in.Slot.IsZero() {
		if !f.From.IsZero() || !f.Before.IsZero() {
			return Page[client.Bucket]{}, fmt.Errorf("%w: slot is given with from or before: either of them is allowed", prescient.ErrInvalid)
		}
		f.From, f.Before = in.Slot, in.Slot.Add(time.Microsecond)
	}
	rows, err := q.client.Ledger(ctx, q.db, f)
	return page(rows, in.Limit, err)
})

// ForecastAsked says how much of the forecast is wanted.
type ForecastAsked struct {
	Brief bool `query:"brief" doc:"Only slots, without days and job_execs."`
}

// GetForecast returns the forecast.
var GetForecast = shared(query("forecast.get", Viewer, "Get the latest forecast of what slots and days are to do, and whether they end in time.", func(ctx context.Context, q asked, in ForecastAsked) (report forecast.Report, err error) {
	if in.Brief {
		report, err = forecast.SlotsBy(ctx, q.db, q.tables.Stmt)
	} else {
		report, err = forecast.Read(ctx, q.db, q.options.Prefix, q.options.Dialect)
	}
	if report.Slots == nil {
		report.Slots = []forecast.Part{}
	}
	if report.Days == nil {
		report.Days = []forecast.Part{}
	}
	return report, err
}))

// The bounds of an attestation by a request.
const (
	attestSpan   = 31 * 24 * time.Hour
	attestWithin = time.Minute
)

// AttestAsked says of which slots it is to be proven that they were served.
type AttestAsked struct {
	From   time.Time `query:"from" doc:"Slots at this time or later, a day before the end by default."`
	Before time.Time `query:"before" doc:"Slots before this time, now by default; at most 31 days after from."`
	LateMS int64     `query:"late_ms" default:"60000" minimum:"1" maximum:"86400000" doc:"A slot that was begun later is late."`
	Ends   int       `query:"ends" default:"1000000" minimum:"0" maximum:"1000000" doc:"How many ends of history are read at most; 0 for none."`
}

// Attest proves that slots were served. What entries of the audit changed is not for viewers.
var Attest = shared(lasting(attestWithin, query("attest.run", Operator, "Prove which slots of a time were served, and whether history has as many ends as the ledger.", func(ctx context.Context, q asked, in AttestAsked) (attest.Report, error) {
	o := attest.Options{Prefix: q.options.Prefix, Dialect: q.options.Dialect, From: in.From, Before: in.Before, Grace: q.options.Doctor.SweepGrace,
		Late: time.Duration(in.LateMS) * time.Millisecond, Ends: in.Ends}
	if in.Ends == 0 {
		o.Ends = -1
	}
	var err error
	if o.From, o.Before, err = q.span(ctx, in.From, in.Before, attest.DefaultSpan); err != nil {
		return attest.Report{}, err
	}
	if o.Before.Sub(o.From) > attestSpan {
		return attest.Report{}, fmt.Errorf("%w: from %s to %s is %s: at most %s are allowed", prescient.ErrInvalid, o.From.Format(time.RFC3339), o.Before.Format(time.RFC3339), o.Before.Sub(o.From), attestSpan)
	}
	return attest.Run(ctx, q.db, o)
})))

// SlotSpan is a time from which slots are.
type SlotSpan struct {
	From   time.Time `query:"from" doc:"Only slots at this time or later."`
	Before time.Time `query:"before" doc:"Only slots before this time."`
}

// checkTimes refuses times that the database has none of. Zero is for a time that was not given.
func checkTimes(times ...time.Time) error {
	for _, t := range times {
		if !t.IsZero() && (t.Before(prescient.EarliestDue) || t.After(prescient.LatestSlot)) {
			return fmt.Errorf("%w: time %s: times from %s to %s are allowed", prescient.ErrInvalid, t.Format(time.RFC3339), prescient.EarliestDue.Format(time.RFC3339), prescient.LatestSlot.Format(time.RFC3339))
		}
	}
	return nil
}

// behindName refuses a cursor of names that is none: a server takes that for a mistake in the statement.
func (p Paging) behindName() error {
	if p.After == "" {
		return nil
	}
	return prescient.ValidIdentifier("cursor", p.After)
}

// span fills in what was not given of a span: it ends now by the database's clock, and is as long as is usual.
func (q asked) span(ctx context.Context, from, before time.Time, usual time.Duration) (time.Time, time.Time, error) {
	if err := checkTimes(from, before); err != nil {
		return from, before, err
	}
	if before.IsZero() {
		now, err := q.client.Now(ctx, q.db)
		if err != nil {
			return from, before, err
		}
		before = now
	}
	if from.IsZero() {
		from = before.Add(-usual)
	}
	return from.UTC(), before.UTC(), nil
}
