package forecast

import (
	"context"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/store"
	"prescient/slots"
)

// How much is read of what is pending. All in all a forecast reads 20,000 rows at most, whatever apps have written.
const (
	slotsAhead = 6 // hours
	mostSlots  = 120
	leastSlots = 2
	slotRows   = 6_000 // of the slots that are told one by one
	mostOfOne  = 1_000 // of one of these
	days       = 31
	dayRows    = 100 // of a day
	dayProbes  = 4   // places of a day with more rows at which some are read
	probeRows  = 20  // at each
	peakRows   = 100 // of the busiest slot of a day
	estimates  = 500 // that the optimiser is asked for
)

// waitsFor is for how long before now what is due is looked for, or so many slots. Of what waits for longer the doctor tells (overdue).
const (
	waitsFor   = 2 * time.Hour
	waitsSlots = 24
)

// reader reads for a forecast.
type reader struct {
	ctx    context.Context
	db     prescient.DB
	tables *store.Tables
	now    time.Time
	read   int64 // rows
	asked  int   // estimates
}

// unit is a slot or day, with the slots of it that are looked at.
type unit struct {
	start  time.Time
	from   time.Time // inclusive
	before time.Time
	part
}

// slotsOf are the slots that are told one by one, the one that is now first.
func slotsOf(grid slots.Grid, now time.Time) (units []*unit) {
	n := min(max(int(slotsAhead*time.Hour/grid.Resolution()), leastSlots), mostSlots)
	slot := grid.Floor(now)
	for range n + 1 {
		units = append(units, &unit{start: slot, from: slot, before: grid.Next(slot)})
		slot = grid.Next(slot)
	}
	back := slots.Earlier(now.Add(-waitsFor), grid.Add(units[0].start, -waitsSlots))
	units[0].from = grid.Ceil(back)
	return units
}

// begin has the slot that is now begin at the first that is overdue: what is read of it then crosses no entries before that which were deleted
// and not purged yet, time and again.
func (r *reader) begin(now *unit) error {
	first, err := store.Rows(r.ctx, r.db, "sweep/overdue", r.tables.Stmt.Get("sweep/overdue"), func(slot *time.Time) []any { return []any{slot} }, now.from, now.start, 1)
	if err != nil {
		return err
	}
	r.read += int64(len(first))
	now.from = now.start
	if len(first) > 0 {
		now.from = first[0]
	}
	return nil
}

// daysOf are the days that are told, from the next slot on.
func daysOf(grid slots.Grid, now time.Time) (units []*unit) {
	from := grid.Next(now)
	for range days {
		start := from.Truncate(24 * time.Hour)
		next := start.Add(24 * time.Hour)
		units = append(units, &unit{start: start, from: from, before: next})
		from = next
	}
	return units
}

// slots counts the slots that are told one by one: a few rows of each, and where there are more, what is left of the rows.
func (r *reader) slots(units []*unit) error {
	var large []*unit
	begun := r.read
	err := r.walk(units, slotRows/2/len(units), func(u *unit, rows []keyed) (err error) {
		if u == units[0] { // several slots, of which the rows are no share of the keys
			u.counted, err = r.estimated(u.from, u.before, rows)
			return err
		}
		u.counted = inSlot(rows, len(rows)-1)
		large = append(large, u)
		return nil
	})
	if err != nil || len(large) == 0 {
		return err
	}
	most := min((slotRows-int(r.read-begun))/len(large), mostOfOne)
	for _, u := range large {
		if u.counted, err = r.slot(u.start, most); err != nil {
			return err
		}
	}
	return nil
}

// days counts days.
func (r *reader) days(units []*unit) error {
	return r.walk(units, dayRows, func(u *unit, rows []keyed) (err error) {
		u.counted, err = r.estimated(u.from, u.before, rows)
		return err
	})
}

