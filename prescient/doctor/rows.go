package doctor

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"strings"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/store"
	"prescient/slots"
)

// How much the examinations of rows read.
const (
	overdueProbe = 10_000 // rows that are counted
	overdueNamed = 3      // rows that are named
	ledgerProbe  = 20_000 // latest rows of the ledger that are looked through
	servedProbe  = 2_000  // slots of the last day
	sampleSize   = 500    // rows of each sample
	gridProbe    = 2_000  // slots, from the first one on
)

// examineOverdue looks for rows whose slot is over and that nobody runs.
func (d *doctor) examineOverdue(ctx context.Context) ([]Finding, error) {
	before := slots.OverdueBefore(d.tables.Grid, d.now, d.options.SweepGrace)
	var first []time.Time
	if err := d.db.SelectContext(ctx, &first, d.tables.Stmt.Get("sweep/overdue"), prescient.EarliestDue, before, 1); err != nil {
		return nil, err
	}
	if len(first) == 0 {
		return []Finding{fine("overdue", "nothing is overdue")}, nil
	}
	var n int
	if err := d.db.GetContext(ctx, &n, d.tables.Stmt.Get("operate/overdue_count"), before, overdueProbe); err != nil {
		return nil, err
	}
	count := fmt.Sprint(n)
	if n == overdueProbe {
		count += " or more"
	}
	names, err := d.firstOverdue(ctx, first[0])
	if err != nil {
		return nil, err
	}
	return []Finding{d.judgeOverdue(count, names, first[0])}, nil
}

// firstOverdue names a few rows of the first overdue slot: what stays there for a reason of its own is among them.
func (d *doctor) firstOverdue(ctx context.Context, slot time.Time) (string, error) {
	var rows []struct {
		Name string `db:"entity_name"`
		Key  string `db:"entity_key"`
		Exec string `db:"job_exec"`
	}
	if err := d.db.SelectContext(ctx, &rows, d.tables.Stmt.Get("operate/overdue_first"), slot, overdueNamed); err != nil {
		return "", err
	}
	names := make([]string, len(rows))
	for i, row := range rows {
		names[i] = fmt.Sprintf("%s of %s", row.Exec, prescient.Entity{Name: row.Name, Key: row.Key})
	}
	return strings.Join(names, ", "), nil
}

// sweptWithin is how old a slot may be while nothing is wrong: the next one has begun, the grace is over, and a sweep has come by.
func (d *doctor) sweptWithin() time.Duration {
	return max(d.tables.Grid.Resolution(), d.options.SweepGrace) + d.options.SweepEvery
}

// overdueBad is the age from which it is bad that rows wait.
func (d *doctor) overdueBad() time.Duration { return cmp.Or(d.options.OverdueBad, 2*d.sweptWithin()) }

func (d *doctor) judgeOverdue(count, names string, first time.Time) Finding {
	age := d.now.Sub(first)
	text := fmt.Sprintf("%s rows are overdue, the oldest since its slot %s, %s ago: %s", count, slots.Stamp(first), age.Round(time.Second), names)
	const do = "see that work or sweep runs, and what their logs say of these rows; sweep catches up, roll-forward moves all to the next slot"
	switch {
	case d.halted:
		return warn("overdue", text+"; everything is paused", "resume --all, once the reason is gone; the sweeper catches up then")
	case age > d.overdueBad():
		return bad("overdue", text, do)
	case age > d.sweptWithin():
		return warn("overdue", text, do)
	}
	return fine("overdue", text+": the next sweep takes them")
}

// examinePaused names what is paused: rows wait for that, and it is easily forgotten.
func (d *doctor) examinePaused(ctx context.Context) (found []Finding, err error) {
	var list []prescient.Paused
	if err := d.db.SelectContext(ctx, &list, d.tables.Stmt.Get("list/pauses")); err != nil {
		return nil, err
	}
	for _, p := range list {
		what := p.JobExec
		resume := "resume " + p.JobExec
		if what == prescient.AllExecs {
			what, resume, d.halted = "everything", "resume --all", true
		}
		found = append(found, warn("paused", fmt.Sprintf("%s is paused since %s by %q: %q", what, slots.Stamp(p.Since), p.By, p.Reason), resume+", once the reason is gone"))
	}
	return orFine(found, "paused", "nothing is paused"), nil
}

