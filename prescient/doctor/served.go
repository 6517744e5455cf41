package doctor

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"prescient/prescient"
	"prescient/prescient/agent"
	"prescient/prescient/internal/store"
	"prescient/slots"
)

// How much is read of who served the slots.
const (
	ledgerProbe = 20_000 // latest rows of the ledger that are looked through
	servedProbe = 2_000  // slots of the last day
)

// latestOfLedger is how far the looks at its latest rows go.
var latestOfLedger = reach{"the latest %s rows of the ledger", ledgerProbe, "slot_run", "PRIMARY", "", nil}

// examineMissed looks for slots of the last day that left no row in the ledger: nobody served them. Those from before the
// slots were what they are now were others.
func (d *doctor) examineMissed(ctx context.Context) ([]Finding, error) {
	var since time.Time
	if err := d.db.GetContext(ctx, &since, d.tables.Stmt.Get("operate/since")); err != nil {
		return nil, err
	}
	before := d.tables.Grid.Floor(d.now.Add(-d.options.SweepGrace))
	day := slots.Later(since, before.Add(-24*time.Hour))
	from := d.tables.Grid.Ceil(slots.Later(day, d.tables.Grid.Add(before, -servedProbe)))
	served, err := d.served(ctx, from, before, servedProbe)
	if err != nil {
		return nil, err
	}
	latest, err := d.served(ctx, slots.Later(from, before), d.tables.Grid.Next(d.now), 1)
	if err != nil {
		return nil, err
	}
	f := d.judgeMissed(from, before, served, latest)
	if f.Severity == SeverityOK && from.After(d.tables.Grid.Ceil(day)) {
		f = part(f.Code, f.Text+" Earlier slots of the last day were not looked at.", "")
	}
	return []Finding{f}, nil
}

// served is a slot that the ledger has.
type served struct {
	Slot   time.Time `db:"slot"`
	InTime bool      `db:"in_time"` // more than a sweep had it
}

// served reads the first slots of the ledger from one time to before another.
func (d *doctor) served(ctx context.Context, from, before time.Time, limit int) (list []served, err error) {
	if err := d.db.SelectContext(ctx, &list, d.tables.Stmt.Get("operate/served"), from, before, limit); err != nil {
		return nil, fmt.Errorf("operate/served: %w", err)
	}
	slices.SortFunc(list, func(a, b served) int { return a.Slot.Compare(b.Slot) })
	return list, nil
}

// judgeMissed judges which slots from one time to before another were served in time, and whether one was since then. What only a sweep
// ran was late: nobody served that slot.
func (d *doctor) judgeMissed(from, before time.Time, was, latest []served) Finding {
	const start = "Start `work`, or a timer that calls `run` for each slot."
	switch {
	case len(was) == 0 && len(latest) > 0 && latest[0].InTime:
		return fine("missed", "Slots are served, the first one "+slots.Stamp(latest[0].Slot)+".")
	case !from.Before(before) && len(was) == 0:
		return fine("missed", "No slot is over since the tables were made, or their resolution changed. "+start)
	case len(was) == 0:
		return warn("missed", fmt.Sprintf("No slot was served since %s.", slots.Stamp(from)), start)
	}
	inTime := make(map[time.Time]bool, len(was))
	for _, s := range was {
		inTime[s.Slot.UTC()] = s.InTime
	}
	var last time.Time
	all, missed, swept := 0, 0, 0
	for slot := d.tables.Grid.Ceil(was[0].Slot); slot.Before(before); slot = d.tables.Grid.Next(slot) {
		all++
		ran, there := inTime[slot]
		switch {
		case ran:
			continue
		case there:
			swept++
		}
		missed, last = missed+1, slot
	}
	switch {
	case missed == 0:
		return fine("missed", fmt.Sprintf("Each of the last %s slots was served.", many(all)))
	case missed <= d.options.MissedAllowed:
		return fine("missed", fmt.Sprintf("%s of the last %s slots were not served in time; doctor.missed allows %s.", many(missed), many(all), many(d.options.MissedAllowed)))
	}
	text := fmt.Sprintf("%s of %s slots since %s were not served in time, the last of them %s", many(missed), many(all), slots.Stamp(was[0].Slot), slots.Stamp(last))
	if swept > 0 {
		text += fmt.Sprintf("; %s of these a sweep alone served, late", many(swept))
	}
	return warn("missed", text+".", "See that workers or timers serve every slot: `agents` lists those that were heard of. A sweep runs what waited in these slots.")
}

