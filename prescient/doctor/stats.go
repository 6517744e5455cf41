package doctor

import (
	"context"
	"fmt"
	"time"

	"prescient/prescient/internal/rollup"
	"prescient/slots"
)

const (
	// rollupBehind is how long after its end an hour may be summed up.
	rollupBehind = 3 * time.Hour
	// rollupSettled is how old an hour is that is compared no more: what was late to commit is in it.
	rollupSettled = 26 * time.Hour
	// rollupStride picks another hour to compare with each hour that passes; it is a prime.
	rollupStride = 7919
)

// examineStats looks how far history is summed up, and compares three hours with it.
func (l *look) examineStats(ctx context.Context) {
	latest, _, err := rollup.Latest(ctx, l.db, &l.tables)
	if l.err = err; err != nil {
		return
	}
	from := time.Time{}
	if !latest.IsZero() {
		from = latest.Add(time.Hour)
	}
	first, err := rollup.FirstEnd(ctx, l.db, &l.tables, from)
	if l.err = err; err != nil {
		return
	}
	if !first.IsZero() && l.now.Sub(first) > rollupBehind+time.Hour {
		l.say(warn("stats", fmt.Sprintf("What ended since %s is not summed up yet: stats is %s behind.", slots.Stamp(first), l.now.Sub(first).Truncate(time.Minute)),
			"`work`, `run` and `sweep` sum up history, a second at a time: see their log. `stats verify` says which hours are lacking."))
	}
	var differ []rollup.Difference
	for _, hour := range l.hoursToCompare() {
		if !hour.Before(latest) {
			continue
		}
		c, err := rollup.Compare(ctx, l.db, &l.tables, hour, hour.Add(time.Hour))
		if l.err = err; err != nil {
			return
		}
		differ = append(differ, c.Differ...)
	}
	for _, d := range differ {
		l.say(warn("stats", "The sums of an hour differ from history, "+d.String()+".", "See `stats verify`, then `stats rebuild`."))
	}
	l.orFine(ctx, "stats", "history is summed up, and the three hours that were compared agree")
}

// hoursToCompare are the latest hour that is compared no more, the one of a week before, and one of the last 90 days that is another each hour.
func (l *look) hoursToCompare() []time.Time {
	latest := rollup.HourOf(l.now.Add(-rollupSettled))
	hours := int64(rollup.HoursKept / time.Hour)
	return []time.Time{latest, latest.Add(-7 * 24 * time.Hour), latest.Add(-time.Duration(latest.Unix()/3600*rollupStride%hours) * time.Hour)}
}
