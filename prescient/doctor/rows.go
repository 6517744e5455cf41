package doctor

import (
	"cmp"
	"context"
	"crypto/rand"
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/errno"
	"prescient/prescient/internal/literal"
	"prescient/prescient/internal/reserved"
	"prescient/prescient/internal/store"
	"prescient/slots"
)

// How much the examinations of rows read.
const (
	overdueProbe = 10_000 // rows that are counted
	overdueNamed = 3      // rows that are named
	sampleSize   = 500    // rows of each sample
	rareSize     = 100    // of each that is read by the keys: the server reads a page for each of its rows
	gridProbe    = 2_000  // slots, from the first one on
)

// examineOverdue looks for rows whose slot is over and that nobody runs.
func (l *look) examineOverdue(ctx context.Context) {
	before := slots.OverdueBefore(l.tables.Grid, l.now, l.options.SweepGrace)
	var first []time.Time
	l.rows(ctx, &first, "sweep/overdue", prescient.EarliestDue, before, 1)
	if len(first) == 0 {
		l.say(fine("overdue", "Nothing is overdue."))
		return
	}
	var n int
	l.row(ctx, &n, "operate/overdue_count", before, overdueProbe)
	var rows []struct { // of the first overdue slot: what stays there for a reason of its own is among them
		Name string `db:"entity_name"`
		Key  string `db:"entity_key"`
		Exec string `db:"job_exec"`
	}
	l.rows(ctx, &rows, "operate/overdue_first", first[0], overdueNamed)
	checks := counted(n, "check is", "checks are")
	if n == overdueProbe {
		checks = many(n) + " or more checks are"
	}
	names, entities := make([]string, len(rows)), make([]string, len(rows))
	for i, row := range rows {
		entities[i] = prescient.Entity{Name: row.Name, Key: row.Key}.String()
		names[i] = fmt.Sprintf("%s of %s", row.Exec, entities[i])
	}
	l.say(l.judgeOverdue(checks, strings.Join(names, ", "), first[0]).about(entities...))
}

// SweptWithin is how old a slot may be while nothing is wrong: the next one has begun, the grace is over, and a sweep has come by.
func (o Options) SweptWithin(resolution time.Duration) time.Duration {
	return max(resolution, o.SweepGrace) + o.SweepEvery
}

// BadFrom is the age from which it is bad that rows wait.
func (o Options) BadFrom(resolution time.Duration) time.Duration {
	return cmp.Or(o.OverdueBad, 2*o.SweptWithin(resolution))
}

func (d *doctor) judgeOverdue(checks, names string, first time.Time) Finding {
	age := d.now.Sub(first)
	text := fmt.Sprintf("%s overdue, the oldest since its slot %s, %s ago: %s", checks, slots.Stamp(first), age.Round(time.Second), names)
	const do = "See by `agents` whether a worker or a sweep lives. If none does, start `work`, which catches up. Else `blocking` and the worker's log say what keeps these checks. " +
		"`roll-forward` makes nothing run: it moves all overdue checks to the next slot, for when nobody can catch up."
	switch {
	case d.halted:
		return warn("overdue", text+". Everything is paused.", "Run `resume --all` once the reason is gone. The sweeper catches up then.")
	case age > d.options.BadFrom(d.tables.Grid.Resolution()):
		return bad("overdue", text+".", do)
	case age > d.options.SweptWithin(d.tables.Grid.Resolution()):
		return warn("overdue", text+".", do)
	}
	return fine("overdue", text+". The next sweep runs these checks.")
}

// examinePaused names what is paused: rows wait for that, and it is easily forgotten.
func (l *look) examinePaused(ctx context.Context) {
	var list []prescient.Paused
	l.rows(ctx, &list, "list/pauses")
	waits := l.pausedWaits(ctx, list)
	for _, p := range list {
		what, resume := "The job_exec "+p.JobExec, "resume "+p.JobExec
		switch p.JobExec {
		case prescient.AllExecs:
			what, resume, l.halted, l.eventsHalted = "Everything", "resume --all", true, true
		case prescient.AllEvents:
			what, resume, l.eventsHalted = "The publishing of events", "resume --events", true
		}
		text := fmt.Sprintf("%s has been paused since %s", what, slots.Stamp(p.Since))
		if p.By != "" {
			text += fmt.Sprintf(" by %q", p.By)
		}
		if p.Reason != "" {
			text += fmt.Sprintf(": %q", p.Reason)
		}
		if late, is := waits[p.JobExec]; is {
			text += fmt.Sprintf(". %s of the first %s pending checks %s for the pause to end, the first for %s", many(late.Waits), many(overdueProbe), form(late.Waits, "waits", "wait"),
				l.now.Sub(late.First.Time).Round(time.Second))
		}
		l.say(warn("paused", text+".", "Run `"+resume+"` once the reason is gone.").about(p.JobExec))
	}
	l.orFine(ctx, "paused", "neither a job_exec nor the publishing of events is paused")
}

