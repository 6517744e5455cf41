package doctor

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"prescient/prescient"
	"prescient/slots"
)

// How much examinePutOff looks at: the first rows whose slots are over, and the first of those to come, so that a backlog does not hide what
// comes behind it. Where that is not all there is up to the furthest slot that a row is put off to, some rows of some slots besides.
const (
	putOffProbe  = 60_000
	putOffSlots  = 50
	putOffSample = 100 // rows of each
)

// putOff is what is known of a job_exec, of whose rows that were looked at some were moved on without a call.
type putOff struct {
	JobExec string    `db:"job_exec"`
	Looked  int       `db:"looked"`
	Jobs    int       `db:"jobs"`
	Since   time.Time `db:"since"`
	Times   int       `db:"times"`
	Reason  string    `db:"reason"`
}

// examinePutOff looks for job_execs whose rows are put off again and again: nobody has registered them, mostly since the
// name is misspelt, or their calls ignore their timeout.
func (d *doctor) examinePutOff(ctx context.Context) ([]Finding, error) {
	last := d.now.Add(prescient.MaxPutOff + 2*d.tables.Grid.Resolution())
	found := make(map[string]putOff)
	sample := func(from, to time.Time, limit int) (more bool, err error) {
		var some []putOff
		err = d.db.SelectContext(ctx, &some, d.tables.Stmt.Get("operate/put_off"), from, to, limit)
		looked := 0
		for _, one := range some {
			looked += one.Looked
			if one.Jobs > 0 {
				found[one.JobExec] = one.and(found[one.JobExec])
			}
		}
		return looked == limit, err
	}
	var parts []string
	for _, rows := range []struct {
		from, to time.Time
		says     string
	}{{prescient.EarliestDue, d.now, "the first %s rows that are due"}, {d.now, last, "the first %s rows to come"}} {
		more, err := sample(rows.from, rows.to, putOffProbe)
		if err != nil {
			return nil, err
		}
		if more {
			parts = append(parts, fmt.Sprintf(rows.says, many(putOffProbe)))
		}
	}
	sampled := len(parts) > 0
	if sampled {
		var page []time.Time
		if err := d.db.SelectContext(ctx, &page, d.tables.Stmt.Get("sweep/overdue"), prescient.EarliestDue, last, gridProbe); err != nil {
			return nil, err
		}
		few := min(len(page), putOffSlots)
		for i := range few {
			slot := page[i*len(page)/few]
			if _, err := sample(slot, slot, putOffSample); err != nil {
				return nil, err
			}
		}
		parts = append(parts, fmt.Sprintf("some rows of %d slots", few))
	}
	var findings []Finding
	for _, name := range slices.Sorted(maps.Keys(found)) {
		findings = append(findings, d.judgePutOff(found[name], sampled))
	}
	return orFine(findings, "put_off", "no check is put off without a call", parts...), nil
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
	count := many(p.Jobs)
	if sampled {
		count += " or more"
	}
	f := warn("put_off", fmt.Sprintf("%s checks of job_exec %s are put off without a call, up to %d times in a row. The first has been due since %s: %s",
		count, p.JobExec, p.Times, slots.Stamp(p.Since), p.Reason),
		fmt.Sprintf("Start a worker that has registered %[1]s. If the name is misspelt, list the checks with `pending --exec %[1]s`, cancel them, and insert them under the right name.", p.JobExec))
	if prescient.IsKept(prescient.FutureJob{PutOffCount: p.Times, LastError: p.Reason}) {
		f.Do = "Remove what keeps these rows in future_job: a foreign key or a trigger of the app. The checks end when a worker tries them next."
	}
	if d.now.Sub(p.Since) > d.overdueBad() {
		f.Severity = SeverityBad
	}
	return f
}
