package doctor

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// How much examineSchedules looks at, and how many it names of what it finds.
const (
	timerProbe     = 5_000
	scheduleProbe  = 5_000
	namedSchedules = 5
)

// faulty is a schedule that something is wrong with.
type faulty struct {
	ID     string `db:"id"`
	Reason string `db:"reason"`
}

// examineSchedules looks for schedules that do not fire, though nobody paused them.
func (d *doctor) examineSchedules(ctx context.Context) ([]Finding, error) {
	var disabled, failing []faulty
	until := d.now.Add(2 * d.tables.Grid.Resolution())
	for _, look := range []struct {
		into      *[]faulty
		statement string
		args      []any
	}{
		{&disabled, "operate/schedules", []any{namedSchedules + 1}},
		{&failing, "operate/timers", []any{until, timerProbe, namedSchedules + 1}},
	} {
		if err := d.db.SelectContext(ctx, look.into, d.tables.Stmt.Get(look.statement), look.args...); err != nil {
			return nil, fmt.Errorf("%s: %w", look.statement, err)
		}
	}
	some, err := d.readPlanned(ctx)
	if err != nil {
		return nil, err
	}
	var timerless, paused []faulty
	for _, one := range some {
		switch {
		case one.Enabled && !one.DueAt.Valid:
			_, no := one.parse()
			timerless = append(timerless, faulty{one.ID, reasonOf(no)})
		case !one.Enabled && !slices.ContainsFunc(disabled, func(d faulty) bool { return d.ID == one.ID }):
			paused = append(paused, faulty{ID: one.ID})
		case one.Errors > 0 && !slices.ContainsFunc(failing, func(f faulty) bool { return f.ID == one.ID }):
			failing = append(failing, faulty{one.ID, one.LastError})
		}
	}
	var found []Finding
	if len(disabled) > 0 {
		found = append(found, bad("schedules", "Schedules that cannot fire are disabled: "+named(disabled)+".",
			"Correct each with `schedule update ID`, or delete it."))
	}
	if len(failing) > 0 {
		found = append(found, bad("schedules.timers", "The timers of schedules fail, and run again in each slot: "+named(failing)+".",
			"Mend what the error names. Nothing that is due is lost."))
	}
	if len(timerless) > 0 {
		found = append(found, bad("schedules.timerless", "The timer rows of enabled schedules are missing, so that these schedules never fire: "+named(timerless)+".",
			"Run `schedule update ID` for each, with a good crontab where an error is named here."))
	}
	parts, err := d.parts(ctx, reach{"the first %s schedules", scheduleProbe, "schedule", "PRIMARY", "", nil},
		reach{"the first %s rows that are due", timerProbe, "future_job", "PRIMARY", "WHERE next_check_at <= ?", []any{until}})
	if err != nil {
		return nil, err
	}
	fires := "no schedule is disabled because it cannot fire; each that is enabled has a timer that does not fail and whose time is right by this machine's time zones"
	if len(paused) > 0 {
		fires += fmt.Sprintf("; %d are paused: %s", len(paused), named(paused))
	}
	return orFine(append(found, zoneFindings(some)...), "schedules", fires, parts...), nil
}

// reasonOf is the text of an error; empty for none.
func reasonOf(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// named names a few schedules.
func named(some []faulty) string {
	var list []string
	for i, one := range some {
		if i == namedSchedules {
			list = append(list, "and more")
			break
		}
		text := fmt.Sprintf("%q", one.ID)
		if one.Reason != "" {
			text += fmt.Sprintf(" (%.200s)", one.Reason)
		}
		list = append(list, text)
	}
	return strings.Join(list, ", ")
}
