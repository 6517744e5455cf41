package rollup

import (
	"context"
	"fmt"
	"slices"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/store"
)

// Hour is one that was summed up.
type Hour struct {
	Start time.Time `db:"start" json:"start"`
	Ends  uint64    `db:"ends" json:"ends"`
	// Lines is how many ends its lines have: as many, until they are pruned.
	Lines uint64 `db:"line_ends" json:"lines"`
}

// mostHours bounds how many hours are read at a time: 40 days.
const mostHours = 1000

// Hours are those that were summed up of a span, the first of them where they are many.
func Hours(ctx context.Context, db prescient.DB, tables *store.Tables, from, before time.Time) ([]Hour, error) {
	ctx, cancel := context.WithTimeout(ctx, mostTime)
	defer cancel()
	return store.Rows(ctx, db, "reading which hours are summed up", tables.Stmt.Get("rollup/hours"), func(h *Hour) []any { return []any{&h.Start, &h.Ends, &h.Lines} }, from, before, mostHours)
}

// Difference is an hour of which the rollup has another number of ends than history, or its lines have another.
type Difference struct {
	Hour    time.Time `json:"hour"`
	Summed  uint64    `json:"summed"`
	History uint64    `json:"history"`
	Lines   uint64    `json:"lines"`
	// Outside says that it stays so: the lines of hours of that day are gone, and so is a part of the history that they were made of.
	Outside bool `json:"outside,omitempty"`
}

// grew says whether an hour has ends, or a line, that are to be summed.
func (d Difference) grew() bool {
	return d.History > d.Summed || d.History == d.Summed && d.Lines != d.Summed
}

// String is the difference for people.
func (d Difference) String() string {
	if d.History == d.Summed {
		return fmt.Sprintf("%s: %d ends were summed up, its lines have %d", d.Hour.UTC().Format("2006-01-02 15:04"), d.Summed, d.Lines)
	}
	text := fmt.Sprintf("%s: %d ends were summed up, history has %d", d.Hour.UTC().Format("2006-01-02 15:04"), d.Summed, d.History)
	if d.Outside {
		text += "; they came too late to be summed up: other history of that day was pruned"
	}
	return text
}

// Comparison is how the rollup compares with history.
type Comparison struct {
	// Hours is how many hours were compared, Pruned how many have no history any more.
	Hours  int          `json:"hours"`
	Pruned int          `json:"pruned"`
	Differ []Difference `json:"differ"`
	// Oldest is the hour in which history begins; the end of the span where there is none.
	Oldest time.Time          `json:"-"`
	gone   []time.Time        // hours that were pruned, or a part of them
	kept   time.Time          // from when on lines of hours are there
	whole  map[time.Time]bool // days before that, of which history is there as they were summed
}

// Again are the hours to sum again, at a time: those that grew, and those of which lines are lacking.
func (c *Comparison) Again(now time.Time) []time.Time {
	var grown []time.Time
	for _, d := range c.Differ {
		if d.grew() && !d.Outside {
			grown = append(grown, d.Hour)
		}
	}
	return Again(grown, now)
}

// Outside is how many hours have ends that are in no sum.
func (c *Comparison) Outside() (n int) {
	for _, d := range c.Differ {
		if d.Outside {
			n++
		}
	}
	return n
}

// canBeSummed says whether the lines of an hour can be written anew: those of its day's other hours are there, or the history of all that the day was
// made of.
func (c *Comparison) canBeSummed(ctx context.Context, db prescient.DB, tables *store.Tables, hour time.Time) (bool, error) {
	of := dayOf(hour)
	if !of.Before(c.kept) {
		return true, nil
	}
	if whole, known := c.whole[of]; known {
		return whole, nil
	}
	whole, err := isWhole(ctx, db, tables, of)
	c.whole[of] = whole
	return whole, err
}

// isWhole says whether history has all ends of the hours that a day was made of.
func isWhole(ctx context.Context, db prescient.DB, tables *store.Tables, of time.Time) (bool, error) {
	hours, err := Hours(ctx, db, tables, of, of.Add(day))
	if err != nil {
		return false, err
	}
	var made, known uint64
	if err := store.QueryRow(ctx, db, []any{&made}, tables.Stmt.Get("rollup/day_ends"), of); err != nil {
		return false, fmt.Errorf("reading the lines of a day: %w", err)
	}
	for _, h := range hours {
		n, err := Count(ctx, db, tables, h.Start)
		if err != nil || n < h.Ends {
			return false, err
		}
		known += h.Ends
	}
	return made <= known, nil
}

