package doctor

import (
	"cmp"
	"context"
	"crypto/rand"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/errno"
	"prescient/prescient/internal/reserved"
	"prescient/slots"
)

// How much the examinations of rows read.
const (
	overdueProbe = 10_000 // rows that are counted
	overdueNamed = 3      // rows that are named
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
		return []Finding{fine("overdue", "Nothing is overdue.")}, nil
	}
	var n int
	if err := d.db.GetContext(ctx, &n, d.tables.Stmt.Get("operate/overdue_count"), before, overdueProbe); err != nil {
		return nil, err
	}
	count := many(n)
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
	text := fmt.Sprintf("%s checks are overdue, the oldest since its slot %s, %s ago: %s", count, slots.Stamp(first), age.Round(time.Second), names)
	const do = "Start `work` or `sweep`, which catches up, or read what their logs say of these checks. Where no worker runs them, `roll-forward` moves all overdue checks to the next slot."
	switch {
	case d.halted:
		return warn("overdue", text+". Everything is paused.", "Run `resume --all` once the reason is gone. The sweeper catches up then.")
	case age > d.overdueBad():
		return bad("overdue", text+".", do)
	case age > d.sweptWithin():
		return warn("overdue", text+".", do)
	}
	return fine("overdue", text+". The next sweep runs these checks.")
}

// examinePaused names what is paused: rows wait for that, and it is easily forgotten.
func (d *doctor) examinePaused(ctx context.Context) (found []Finding, err error) {
	var list []prescient.Paused
	if err := d.db.SelectContext(ctx, &list, d.tables.Stmt.Get("list/pauses")); err != nil {
		return nil, err
	}
	waits, err := d.pausedWaits(ctx, list)
	if err != nil {
		return nil, err
	}
	for _, p := range list {
		what, resume := "The job_exec "+p.JobExec, "resume "+p.JobExec
		switch p.JobExec {
		case prescient.AllExecs:
			what, resume, d.halted, d.eventsHalted = "Everything", "resume --all", true, true
		case prescient.AllEvents:
			what, resume, d.eventsHalted = "The publishing of events", "resume --events", true
		}
		text := fmt.Sprintf("%s has been paused since %s", what, slots.Stamp(p.Since))
		if p.By != "" {
			text += fmt.Sprintf(" by %q", p.By)
		}
		if p.Reason != "" {
			text += fmt.Sprintf(": %q", p.Reason)
		}
		if late, is := waits[p.JobExec]; is {
			text += fmt.Sprintf(". %s of the first %s pending checks wait for the pause to end, the first for %s", many(late.Waits), many(overdueProbe),
				d.now.Sub(late.First.Time).Round(time.Second))
		}
		found = append(found, warn("paused", text+".", "Run `"+resume+"` once the reason is gone."))
	}
	return orFine(found, "paused", "neither a job_exec nor the publishing of events is paused"), nil
}

// late are checks of a job_exec that are late.
type late struct {
	JobExec string       `db:"job_exec"`
	Waits   int          `db:"waits"`
	First   sql.NullTime `db:"first_due"`
}

// pausedWaits reads which checks are late, by job_exec, where some of the pauses are those of one: all that is under the others is overdue, or
// are events. Nothing where the account may not read that.
func (d *doctor) pausedWaits(ctx context.Context, pauses []prescient.Paused) (map[string]late, error) {
	ofOne := func(p prescient.Paused) bool {
		return p.JobExec != prescient.AllExecs && p.JobExec != prescient.AllEvents
	}
	if !slices.ContainsFunc(pauses, ofOne) {
		return nil, nil
	}
	var list []late
	err := d.db.SelectContext(ctx, &list, d.tables.Stmt.Get("operate/paused_waits"), overdueProbe, d.now)
	if err != nil && !errno.Denied(err) {
		return nil, fmt.Errorf("counting what waits for a pause to end: %w", err)
	}
	waits := make(map[string]late)
	for _, one := range list {
		waits[one.JobExec] = one
	}
	return waits, nil
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
	known := make(map[string]bool) // the samples may overlap
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
		for _, row := range some {
			if key := string(row.RawKey); !known[key] {
				known[key] = true
				rows = append(rows, row)
			}
		}
	}
	found = rowFindings(d.tables.Prefix, d.options.MaxChecks, rows)
	var page []time.Time
	if err := d.db.SelectContext(ctx, &page, d.tables.Stmt.Get("sweep/overdue"), prescient.EarliestDue, prescient.LatestSlot, gridProbe); err != nil {
		return found, err
	}
	for _, slot := range page {
		if !d.tables.Grid.On(slot) {
			found = append(found, bad("rows.grid", fmt.Sprintf("Checks wait for %s, which is no slot at a resolution of %s. Only the sweeper finds such checks.", slots.Stamp(slot), d.tables.Grid),
				fmt.Sprintf("Run `reslot --resolution %s`, which moves these checks.", d.tables.Grid)))
			break
		}
	}
	parts, err := d.parts(ctx, reach{"the first %s pending rows, as many by their keys, as many from anywhere", sampleSize, "future_job", "PRIMARY", "", nil})
	if err != nil {
		return found, err
	}
	if len(page) == gridProbe {
		parts = append(parts, fmt.Sprintf("the first %s slots that hold rows", many(gridProbe)))
	}
	return orFine(found, "rows", fmt.Sprintf("%s pending rows are sound, and all wait for slots", many(len(rows))), parts...), nil
}

// rowFindings judges rows, and names one of each kind that is broken.
func rowFindings(prefix string, maxChecks int, rows []sampled) (found []Finding) {
	seen := make(map[string]bool)
	tell := func(job prescient.FutureJob, code, text, do string) {
		if !seen[code] {
			seen[code] = true
			found = append(found, bad(code, fmt.Sprintf("%s of %s %s.", job.JobExec, job.Entity(), text), do))
		}
	}
	const wrong = "Find what wrote the row: raw UPDATEs and INSERTs of these columns are not allowed. Cancel the check, and insert it again."
	for _, r := range rows {
		job := r.FutureJob
		if key := job.Key(); string(key[:]) != string(r.RawKey) {
			tell(job, "rows.key", fmt.Sprintf("has the job_key %X, but its names make %s, so that a cancel does not find the check", r.RawKey, key), wrong)
		}
		if job.NextCheckAt.Before(job.DueAt) {
			tell(job, "rows.early", fmt.Sprintf("is due at %s, but waits for %s, and so runs too early", slots.Stamp(job.DueAt), slots.Stamp(job.NextCheckAt)), wrong)
		}
		// A timer is called as long as there is its schedule.
		if maxChecks > 0 && job.CheckCount > maxChecks && !reserved.IsTimer(job) && !seen["rows.checks"] {
			seen["rows.checks"] = true
			found = append(found, warn("rows.checks", fmt.Sprintf("%s of %s was checked %d times and is still pending; the guard allows %d.", job.JobExec, job.Entity(), job.CheckCount, maxChecks),
				"Nothing, if the guard was lowered or the job_exec has a guard of its own: the check ends when it is next called. Else find what wrote check_count."))
		}
		if err := validNames(job); err != nil {
			tell(job, "rows.names", "has a name that is not allowed: "+err.Error(), "Find what wrote the row. No command takes such a name: "+
				"in plain SQL, CALL "+prefix+"cancel(entity_name, entity_key, NULL) ends the check. Insert the check again under another name.")
		}
	}
	return found
}

func validNames(j prescient.FutureJob) error {
	return prescient.ValidCheck(j.Entity(), j.JobExec, j.Tag)
}
