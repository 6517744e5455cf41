package forecast

import (
	"database/sql"
	"strings"
	"time"

	"prescient/prescient/internal/reserved"
	"prescient/prescient/internal/store"
	"prescient/prescient/schedule/timeline"
	"prescient/slots"
)

const (
	// maxSchedules are those whose crontabs are read. Where there are more, these stand for all.
	maxSchedules = 500
	// maxOccurrences are those that are looked at, of all schedules together; a schedule has its share, or leastOccurrences. Those beyond
	// come at the rate of the ones that were looked at.
	maxOccurrences   = 60_000
	leastOccurrences = 120
)

// planned is a schedule, and what its timer waits for.
type planned struct {
	id, crontabs, zone, jobExec string
	jitter                      int64 // in seconds
	createdAt                   time.Time
	enabled                     bool
	due                         sql.NullTime
}

func (p *planned) columns() []any {
	return []any{&p.id, &p.crontabs, &p.zone, &p.jitter, &p.jobExec, &p.createdAt, &p.enabled, &p.due}
}

// planning is what schedules are to fire beyond what is pending for them.
type planning struct {
	read, all int64                        // how many schedules were read, and for how many these stand
	slots     map[int64]map[string]float64 // by the ordinal of the slot
	rates     []rate
}

// rate is how often a schedule fires behind the occurrences that were looked at.
type rate struct {
	jobExec    string
	from       time.Time
	every      time.Duration
	occurrence float64
}

// schedules tells what schedules are to fire before a time.
func (r *reader) schedules(end time.Time) (planning, error) {
	p := planning{slots: make(map[int64]map[string]float64)}
	list, err := store.Rows(r.ctx, r.db, "forecast/schedules", r.tables.Stmt.Get("forecast/schedules"), (*planned).columns, maxSchedules+1)
	if err != nil || len(list) == 0 {
		return p, err
	}
	r.read += int64(len(list))
	p.read, p.all = int64(len(list)), int64(len(list))
	if len(list) > maxSchedules {
		list, p.read = list[:maxSchedules], maxSchedules
		const statement = "forecast/schedules_all"
		estimate, known, err := store.Estimate(r.ctx, r.db, statement, r.tables.Stmt.Get(statement))
		if err != nil {
			return p, err
		}
		if known {
			p.all = max(p.all, rounded(estimate))
		}
	}
	most := max(maxOccurrences/len(list), leastOccurrences)
	for _, schedule := range list {
		if r.ctx.Err() != nil {
			return p, r.ctx.Err()
		}
		if schedule.enabled && schedule.due.Valid {
			p.add(r, schedule, end, most)
		}
	}
	return p, nil
}

// add adds those of a schedule: of each slot one call of its timer, and the run of one occurrence. What cannot be read fires nothing.
func (p *planning) add(r *reader, of planned, end time.Time, most int) {
	line, err := timeline.ParseStored(strings.Split(of.crontabs, "\n"), of.zone, of.createdAt, nil)
	if err != nil {
		return
	}
	grid := r.tables.Grid
	stands := float64(p.all) / float64(p.read)
	later := timeline.Jitter(of.id, time.Duration(of.jitter)*time.Second).Truncate(time.Second)
	slot := grid.Ceil(of.due.Time)
	if slot.Before(r.now) {
		slot = grid.Floor(r.now)
	}
	first := slot
	for n := 0; ; n++ {
		next, ok := line.Next(slot.Add(-later))
		if !ok {
			return
		}
		if slot = grid.Ceil(next.Add(later)); !slot.Before(end) {
			return
		}
		if n == most {
			break
		}
		at := p.slots[grid.Ordinal(slot)]
		if at == nil {
			at = make(map[string]float64)
			p.slots[grid.Ordinal(slot)] = at
		}
		fires(at, of.jobExec, stands)
	}
	p.rates = append(p.rates, rate{of.jobExec, slot, slot.Sub(first) / time.Duration(most+1), stands})
}

// fires adds some occurrences.
func fires(to map[string]float64, jobExec string, n float64) {
	to[reserved.TimerExec] += n
	if jobExec != "" {
		to[jobExec] += n
	}
}

// put gives slots and days the occurrences that they have.
func (p *planning) put(grid slots.Grid, units []*unit) {
	for _, u := range units {
		from, before := grid.Ordinal(grid.Ceil(u.from)), grid.Ordinal(grid.Ceil(u.before))
		u.occurrences = make(map[string]float64)
		p.each(from, before, func(_ int64, name string, n float64) { u.occurrences[name] += n })
		for _, rate := range p.rates {
			if left := min(u.before.Sub(rate.from), u.before.Sub(u.from)); left > 0 {
				fires(u.occurrences, rate.jobExec, float64(left)/float64(rate.every)*rate.occurrence)
			}
		}
	}
}

// each calls do with the occurrences of each slot of some.
func (p *planning) each(from, before int64, do func(slot int64, name string, n float64)) {
	if before-from == 1 {
		for name, n := range p.slots[from] {
			do(from, name, n)
		}
		return
	}
	for slot, of := range p.slots {
		if slot < from || slot >= before {
			continue
		}
		for name, n := range of {
			do(slot, name, n)
		}
	}
}