// Compare compares the hours of a span, which are over, and their lines, by the number of their ends. An hour with ends that was never summed up differs. One of which
// history has none was pruned, and of the hour in which history begins a part may have been.
func Compare(ctx context.Context, db prescient.DB, tables *store.Tables, from, before time.Time) (c Comparison, err error) {
	first, err := FirstEnd(ctx, db, tables, time.Time{})
	if err != nil {
		return c, err
	}
	_, now, err := Latest(ctx, db, tables)
	if err != nil {
		return c, err
	}
	c.kept, c.whole = KeptFrom(now), make(map[time.Time]bool)
	if from.Before(prescient.EarliestDue) {
		from = prescient.EarliestDue
	}
	if c.Oldest = HourOf(first); first.IsZero() {
		c.Oldest = before
	}
	for at := HourOf(from); at.Before(before) && err == nil; {
		at, err = c.some(ctx, db, tables, at, before)
	}
	for i := range c.Differ {
		if d := &c.Differ[i]; err == nil && d.grew() {
			var can bool
			can, err = c.canBeSummed(ctx, db, tables, d.Hour)
			d.Outside = !can
		}
	}
	return c, err
}

// some compares as many hours as are read at a time, and those between them, of which none was summed up. It says with which to go on.
func (c *Comparison) some(ctx context.Context, db prescient.DB, tables *store.Tables, at, before time.Time) (time.Time, error) {
	hours, err := Hours(ctx, db, tables, at, before)
	if err != nil {
		return at, err
	}
	for _, h := range hours {
		if err := c.missing(ctx, db, tables, at, h.Start); err != nil {
			return at, err
		}
		if err := c.one(ctx, db, tables, h); err != nil {
			return at, err
		}
		at = h.Start.Add(time.Hour)
	}
	if len(hours) == mostHours {
		return at, nil
	}
	return before, c.missing(ctx, db, tables, at, before)
}

func (c *Comparison) one(ctx context.Context, db prescient.DB, tables *store.Tables, h Hour) error {
	n, err := Count(ctx, db, tables, h.Start)
	if err != nil {
		return err
	}
	switch {
	case n < h.Ends && (n == 0 || !h.Start.After(c.Oldest)):
		c.gone = append(c.gone, h.Start)
		c.Pruned++
		return nil
	case n != h.Ends, h.Lines != h.Ends && !h.Start.Before(c.kept):
		c.Differ = append(c.Differ, Difference{Hour: h.Start, Summed: h.Ends, History: n, Lines: h.Lines})
	}
	c.Hours++
	return nil
}

// missing looks for hours of a span that have ends, none of which was summed up.
func (c *Comparison) missing(ctx context.Context, db prescient.DB, tables *store.Tables, from, before time.Time) error {
	for at := from; at.Before(before); {
		first, err := FirstEnd(ctx, db, tables, at)
		if err != nil || first.IsZero() || !first.Before(before) {
			return err
		}
		hour := HourOf(first)
		n, err := Count(ctx, db, tables, hour)
		if err != nil {
			return err
		}
		c.Hours++
		c.Differ = append(c.Differ, Difference{Hour: hour, History: n})
		at = hour.Add(time.Hour)
	}
	return nil
}

// Rebuildable are the hours of a span that are to be summed again, whether they differ or not, and how many are left alone, since history is gone
// of them or of a part of them.
func Rebuildable(ctx context.Context, db prescient.DB, tables *store.Tables, from, before time.Time) (hours []time.Time, left int, err error) {
	c, err := Compare(ctx, db, tables, from, before)
	if err != nil {
		return nil, 0, err
	}
	_, now, err := Latest(ctx, db, tables)
	if err != nil {
		return nil, 0, err
	}
	for at := HourOf(from); at.Before(before); {
		some, err := Hours(ctx, db, tables, at, before)
		if err != nil {
			return nil, 0, err
		}
		for _, h := range some {
			hours = append(hours, h.Start)
		}
		if len(some) < mostHours {
			break
		}
		at = some[len(some)-1].Start.Add(time.Hour)
	}
	left = c.Pruned
	for _, d := range c.Differ {
		if d.History < d.Summed {
			c.gone = append(c.gone, d.Hour)
			left++
			continue
		}
		hours = append(hours, d.Hour)
	}
	slices.SortFunc(hours, time.Time.Compare)
	hours = slices.CompactFunc(hours, time.Time.Equal)
	hours = slices.DeleteFunc(hours, func(h time.Time) bool {
		return h.Before(c.Oldest) || slices.ContainsFunc(c.gone, h.Equal)
	})
	var all []time.Time
	for _, h := range hours {
		switch can, err := c.canBeSummed(ctx, db, tables, h); {
		case err != nil:
			return nil, 0, err
		case can:
			all = append(all, h)
		default:
			left++
		}
	}
	return Again(all, now), left, nil
}