// walk counts units that follow one another, so many rows at a time. One that has more is large, which is told with its first ones.
func (r *reader) walk(units []*unit, most int, large func(u *unit, rows []keyed) error) error {
	for _, u := range units {
		u.counted = divided(nil, 0, Exact)
	}
	end := units[len(units)-1].before
	for i := 0; i < len(units); {
		rows, err := r.first(units[i].from, end, most+1)
		if err != nil {
			return err
		}
		all := len(rows) <= most
		begun := 0
		for begun < len(rows) {
			for !rows[begun].slot.Before(units[i].before) {
				i++
			}
			until := begun
			for until < len(rows) && rows[until].slot.Before(units[i].before) {
				until++
			}
			if until == len(rows) && !all { // there may be more of it
				break
			}
			units[i].counted = inSlot(rows[begun:until], until-begun)
			begun = until
		}
		switch {
		case all:
			return nil
		case begun == 0:
			if err := large(units[i], rows); err != nil {
				return err
			}
			i++
		}
	}
	return nil
}

// slot counts a slot by some of its rows at most.
func (r *reader) slot(slot time.Time, most int) (counted, error) {
	rows, err := store.Rows(r.ctx, r.db, "forecast/slot", r.tables.Stmt.Get("forecast/slot"), func(row *keyed) []any { return []any{store.Key(&row.key), &row.jobExec} }, slot, most+1)
	r.read += int64(len(rows))
	if len(rows) > most {
		most -= most / 8 // the others are for the entity at which that ends
	}
	return inSlot(rows, most), err
}

// first are the first rows of some time.
func (r *reader) first(from, before time.Time, most int) ([]keyed, error) {
	rows, err := store.Rows(r.ctx, r.db, "forecast/span", r.tables.Stmt.Get("forecast/span"), func(row *keyed) []any { return []any{&row.slot, store.Key(&row.key), &row.jobExec} }, from, before, most)
	r.read += int64(len(rows))
	return rows, err
}

// estimated counts some time that has more rows than the first ones by the optimiser's estimate.
func (r *reader) estimated(from, before time.Time, rows []keyed) (counted, error) {
	n, known, err := r.estimate(from, before)
	if err != nil {
		return counted{}, err
	}
	var sample []keyed
	for i := range dayProbes {
		at := r.tables.Grid.Ceil(from.Add(time.Duration(2*i+1) * before.Sub(from) / (2 * dayProbes)))
		some, err := r.first(at, before, probeRows)
		if err != nil {
			return counted{}, err
		}
		sample = append(sample, some...)
	}
	if len(sample) == 0 { // all of it is at the beginning
		sample = rows
	}
	names := make([]string, len(sample))
	for i, row := range sample {
		names[i] = row.jobExec
	}
	if seen := float64(len(rows)); !known || n < seen {
		return divided(names, seen, AtLeast), nil
	}
	return divided(names, n, Estimated), nil
}

// estimate is the optimiser's of how many rows some time has; false where it gives none.
func (r *reader) estimate(from, before time.Time) (float64, bool, error) {
	r.asked++
	return r.explained("forecast/estimate", from, before)
}

// explained is how many rows a statement reads by its plan.
func (r *reader) explained(statement string, args ...any) (n float64, known bool, err error) {
	return store.Estimate(r.ctx, r.db, statement, r.tables.Stmt.Get(statement), args...)
}

// peak finds the busiest slot of some time by estimates: it goes to the half that has more, again and again. That is false where the estimates
// are used up.
func (r *reader) peak(from, before time.Time) (*unit, bool, error) {
	grid := r.tables.Grid
	low, high := grid.Ordinal(grid.Ceil(from)), grid.Ordinal(grid.Ceil(before))
	for high-low > 1 {
		if r.asked+2 > estimates {
			return nil, false, nil
		}
		middle := low + (high-low)/2
		first, known, err := r.estimate(grid.At(low), grid.At(middle))
		if err != nil || !known {
			return nil, false, err
		}
		second, _, err := r.estimate(grid.At(middle), grid.At(high))
		if err != nil {
			return nil, false, err
		}
		if first >= second {
			high = middle
		} else {
			low = middle
		}
	}
	u := &unit{start: grid.At(low), from: grid.At(low), before: grid.At(low + 1)}
	var err error
	u.counted, err = r.slot(u.start, peakRows)
	return u, err == nil, err
}