// examineMissed looks for slots of the last day that left no row in the ledger: nobody served them. Those from before the
// slots were what they are now were others.
func (d *doctor) examineMissed(ctx context.Context) ([]Finding, error) {
	var since time.Time
	if err := d.db.GetContext(ctx, &since, d.tables.Stmt.Get("operate/since")); err != nil {
		return nil, err
	}
	before := d.tables.Grid.Floor(d.now.Add(-d.options.SweepGrace))
	from := d.tables.Grid.Ceil(slots.Later(since, slots.Later(before.Add(-24*time.Hour), d.tables.Grid.Add(before, -servedProbe))))
	var served, latest []time.Time
	if err := d.db.SelectContext(ctx, &served, d.tables.Stmt.Get("operate/served"), from, before, servedProbe); err != nil {
		return nil, err
	}
	if err := d.db.SelectContext(ctx, &latest, d.tables.Stmt.Get("operate/served"), slots.Later(from, before), d.tables.Grid.Next(d.now), 1); err != nil {
		return nil, err
	}
	return []Finding{d.judgeMissed(from, before, served, latest)}, nil
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
		return []Finding{fine("leases", "no lease has lapsed")}, nil
	}
	l := lapsed[0]
	return []Finding{warn("leases", fmt.Sprintf("%d leases lapsed and were not taken over; the first is that of worker %s on bucket %d of slot %s, %s ago: it died, or hangs",
		len(lapsed), l.Worker, l.Bucket, slots.Stamp(l.Slot), (-time.Duration(l.HeldMicros)*time.Microsecond).Round(time.Second)),
		"see what became of the worker; where rows are left, sweep takes the bucket over")}, nil
}

// examineCoverage compares the assignments of all workers.
func (d *doctor) examineCoverage(context.Context) (found []Finding, err error) {
	if len(d.options.Assignments) == 0 {
		return []Finding{fine("coverage", "no assignments were given to compare")}, nil
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

// sampled is a row of operate/sample.
type sampled struct {
	prescient.FutureJob
	RawKey []byte `db:"job_key"`
}

// examineRows looks for rows that the library would never write, among the first ones and some from anywhere.
func (d *doctor) examineRows(ctx context.Context) (found []Finding, err error) {
	var anywhere prescient.Key
	_, _ = rand.Read(anywhere[:]) // it never fails
	var rows []sampled
	for _, s := range []struct {
		index, order, from string
		value              any
	}{
		{"PRIMARY", "next_check_at, job_key", "next_check_at >=", prescient.EarliestDue},
		{"job_key", "job_key", "job_key >=", anywhere[:]},
		{"job_key", "job_key", "job_key >=", make([]byte, len(prescient.Key{}))},
	} {
		var some []sampled
		query := d.tables.Fill("operate/sample", "{index}", s.index, "{order}", s.order, "{from}", s.from)
		if err := d.db.SelectContext(ctx, &some, query, s.value, sampleSize); err != nil {
			return nil, err
		}
		rows = append(rows, some...)
	}
	found = rowFindings(d.tables.Prefix, d.options.MaxChecks, rows)
	var page []time.Time
	if err := d.db.SelectContext(ctx, &page, d.tables.Stmt.Get("sweep/overdue"), prescient.EarliestDue, prescient.LatestSlot, gridProbe); err != nil {
		return found, err
	}
	for _, slot := range page {
		if !d.tables.Grid.On(slot) {
			found = append(found, bad("rows.grid", fmt.Sprintf("rows wait for %s, which is no slot at a resolution of %s: only the sweeper finds them", slots.Stamp(slot), d.tables.Grid),
				fmt.Sprintf("run reslot --resolution %s, which moves them", d.tables.Grid)))
			break
		}
	}
	return orFine(found, "rows", fmt.Sprintf("%d pending rows that were looked at are sound", len(rows))), nil
}

// rowFindings judges rows, and names one of each kind that is broken.
func rowFindings(prefix string, maxChecks int, rows []sampled) (found []Finding) {
	seen := make(map[string]bool)
	tell := func(job prescient.FutureJob, code, text, do string) {
		if !seen[code] {
			seen[code] = true
			found = append(found, bad(code, fmt.Sprintf("%s of %s %s", job.JobExec, job.Entity(), text), do))
		}
	}
	const wrong = "find what wrote it: raw UPDATEs and INSERTs of these columns are not allowed; cancel and insert it again"
	for _, r := range rows {
		job := r.FutureJob
		if key := job.Key(); string(key[:]) != string(r.RawKey) {
			tell(job, "rows.key", fmt.Sprintf("has the job_key %X, but its names make %s: a cancel does not find it", r.RawKey, key), wrong)
		}
		if job.NextCheckAt.Before(job.DueAt) {
			tell(job, "rows.early", fmt.Sprintf("is due at %s, but waits for %s: it runs too early", slots.Stamp(job.DueAt), slots.Stamp(job.NextCheckAt)), wrong)
		}
		if maxChecks > 0 && job.CheckCount > maxChecks && !seen["rows.checks"] {
			seen["rows.checks"] = true
			found = append(found, warn("rows.checks", fmt.Sprintf("%s of %s was checked %d times and is still pending; the guard allows %d", job.JobExec, job.Entity(), job.CheckCount, maxChecks),
				"nothing, if the guard was lowered meanwhile or its job_exec has one of its own: it ends with its next check; else find what wrote check_count"))
		}
		if err := validNames(job); err != nil {
			tell(job, "rows.names", "has a name that is not allowed: "+err.Error(), "find what wrote it. No command takes such a name: "+
				"CALL "+prefix+"cancel(entity_name, entity_key, NULL) by plain SQL ends it; insert it again under another")
		}
	}
	return found
}

func validNames(j prescient.FutureJob) error {
	return prescient.NewJob{Entity: j.Entity(), JobExec: j.JobExec, Tag: j.Tag, DueAt: prescient.EarliestDue.Add(1)}.Validate()
}