// late are checks of a job_exec that are late.
type late struct {
	JobExec string       `db:"job_exec"`
	Waits   int          `db:"waits"`
	First   sql.NullTime `db:"first_due"`
}

// pausedWaits reads which checks are late, by job_exec, where some of the pauses are those of one: all that is under the others is overdue, or
// are events. Nothing where the account may not read that.
func (l *look) pausedWaits(ctx context.Context, pauses []prescient.Paused) map[string]late {
	ofOne := func(p prescient.Paused) bool {
		return p.JobExec != prescient.AllExecs && p.JobExec != prescient.AllEvents
	}
	if !slices.ContainsFunc(pauses, ofOne) {
		return nil
	}
	var list []late
	l.rows(ctx, &list, "operate/paused_waits", overdueProbe, l.now)
	if errno.Denied(l.err) {
		l.err = nil
	}
	waits := make(map[string]late)
	for _, one := range list {
		waits[one.JobExec] = one
	}
	return waits
}

// sampled is a row of operate/sample.
type sampled struct {
	prescient.FutureJob
	RawKey []byte `db:"job_key"`
}

// examineRows looks for rows that the library would never write, among the first ones and some from anywhere.
func (l *look) examineRows(ctx context.Context) {
	var anywhere prescient.Key
	_, _ = rand.Read(anywhere[:]) // it never fails
	var rows []sampled
	known := make(map[string]bool) // the samples may overlap
	for _, s := range []struct {
		index, order, from string
		limit              int
	}{
		{"PRIMARY", "next_check_at, job_key", "next_check_at >= " + literal.Of(literal.AppendSecond, prescient.EarliestDue), sampleSize},
		{"job_key", "job_key", "job_key >= " + literal.Of(literal.AppendKey, anywhere), rareSize},
		{"job_key", "job_key", "job_key >= " + literal.Of(literal.AppendKey, prescient.Key{}), rareSize},
	} {
		var some []sampled
		query := l.tables.Fill("operate/sample", "{index}", s.index, "{order}", s.order, "{from}", s.from)
		l.query(ctx, l.db.SelectContext, &some, "operate/sample", query, s.limit)
		for _, row := range some {
			if key := string(row.RawKey); !known[key] {
				known[key] = true
				rows = append(rows, row)
			}
		}
	}
	l.say(rowFindings(l.tables.Prefix, l.options.MaxChecks, rows)...)
	var page []time.Time
	l.rows(ctx, &page, "sweep/overdue", prescient.EarliestDue, prescient.LatestSlot, gridProbe)
	off := slices.IndexFunc(page, func(slot time.Time) bool { return !l.tables.Grid.On(slot) })
	if off >= 0 {
		l.say(bad("rows.grid", fmt.Sprintf("Checks wait for %s, which is no slot at a resolution of %s. Only the sweeper finds such checks.", slots.Stamp(page[off]), l.tables.Grid),
			fmt.Sprintf("Run `reslot --resolution %s`, which moves these checks.", l.tables.Grid)))
	}
	parts := l.parts(ctx, reach{fmt.Sprintf("the first %%s pending rows, %d by their keys, %[1]d from anywhere", rareSize), sampleSize, "future_job", "PRIMARY", "", nil})
	if len(page) == gridProbe {
		parts = append(parts, fmt.Sprintf("the first %s slots that hold rows", many(gridProbe)))
	}
	l.orPart("rows", counted(len(rows), "pending row is sound, and waits for a slot", "pending rows are sound, and all wait for slots"), parts)
}

// rowFindings judges rows, and names one of each kind that is broken.
func rowFindings(prefix string, maxChecks int, rows []sampled) (found []Finding) {
	seen := make(map[string]bool)
	tell := func(job prescient.FutureJob, code, text, do string) {
		if !seen[code] {
			found = append(found, bad(code, fmt.Sprintf("%s of %s %s.", job.JobExec, job.Entity(), text), do))
		}
		seen[code] = true
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
		if err := prescient.ValidCheck(job.Entity(), job.JobExec, job.Tag); err != nil {
			tell(job, "rows.names", "has a name that is not allowed: "+err.Error(), "Find what wrote the row. No command takes such a name: "+
				"in plain SQL, CALL "+prefix+"cancel(entity_name, entity_key, NULL) ends the check. Insert the check again under another name.")
		}
	}
	return found
}

// How much examinePutOff looks at: the first rows whose slots are over, and the first of those to come, so that a backlog does not hide what
// comes behind it. Where that is not all there is up to the furthest slot that a row is put off to, some rows of some slots besides.
const (
	putOffProbe  = 60_000 // rows that are due
	comingProbe  = 10_000 // to come: where all goes well these alone are there, and nobody has read them of late
	putOffSlots  = 25
	putOffSample = 100 // rows of each
)

