package forecast

import (
	"encoding/json"
	"time"

	"prescient/prescient/agent"
	"prescient/prescient/internal/reserved"
	"prescient/prescient/internal/store"
	"prescient/slots"
)

const (
	// lookBack is for how long what calls took counts. Where the books have more than mostLines, some of each slot are read, or of each
	// quarter of an hour: so one that has calls at night alone is there.
	lookBack  = 24 * time.Hour
	mostLines = 1920
	leastPart = 15 * time.Minute
	// maxKnown are versions of job_execs that workers have told of, knownFor how long ago at most: they tell once an hour.
	maxKnown = 500
	knownFor = 70 * time.Minute
)

// told is what a worker tells of a job_exec.
type told struct {
	jobExec, form string
	guards        []byte
}

// called is a line of the books.
type called struct {
	jobExec             string
	isLong              bool
	calls, moved, runMS uint64
}

// execs are what is known of job_execs.
func (r *reader) execs() (map[string]exec, error) {
	execs := make(map[string]exec)
	list, err := store.Rows(r.ctx, r.db, "forecast/known", r.tables.Stmt.Get("forecast/known"), func(t *told) []any { return []any{&t.jobExec, &t.form, &t.guards} },
		r.now.Add(-knownFor), r.now, maxKnown)
	if err != nil {
		return nil, err
	}
	batches := make(map[string]bool)
	for _, t := range list {
		var guards struct {
			Concurrency int   `json:"concurrency"`
			SLA         int64 `json:"sla_ms"`
		}
		if err := json.Unmarshal(t.guards, &guards); err != nil {
			continue // what no worker has written guards nothing
		}
		e := execs[t.jobExec] // of several versions the strictest
		if e.limit == 0 || guards.Concurrency > 0 && guards.Concurrency < e.limit {
			e.limit = guards.Concurrency
		}
		if sla := time.Duration(min(max(guards.SLA, 0), longest.Milliseconds())) * time.Millisecond; sla > 0 && (e.sla == 0 || sla < e.sla) {
			e.sla = sla
		}
		execs[t.jobExec] = e
		batches[t.jobExec] = batches[t.jobExec] || t.form == "batch" || t.form == "tx_batch"
	}
	r.read += int64(len(list))
	lines, err := r.calledLately()
	if err != nil {
		return nil, err
	}
	for name, sum := range summed(lines) {
		if sum.calls == 0 {
			continue
		}
		e := execs[name]
		if name != reserved.TimerExec { // which waits for its next occurrence then
			e.again = min(float64(sum.moved)/float64(sum.calls), 1)
		}
		if !batches[name] { // each row has the time of the whole call there
			e.run, e.known = float64(sum.runMS)/float64(sum.calls), true
		}
		execs[name] = e
	}
	return execs, nil
}

// calledLately reads some lines of the books of the last day: all, or, where there are more, the latest of each part of it.
func (r *reader) calledLately() ([]called, error) {
	lines, err := r.called(1, r.now.Add(-lookBack), r.now, mostLines+1)
	if err != nil || len(lines) <= mostLines {
		return lines, err
	}
	part := min(max(r.tables.Grid.Resolution(), leastPart), lookBack)
	parts := int(lookBack / part)
	var looks []any
	for before, n := r.now, 0; n < parts; before, n = before.Add(-part), n+1 {
		looks = append(looks, before.Add(-part), before, mostLines/parts)
	}
	return r.called(parts, looks...)
}

func (r *reader) called(looks int, args ...any) ([]called, error) {
	return ask(r, "forecast/calls", looks, func(c *called) []any { return []any{&c.jobExec, &c.isLong, &c.calls, &c.moved, &c.runMS} }, args...)
}

// summed are lines by job_exec, without those of long runs.
func summed(lines []called) map[string]called {
	sums := make(map[string]called)
	for _, line := range lines {
		if line.isLong {
			continue
		}
		sum := sums[line.jobExec]
		sums[line.jobExec] = called{calls: sum.calls + line.calls, moved: sum.moved + line.moved, runMS: sum.runMS + line.runMS}
	}
	return sums
}

// crew are agents that serve the same slots.
type crew struct {
	assigned slots.Assignment
	calls    []float64 // of each agent, at a time
}

// crewsOf are the live agents that serve slots, and timers that run them.
func crewsOf(grid slots.Grid, agents []agent.Known) (crews []crew) {
	of := make(map[slots.Assignment]int)
	for _, a := range agents {
		assigned, err := slots.Parse(grid, a.Assignment)
		if a.State != agent.Live || a.Kind == agent.Sweep || a.Concurrency < 1 || err != nil || assigned.Grid().IsZero() {
			continue
		}
		at, there := of[assigned]
		if !there {
			at = len(crews)
			of[assigned], crews = at, append(crews, crew{assigned: assigned})
		}
		crews[at].calls = append(crews[at].calls, float64(a.Concurrency))
	}
	return crews
}

// ofSlot are the crews that serve a slot.
func ofSlot(crews []crew, slot time.Time) (some []serving) {
	for i, c := range crews {
		if c.assigned.Serves(slot) {
			some = append(some, serving{i, c.calls})
		}
	}
	return some
}

// ofDay are those of a day: of each the part that it has of some of its slots.
func ofDay(crews []crew, grid slots.Grid, from, before time.Time) (some []serving) {
	looked := someOf(grid, from, before)
	for i, c := range crews {
		served := 0
		for _, slot := range looked {
			if c.assigned.Serves(slot) {
				served++
			}
		}
		if served == 0 {
			continue
		}
		part := serving{crew: i}
		for _, calls := range c.calls {
			part.calls = append(part.calls, calls*float64(served)/float64(len(looked)))
		}
		some = append(some, part)
	}
	return some
}

// someOf are slots of some time of a day: all, or 120 that are spread over the day, five parts an hour. Agents may serve a minute of the hour, or every
// so many slots, so each hour looks at another minute of its parts, and each part at another slot of that.
func someOf(grid slots.Grid, from, before time.Time) (list []time.Time) {
	const most, anHour, minutes = 120, 5, 12
	first := grid.Ordinal(grid.Ceil(from))
	end := grid.Ordinal(grid.Ceil(before))
	if end-first <= most {
		for n := first; n < end; n++ {
			list = append(list, grid.At(n))
		}
		return list
	}
	first = grid.Ordinal(grid.Ceil(before.Add(-24 * time.Hour)))
	for i := range int64(most) {
		begin, next := first+i*(end-first)/most, first+(i+1)*(end-first)/most
		minute := i / anHour % minutes
		at := begin + minute*(next-begin)/minutes
		list = append(list, grid.At(at+i%max((next-begin)/minutes, 1)))
	}
	return list
}
