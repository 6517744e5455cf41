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
	leasesProbe = 100    // leases that are counted
)

// leases is how many there are of those that were counted.
func leases(n int) string {
	text := counted(n, "lease", "leases")
	if n == leasesProbe {
		text += " or more"
	}
	return text
}

// latestOfLedger is how far the looks at its latest rows go.
var latestOfLedger = reach{"the latest %s rows of the ledger", ledgerProbe, "slot_run", "PRIMARY", "", nil}

// examineMissed looks for slots of the last day that left no row in the ledger: nobody served them. Those from before the
// slots were what they are now were others.
func (l *look) examineMissed(ctx context.Context) {
	var since time.Time
	l.row(ctx, &since, "operate/since")
	before := l.tables.Grid.Floor(l.now.Add(-l.options.SweepGrace))
	day := slots.Later(since, before.Add(-24*time.Hour))
	from := l.tables.Grid.Ceil(slots.Later(day, l.tables.Grid.Add(before, -servedProbe)))
	served := l.served(ctx, from, before, servedProbe)
	latest := l.served(ctx, slots.Later(from, before), l.tables.Grid.Next(l.now), 1)
	f := l.judgeMissed(from, before, served, latest)
	if f.Severity == SeverityOK && from.After(l.tables.Grid.Ceil(day)) {
		f = part(f.Code, f.Text+" Earlier slots of the last day were not looked at.", "")
	}
	l.say(f)
}

// served is a slot that the ledger has.
type served struct {
	Slot   time.Time `db:"slot"`
	InTime bool      `db:"in_time"` // more than a sweep had it
}

// served reads the first slots of the ledger from one time to before another.
func (l *look) served(ctx context.Context, from, before time.Time, limit int) (list []served) {
	l.rows(ctx, &list, "operate/served", from, before, limit)
	slices.SortFunc(list, func(a, b served) int { return a.Slot.Compare(b.Slot) })
	return list
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
		return fine("missed", fmt.Sprintf("Each of the last %s was served.", counted(all, "slot", "slots")))
	case missed <= d.options.MissedAllowed:
		return fine("missed", fmt.Sprintf("%s of the last %s %s not served in time; doctor.missed allows %s.", many(missed), counted(all, "slot", "slots"), form(missed, "was", "were"), many(d.options.MissedAllowed)))
	}
	text := fmt.Sprintf("%s of %s since %s %s not served in time%s%s", many(missed), counted(all, "slot", "slots"), slots.Stamp(was[0].Slot), form(missed, "was", "were"),
		form(missed, ": ", ", the last of them "), slots.Stamp(last))
	if swept > 0 {
		text += fmt.Sprintf("; %s of these a sweep alone served, late", many(swept))
	}
	return warn("missed", text+".", "See that workers or timers serve every slot: `agents` lists those that were heard of. A sweep runs what waited in these slots.")
}

// examineLeases looks for leases that lapsed and that nobody took over.
func (l *look) examineLeases(ctx context.Context) {
	var lapsed []store.Leased
	l.rows(ctx, &lapsed, "operate/lapsed", ledgerProbe, leasesProbe)
	if len(lapsed) > 0 {
		first := lapsed[0]
		l.say(warn("leases", fmt.Sprintf("%s lapsed, and nobody took their buckets (parts of a slot) over. The first, of worker %s on bucket %d of slot %s, lapsed %s ago: the worker died, or hangs.",
			leases(len(lapsed)), first.Worker, first.Bucket, slots.Stamp(first.Slot), (-time.Duration(first.HeldMicros)*time.Microsecond).Round(time.Second)),
			"See what became of the worker. Where `doctor --only overdue` finds nothing, no check is left, and that is all. Else see that somebody sweeps: `work`, or a timer that calls `sweep`."))
		return
	}
	l.orFine(ctx, "leases", "no lease has lapsed", latestOfLedger)
}

// examineFarLeases looks for leases that end further ahead than any is taken for: whoever left them did so before the clock of
// the database was set back. They keep nobody from their buckets.
func (l *look) examineFarLeases(ctx context.Context) {
	var far []store.Leased
	l.rows(ctx, &far, "operate/far_leases", ledgerProbe, leasesProbe)
	if len(far) > 0 {
		first, ends := far[0], "end"
		if len(far) == 1 {
			ends = "ends"
		}
		l.say(warn("leases.far", fmt.Sprintf("%s %s more than %s ahead, and no lease is that long: the clock of the database was set back. The first, of worker %s on bucket %d of slot %s, ends in %s.",
			leases(len(far)), ends, prescient.MaxLease, first.Worker, first.Bucket, slots.Stamp(first.Slot), (time.Duration(first.HeldMicros)*time.Microsecond).Round(time.Second)),
			"See that the clock of the database is right. Workers do not honour these leases: where checks are left, a sweep takes the buckets over."))
		return
	}
	l.orFine(ctx, "leases.far", "no lease ends further ahead than leases do", latestOfLedger)
}

// examineCoverage compares the assignments of all workers: those that were given, or else of the agents and timers that live.
func (l *look) examineCoverage(ctx context.Context) {
	assigned, given := l.options.Assignments, len(l.options.Assignments) > 0
	if !given && l.mayUse("SELECT", "agent") {
		assigned = l.assigned(ctx)
	}
	if len(assigned) == 0 {
		l.say(unseen("coverage", "No assignments were given to compare, and no agent or timer that has one lives.", "Give those of all workers: `doctor --assignments '0,30;15,45'`."))
		return
	}
	covered, err := slots.Cover(assigned...)
	if err != nil {
		l.say(bad("coverage", err.Error(), "Give assignments of the resolution that slot_config has."))
		return
	}
	if !given {
		covered.Doubled = nil // which agents share on purpose
	}
	for line := range strings.SplitSeq(covered.String(), "\n") {
		switch {
		case len(covered.Unserved) > 0 && len(l.found) == 0:
			unserved := bad("coverage.unserved", sentence(line), "Assign these slots to a worker. Until then only the sweeper runs their checks, late.")
			if !given {
				unserved.Severity = SeverityWarn // a timer of an earlier version may serve them
			}
			l.say(unserved)
		case len(covered.Doubled) > 0:
			l.say(warn("coverage.doubled", sentence(line), "Nothing, if the workers are to share these slots: leases keep the workers apart."))
		}
	}
	l.orFine(ctx, "coverage", covered.String())
}

// assigned are the assignments of the agents and timers that live, each once.
func (l *look) assigned(ctx context.Context) (all []slots.Assignment) {
	for _, a := range l.agents(ctx) {
		one, err := slots.Parse(l.tables.Grid, a.Assignment)
		if a.State == agent.Live && err == nil && !one.Grid().IsZero() && !slices.Contains(all, one) { // agents.slots names one that is none
			all = append(all, one)
		}
	}
	return all
}