// putOff is what is known of a job_exec, some of whose rows that were looked at were moved on without a call.
type putOff struct {
	JobExec string    `db:"job_exec"`
	Jobs    int       `db:"jobs"`
	Since   time.Time `db:"since"`
	Times   int       `db:"times"`
	Reason  string    `db:"reason"`
}

// examinePutOff looks for job_execs whose rows are put off again and again: nobody has registered them, mostly since the
// name is misspelt, or their calls ignore their timeout.
func (l *look) examinePutOff(ctx context.Context) {
	last := l.now.Add(prescient.MaxPutOff + 2*l.tables.Grid.Resolution())
	type why struct{ exec, kind string }
	found := make(map[why]putOff)
	sample := func(from store.Place, last time.Time, limit int) (more bool) {
		to, more, err := l.tables.EndUpTo(ctx, l.db, from, last, limit)
		l.err = cmp.Or(l.err, err)
		var some []putOff
		l.query(ctx, l.db.SelectContext, &some, "operate/put_off", l.tables.Fill("operate/put_off", store.Page(from, to, true)...))
		for _, one := range some {
			key := why{one.JobExec, one.kind()}
			found[key] = one.and(found[key])
		}
		return more && l.err == nil
	}
	var parts []string
	if sample(store.Place{Slot: prescient.EarliestDue}, l.now, putOffProbe) {
		parts = append(parts, fmt.Sprintf("the first %s rows that are due", many(putOffProbe)))
	}
	if sample(store.EndOf(l.now), last, comingProbe) {
		parts = append(parts, fmt.Sprintf("the first %s rows to come", many(comingProbe)))
	}
	sampled := len(parts) > 0
	if sampled {
		var page []time.Time
		l.rows(ctx, &page, "sweep/overdue", prescient.EarliestDue, last, gridProbe)
		few := min(len(page), putOffSlots)
		for i := range few {
			slot := page[i*len(page)/few]
			sample(store.Place{Slot: slot}, slot, putOffSample)
		}
		parts = append(parts, fmt.Sprintf("some rows of %d slots", few))
	}
	for _, key := range slices.SortedFunc(maps.Keys(found), func(a, b why) int {
		return cmp.Or(cmp.Compare(a.exec, b.exec), cmp.Compare(a.kind, b.kind))
	}) {
		l.say(l.judgePutOff(found[key], sampled))
	}
	l.orPart("put_off", "no check is put off without a call", parts)
}

// row is one that was put off for the reason.
func (p putOff) row() prescient.FutureJob {
	return prescient.FutureJob{PutOffCount: p.Times, LastError: p.Reason}
}

// kind tells reasons apart that have the same remedy.
func (p putOff) kind() string {
	switch {
	case prescient.IsKept(p.row()):
		return "kept"
	case prescient.IsAbandoned(p.row()):
		return "abandoned"
	}
	return ""
}

// and joins what two looks found, which may have seen the same rows: the larger number is sure.
func (p putOff) and(other putOff) putOff {
	if other.Jobs == 0 {
		return p
	}
	p.Jobs, p.Times = max(p.Jobs, other.Jobs), max(p.Times, other.Times)
	if other.Since.Before(p.Since) {
		p.Since = other.Since
	}
	return p
}

// judgePutOff is bad for what has been waiting for longer than overdue rows may.
func (d *doctor) judgePutOff(p putOff, sampled bool) Finding {
	checks, are := counted(p.Jobs, "check", "checks"), form(p.Jobs, "is", "are")
	if sampled {
		checks, are = many(p.Jobs)+" or more checks", "are"
	}
	often := form(p.Times, "once", fmt.Sprintf("up to %d times in a row", p.Times))
	f := warn("put_off", fmt.Sprintf("%s of job_exec %s %s put off without a call, %s. The first has been due since %s: %s",
		checks, p.JobExec, are, often, slots.Stamp(p.Since), strings.TrimPrefix(p.Reason, "put off: ")),
		fmt.Sprintf("Start a worker that has registered %[1]s. If the name is misspelt, list the checks with `pending --exec %[1]s`, cancel them, and insert them under the right name.", p.JobExec)).about(p.JobExec)
	switch p.kind() {
	case "abandoned":
		f.Do = "Make the job_exec return when its context ends, and restart the workers in which its calls hang; `agents` lists the workers. Cancel nothing: the checks run then."
	case "kept":
		f.Do = "Remove what the error names: drop the app's foreign key or trigger, or delete the app's rows that point to these checks. A worker tries again, within a day at most, and does not call the job_exec: " +
			"the checks end as failed. `requeue --outcome failed` makes them pending again."
	}
	if d.now.Sub(p.Since) > d.options.BadFrom(d.tables.Grid.Resolution()) {
		f.Severity = SeverityBad
	}
	return f
}