// examineLeases looks for leases that lapsed and that nobody took over.
func (d *doctor) examineLeases(ctx context.Context) ([]Finding, error) {
	var lapsed []store.Leased
	if err := d.db.SelectContext(ctx, &lapsed, d.tables.Stmt.Get("operate/lapsed"), ledgerProbe, 100); err != nil {
		return nil, err
	}
	if len(lapsed) == 0 {
		parts, err := d.parts(ctx, latestOfLedger)
		return orFine(nil, "leases", "no lease has lapsed", parts...), err
	}
	l := lapsed[0]
	return []Finding{warn("leases", fmt.Sprintf("%d leases lapsed, and nobody took their buckets over. The first, of worker %s on bucket %d of slot %s, lapsed %s ago: the worker died, or hangs.",
		len(lapsed), l.Worker, l.Bucket, slots.Stamp(l.Slot), (-time.Duration(l.HeldMicros)*time.Microsecond).Round(time.Second)),
		"See what became of the worker. Where checks are left, a sweep takes the bucket over.")}, nil
}

// examineFarLeases looks for leases that end further ahead than any is taken for: whoever left them did so before the clock of
// the database was set back. They keep nobody from their buckets.
func (d *doctor) examineFarLeases(ctx context.Context) ([]Finding, error) {
	var far []store.Leased
	if err := d.db.SelectContext(ctx, &far, d.tables.Stmt.Get("operate/far_leases"), ledgerProbe, 100); err != nil {
		return nil, err
	}
	if len(far) == 0 {
		parts, err := d.parts(ctx, latestOfLedger)
		return orFine(nil, "leases.far", "no lease ends further ahead than leases do", parts...), err
	}
	l := far[0]
	return []Finding{warn("leases.far", fmt.Sprintf("%d leases end more than %s ahead, and no lease is that long: the clock of the database was set back. The first, of worker %s on bucket %d of slot %s, ends in %s.",
		len(far), prescient.MaxLease, l.Worker, l.Bucket, slots.Stamp(l.Slot), (time.Duration(l.HeldMicros)*time.Microsecond).Round(time.Second)),
		"See that the clock of the database is right. Workers do not honour these leases: where checks are left, a sweep takes the buckets over.")}, nil
}

// examineCoverage compares the assignments of all workers: those that were given, or else of the agents and timers that live.
func (d *doctor) examineCoverage(ctx context.Context) (found []Finding, err error) {
	assigned, given := d.options.Assignments, len(d.options.Assignments) > 0
	if !given && d.mayUse("SELECT", "agent") {
		if assigned, err = d.assigned(ctx); err != nil {
			return nil, err
		}
	}
	if len(assigned) == 0 {
		return []Finding{unseen("coverage", "No assignments were given to compare, and no agent or timer that has one lives.", "Give those of all workers: `doctor --assignments '0,30;15,45'`.")}, nil
	}
	covered, err := slots.Cover(assigned...)
	if err != nil {
		return []Finding{bad("coverage", err.Error(), "Give assignments of the resolution that slot_config has.")}, nil
	}
	if !given {
		covered.Doubled = nil // which agents share on purpose
	}
	for line := range strings.SplitSeq(covered.String(), "\n") {
		switch {
		case len(covered.Unserved) > 0 && len(found) == 0:
			unserved := bad("coverage.unserved", sentence(line), "Assign these slots to a worker. Until then only the sweeper runs their checks, late.")
			if !given {
				unserved.Severity = SeverityWarn // a timer of an earlier version may serve them
			}
			found = append(found, unserved)
		case len(covered.Doubled) > 0:
			found = append(found, warn("coverage.doubled", sentence(line), "Nothing, if the workers are to share these slots: leases keep the workers apart."))
		}
	}
	return orFine(found, "coverage", covered.String()), nil
}

// assigned are the assignments of the agents and timers that live, each once.
func (d *doctor) assigned(ctx context.Context) (all []slots.Assignment, err error) {
	agents, err := agent.ListBy(ctx, d.db, d.tables.Stmt)
	if err != nil {
		return nil, err
	}
	for _, a := range agents {
		one, err := slots.Parse(d.tables.Grid, a.Assignment)
		if a.State == agent.Live && err == nil && !one.Grid().IsZero() && !slices.Contains(all, one) { // agents.slots names one that is none
			all = append(all, one)
		}
	}
	return all, nil
}
