package forecast

import (
	"cmp"
	"math"
	"slices"
	"time"

	"prescient/slots"
)

const (
	// peaksOfDay are the slots of a day that are looked at: one has most calls, the others take longest.
	peaksOfDay = 4
	peakRows   = 32 // of each
)

// capacity is who runs what.
type capacity struct {
	grid  slots.Grid
	crews []crew
	execs map[string]exec
}

// alone says when a slot ends that nothing comes before.
func (c capacity) alone(u *unit, calls map[string]float64) Fit {
	l := load{start: u.start, before: u.before, calls: calls, crews: ofSlot(c.crews, u.start), prompt: true}
	return l.fit(make([]time.Time, len(c.crews)), c.execs)
}

// peaks are slots of days behind some time whose calls, if all came in one slot, would be too many for it: of the busiest those that end too late,
// and the one that takes longest.
func (r *reader) peaks(days []*unit, after time.Time, s samples, plan planning, by capacity) ([]Part, error) {
	ofDays := make([][]*unit, len(days))
	var unread []*unit
	for i, day := range days {
		from := by.grid.Ceil(slots.Later(day.from, after))
		if !from.Before(day.before) {
			continue
		}
		whole := load{start: from, before: by.grid.Next(from), calls: day.calls(), crews: ofDay(by.crews, by.grid, from, day.before), prompt: true}
		if !whole.fit(make([]time.Time, len(by.crews)), by.execs).Verdict.Late() {
			continue
		}
		some, all := s.of(day)
		ofDays[i] = busiest(from, day.before, some, plan, by)
		if !all {
			unread = append(unread, ofDays[i]...)
		}
	}
	if _, _, err := r.someOf(unread, peakRows); err != nil {
		return nil, err
	}
	var parts []Part
	for _, units := range ofDays {
		plan.put(by.grid, units)
		parts = append(parts, worst(units, by)...)
	}
	return parts, nil
}

// busiest are the slots of some time that have most to do by a sample.
func busiest(from, before time.Time, s sample, plan planning, by capacity) (units []*unit) {
	all := make(map[int64]map[string]count)
	add := func(slot int64, name string, c count) {
		if all[slot] == nil {
			all[slot] = make(map[string]count)
		}
		all[slot][name] = all[slot][name].plus(c)
	}
	s.each(from, before, func(row keyed, n float64) {
		add(by.grid.Ordinal(row.slot), row.jobExec, count{n, n * math.Sqrt(1-1/n)})
	})
	plan.each(by.grid.Ordinal(from), by.grid.Ordinal(by.grid.Ceil(before)), func(slot int64, name string, n float64) { add(slot, name, count{n: n}) })
	type busy struct {
		slot               int64
		over, takes, calls float64
	}
	var list []busy
	for slot, of := range all {
		b, likely := busy{slot: slot}, make(map[string]float64)
		for name, c := range of {
			b.calls += c.n
			likely[name] = max(c.n-c.sigma, 0) // one row of a sample says little
		}
		start := by.grid.At(slot)
		f := by.alone(&unit{start: start, before: by.grid.Next(start)}, likely)
		b.over, b.takes = float64(f.Over), f.takes()
		list = append(list, b)
	}
	fullest := func(a, b busy) int { return cmp.Or(cmp.Compare(b.calls, a.calls), cmp.Compare(a.slot, b.slot)) }
	slices.SortFunc(list, func(a, b busy) int {
		return cmp.Or(cmp.Compare(b.over, a.over), cmp.Compare(b.takes, a.takes), fullest(a, b))
	})
	if n := peaksOfDay - 1; len(list) > n {
		slices.SortFunc(list[n:], fullest)
		list = list[:peaksOfDay]
	}
	for _, b := range list {
		start := by.grid.At(b.slot)
		u := &unit{start: start, from: start, before: by.grid.Next(start)}
		u.counted = s.of(u.from, u.before)
		units = append(units, u)
	}
	return units
}

// takes is for how long it runs, in milliseconds.
func (f Fit) takes() float64 {
	if f.EndsAt == nil {
		return 0
	}
	return float64(f.EndsAt.Sub(*f.BeginsAt).Milliseconds())
}

// worst tells of some slots those that end too late, and the one that takes longest.
func worst(units []*unit, by capacity) (parts []Part) {
	fits := make([]Fit, len(units))
	for i, u := range units {
		fits[i] = by.alone(u, u.calls())
	}
	all := tell(units, fits, by.execs)
	slices.SortStableFunc(all, func(a, b Part) int {
		return cmp.Or(cmp.Compare(b.Over, a.Over), cmp.Compare(b.takes(), a.takes()), cmp.Compare(b.Due, a.Due))
	})
	for i, p := range all {
		if p.Due+p.Occurrences > 0 && (i == 0 || p.Verdict.Late()) {
			parts = append(parts, p)
		}
	}
	return parts
}
