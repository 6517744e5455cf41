package forecast

import (
	"database/sql"
	"strings"
	"time"

	"prescient/prescient/internal/reserved"
	"prescient/prescient/internal/store"
	"prescient/prescient/schedule/timeline"
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

// schedules adds what schedules are to fire beyond what is pending for them to slots and days. It returns how many were read, and for how many
// these stand.
func (r *reader) schedules(slots, days []*unit) (n, all int64, err error) {
	list, err := store.Rows(r.ctx, r.db, "forecast/schedules", r.tables.Stmt.Get("forecast/schedules"), (*planned).columns, maxSchedules+1)
	if err != nil || len(list) == 0 {
		return 0, 0, err
	}
	r.read += int64(len(list))
	scale := 1.0
	n, all = int64(len(list)), int64(len(list))
	if len(list) > maxSchedules {
		list, n = list[:maxSchedules], maxSchedules
		estimate, known, err := r.explained("forecast/schedules_all")
		if err != nil {
			return 0, 0, err
		}
		if known {
			all = max(all, rounded(estimate))
		}
		scale = float64(all) / float64(n)
	}
	to := occurring{slots: slots, days: days, most: max(maxOccurrences/len(list), leastOccurrences), scale: scale}
	for _, p := range list {
		if r.ctx.Err() != nil {
			return n, all, r.ctx.Err()
		}
		if p.enabled && p.due.Valid {
			to.add(r, p)
		}
	}
	return n, all, nil
}

// occurring is where occurrences go.
type occurring struct {
	slots, days []*unit
	most        int     // occurrences of a schedule
	scale       float64 // how many schedules one stands for
}

// add adds those of a schedule: of each slot one call of its timer, and the run of one occurrence. What cannot be read fires nothing.
func (o occurring) add(r *reader, p planned) {
	line, err := timeline.ParseStored(strings.Split(p.crontabs, "\n"), p.zone, p.createdAt, nil)
	if err != nil {
		return
	}
	grid := r.tables.Grid
	later := timeline.Jitter(p.id, time.Duration(p.jitter)*time.Second).Truncate(time.Second)
	slot := grid.Ceil(p.due.Time)
	if slot.Before(r.now) {
		slot = grid.Floor(r.now)
	}
	first, end := slot, o.days[len(o.days)-1].before
	for n := 0; ; n++ {
		next, ok := line.Next(slot.Add(-later))
		if !ok {
			return
		}
		if slot = grid.Ceil(next.Add(later)); !slot.Before(end) {
			return
		}
		if n == o.most {
			break
		}
		o.put(o.slots, slot, p.jobExec, 1)
		o.put(o.days, slot, p.jobExec, 1)
	}
	every := slot.Sub(first) / time.Duration(o.most+1)
	for _, day := range o.days {
		if left := min(day.before.Sub(slot), day.before.Sub(day.from)); left > 0 {
			o.put([]*unit{day}, day.from, p.jobExec, float64(left)/float64(every))
		}
	}
}

// put adds so many occurrences to the unit that has a slot.
func (o occurring) put(units []*unit, slot time.Time, jobExec string, n float64) {
	for _, u := range units {
		if slot.Before(u.from) || !slot.Before(u.before) {
			continue
		}
		if u.occurrences == nil {
			u.occurrences = make(map[string]float64)
		}
		u.occurrences[reserved.TimerExec] += n * o.scale
		if jobExec != "" {
			u.occurrences[jobExec] += n * o.scale
		}
		return
	}
}
