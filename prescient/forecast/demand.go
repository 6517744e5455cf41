package forecast

import (
	"context"
	"slices"
	"time"

	"github.com/jmoiron/sqlx"

	"prescient/prescient"
	"prescient/prescient/internal/store"
	"prescient/slots"
)

// How much is read of what is pending. All in all a forecast reads 36,000 entries at most, whatever apps have written.
const (
	slotsAhead = 6 // hours
	mostSlots  = 120
	leastSlots = 2
	days       = 31
	firstRows  = 1_000 // of all: where there are no more, everything is exact
	slotRows   = 6_000 // of the slots that are told one by one
	mostOfOne  = 1_000 // of one of these
	dayProbes  = 4     // places of a day that is estimated at which some rows are read
	probeRows  = 20    // at each
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
	pool   *sqlx.DB
	tables *store.Tables
	now    time.Time
	read   int64 // entries
}

// unit is a slot or day, with the slots of it that are looked at.
type unit struct {
	start  time.Time
	from   time.Time // inclusive
	before time.Time
	demand
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

// samples are what is known of all that is pending.
type samples struct {
	first sample // every row before until, and some behind that
	until time.Time
	all   sample
}

// of is the sample that tells most of a slot or day, and whether it has all of that.
func (s samples) of(u *unit) (sample, bool) {
	if u.before.After(s.until) {
		return s.all, false
	}
	return s.first, true
}

// pending counts slots that follow one another, and days.
func (r *reader) pending(near, days []*unit) (s samples, err error) {
	s.until = days[len(days)-1].before
	rows, err := ask(r, "forecast/span", 1, slotted, near[0].from, s.until, firstRows+1)
	if err != nil {
		return s, err
	}
	whole := len(rows) <= firstRows
	if !whole {
		s.until = rows[firstRows].slot
	}
	s.first = allOf(rows)
	told := func(u *unit) bool {
		some, all := s.of(u)
		if all {
			u.counted = some.of(u.from, u.before)
		}
		return all
	}
	near, days = slices.DeleteFunc(slices.Clone(near), told), slices.DeleteFunc(slices.Clone(days), told)
	if whole {
		return s, nil
	}
	if s.all, err = r.sample(); err != nil {
		return s, err
	}
	if len(near) > 0 && near[0].from.Before(near[0].start) { // several slots, which are counted as a day is
		near, days = near[1:], append(days, near[0])
	}
	if err := r.slots(near); err != nil {
		return s, err
	}
	for _, u := range near { // of one that has much of all there is the sample has more rows
		if all := s.all.of(u.from, u.before); all.how == Sampled && all.all.n > 0 && all.all.sigma < u.all.sigma {
			u.counted = all
		}
	}
	return s, r.spans(days, s)
}

// slots counts slots by a few rows of each, and where there are more, by what is left of the rows.
func (r *reader) slots(units []*unit) error {
	few := slotRows / 2 / max(len(units), 1)
	large, used, err := r.someOf(units, few)
	if err != nil || len(large) == 0 {
		return err
	}
	if more := min((slotRows-used)/len(large), mostOfOne); more > few {
		_, _, err = r.someOf(large, more)
	}
	return err
}

// someOf counts slots by some of their rows. It returns those that have more, and how many rows were read.
func (r *reader) someOf(units []*unit, most int) (large []*unit, read int, err error) {
	if len(units) == 0 {
		return nil, 0, nil
	}
	looks := make([]any, 0, 2*len(units))
	for _, u := range units {
		looks = append(looks, u.start, most+1)
	}
	rows, err := ask(r, "forecast/slot", len(units), slotted, looks...)
	if err != nil {
		return nil, 0, err
	}
	of := make(map[int64][]keyed)
	for _, row := range rows {
		of[row.slot.Unix()] = append(of[row.slot.Unix()], row)
	}
	for _, u := range units {
		some := of[u.start.Unix()]
		if len(some) > most {
			large = append(large, u)
			u.counted = inSlot(some, most-most/8) // the others are for the entity at which that ends
			continue
		}
		u.counted = inSlot(some, most)
	}
	return large, len(rows), nil
}

// leastSeen is how many rows of a sample a day needs to be told by it where there is an estimate, and mostUnseen how many times as much as that says
// there may be by the estimate: where that has more, some entities have very many checks, and the sample has none of them.
const (
	leastSeen  = 10
	mostUnseen = 4
)

// spans counts days and the like by a sample, and where that says little by the optimiser's estimates.
func (r *reader) spans(units []*unit, s samples) error {
	if len(units) == 0 {
		return nil
	}
	estimates, err := r.estimates(units)
	if err != nil {
		return err
	}
	var poor []*unit
	for _, u := range units {
		u.counted = s.all.of(u.from, u.before)
		little := u.how == AtLeast || u.how == Sampled && s.all.seen(u.from, u.before) < leastSeen
		switch n, known := estimates[u]; {
		case known && (little || n > mostUnseen*(u.all.n+2*u.all.sigma)+leastSeen):
			poor = append(poor, u)
		case little && s.first.of(u.from, u.before).all.n > u.all.n:
			u.counted = s.first.of(u.from, u.before)
			u.how = AtLeast
		}
	}
	some, err := r.probe(poor)
	if err != nil {
		return err
	}
	for _, u := range poor {
		rows := some[u]
		if len(rows) < probeRows { // from its begin on there are no more
			u.counted = allOf(rows).of(u.from, u.before)
			continue
		}
		u.counted = divided(namesOf(rows), max(estimates[u], float64(len(rows)), float64(s.all.seen(u.from, u.before))), Estimated)
	}
	return nil
}

func namesOf(rows []keyed) (names []string) {
	for _, row := range rows {
		names = append(names, row.jobExec)
	}
	return names
}

// probe reads some rows at some places of each unit, the first of which is where it begins.
func (r *reader) probe(units []*unit) (map[*unit][]keyed, error) {
	if len(units) == 0 {
		return nil, nil
	}
	var looks []any
	for _, u := range units {
		for i := range dayProbes {
			at := u.from.Add(time.Duration(i) * u.before.Sub(u.from) / dayProbes)
			looks = append(looks, r.tables.Grid.Ceil(at), u.before, probeRows)
		}
	}
	rows, err := ask(r, "forecast/span", dayProbes*len(units), slotted, looks...)
	of, seen := make(map[*unit][]keyed), make(map[prescient.Key]bool)
	for _, row := range rows {
		for _, u := range units {
			if !seen[row.key] && !row.slot.Before(u.from) && row.slot.Before(u.before) {
				of[u] = append(of[u], row)
			}
		}
		seen[row.key] = true
	}
	return of, err
}

// estimates are the optimiser's, of units of which it gives one.
func (r *reader) estimates(units []*unit) (map[*unit]float64, error) {
	estimates := make(map[*unit]float64)
	for some := range slices.Chunk(units, store.AtOnce) {
		var looks []any
		for _, u := range some {
			looks = append(looks, u.from, u.before)
		}
		const statement = "forecast/estimate"
		all, err := store.Estimates(r.ctx, r.db, statement, explained(r.tables.Stmt.Get(statement), len(some)), looks...)
		if err != nil {
			return nil, err
		}
		for i, u := range some {
			if n, known := all[i+1]; known {
				estimates[u] = n
			}
		}
	}
	return estimates, nil
}
