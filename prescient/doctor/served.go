package doctor

import (
	"context"
	"fmt"
	"strings"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/store"
	"prescient/slots"
)

// How much is read of who served the slots.
const (
	ledgerProbe = 20_000 // latest rows of the ledger that are looked through
	servedProbe = 2_000  // slots of the last day
)

// latestOfLedger is how far the looks at its latest rows go.
var latestOfLedger = reach{"the latest %d rows of the ledger", ledgerProbe, "slot_run", "PRIMARY", "", nil}

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
	var served, latest []time.Time
	if err := d.db.SelectContext(ctx, &served, d.tables.Stmt.Get("operate/served"), from, before, servedProbe); err != nil {
		return nil, err
	}
	if err := d.db.SelectContext(ctx, &latest, d.tables.Stmt.Get("operate/served"), slots.Later(from, before), d.tables.Grid.Next(d.now), 1); err != nil {
		return nil, err
	}
	f := d.judgeMissed(from, before, served, latest)
	if f.Severity == SeverityOK && from.After(d.tables.Grid.Ceil(day)) {
		f = part(f.Code, f.Text+"; earlier slots of the last day were not looked at", "")
	}
	return []Finding{f}, nil
}

// judgeMissed judges which slots from one time to before another were served, and whether one was since then.
func (d *doctor) judgeMissed(from, before time.Time, served, latest []time.Time) Finding {
	const start = "start work, or a timer that calls run for each slot"
	switch {
	case len(served) == 0 && len(latest) > 0:
		return fine("missed", "slots are served, the first one "+slots.Stamp(latest[0]))
	case !from.Before(before) && len(served) == 0:
		return fine("missed", "no slot is over since the tables were made, or their resolution changed; "+start)
	case len(served) == 0:
		return warn("missed", fmt.Sprintf("no slot was served since %s", slots.Stamp(from)), start)
	}
	was := make(map[time.Time]bool, len(served))
	for _, slot := range served {
		was[slot.UTC()] = true
	}
	var missed []time.Time
	all := 0
	for slot := d.tables.Grid.Ceil(served[0]); slot.Before(before); slot = d.tables.Grid.Next(slot) {
		if all++; !was[slot] {
			missed = append(missed, slot)
		}
	}
	switch {
	case len(missed) == 0:
		return fine("missed", fmt.Sprintf("each of the last %d slots was served", all))
	case len(missed) <= d.options.MissedAllowed:
		return fine("missed", fmt.Sprintf("%d of the last %d slots were not served; %d may", len(missed), all, d.options.MissedAllowed))
	}
	return warn("missed", fmt.Sprintf("%d of %d slots since %s were not served, the last of them %s", len(missed), all,
		slots.Stamp(served[0]), slots.Stamp(missed[len(missed)-1])),
		"see that workers or timers serve every slot; what waited in these is swept up")
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
	return []Finding{warn("leases", fmt.Sprintf("%d leases lapsed and were not taken over; the first is that of worker %s on bucket %d of slot %s, %s ago: it died, or hangs",
		len(lapsed), l.Worker, l.Bucket, slots.Stamp(l.Slot), (-time.Duration(l.HeldMicros)*time.Microsecond).Round(time.Second)),
		"see what became of the worker; where rows are left, sweep takes the bucket over")}, nil
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
	return []Finding{warn("leases.far", fmt.Sprintf("%d leases end more than %s ahead, which none is taken for; the first is that of worker %s on bucket %d of slot %s, which ends in %s: the clock of the database was set back since",
		len(far), prescient.MaxLease, l.Worker, l.Bucket, slots.Stamp(l.Slot), (time.Duration(l.HeldMicros)*time.Microsecond).Round(time.Second)),
		"see that the clock of the database is right; the leases are not honoured: where rows are left, sweep takes the buckets over")}, nil
}

// examineCoverage compares the assignments of all workers.
func (d *doctor) examineCoverage(context.Context) (found []Finding, err error) {
	if len(d.options.Assignments) == 0 {
		return []Finding{unseen("coverage", "no assignments were given to compare", "doctor --assignments takes those of all workers")}, nil
	}
	covered, err := slots.Cover(d.options.Assignments...)
	if err != nil {
		return []Finding{bad("coverage", err.Error(), "give assignments of the resolution that slot_config has")}, nil
	}
	for line := range strings.SplitSeq(covered.String(), "\n") {
		switch {
		case len(covered.Unserved) > 0 && len(found) == 0:
			found = append(found, bad("coverage.unserved", line, "assign them to a worker; until then only the sweeper runs them, late"))
		case len(covered.Doubled) > 0:
			found = append(found, warn("coverage.doubled", line, "nothing, if the workers are to share these slots; leases keep them apart"))
		}
	}
	return orFine(found, "coverage", covered.String()), nil
}
