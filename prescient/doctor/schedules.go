package doctor

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"time"

	"prescient/prescient/schedule/timeline"
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
func (l *look) examineSchedules(ctx context.Context) {
	var disabled, failing []faulty
	until := l.now.Add(2 * l.tables.Grid.Resolution())
	l.rows(ctx, &disabled, "operate/schedules", namedSchedules+1)
	l.rows(ctx, &failing, "operate/timers", until, timerProbe, namedSchedules+1)
	var some []planned
	l.rows(ctx, &some, "operate/planned", scheduleProbe)
	var timerless, paused, elsewhere, refused []faulty
	for _, one := range some {
		if reason := one.elsewhere(); reason != "" && one.Errors == 0 { // one that fails says why itself
			elsewhere = append(elsewhere, faulty{one.ID, reason})
		}
		if reason := one.refused(); reason != "" {
			refused = append(refused, faulty{one.ID, reason})
		}
		switch {
		case one.Enabled && !one.DueAt.Valid:
			_, no := one.parse()
			timerless = append(timerless, faulty{one.ID, reasonOf(no)})
		case !one.Enabled && !slices.ContainsFunc(disabled, one.is):
			paused = append(paused, faulty{ID: one.ID})
		case one.Errors > 0 && !slices.ContainsFunc(failing, one.is):
			failing = append(failing, faulty{one.ID, one.LastError})
		}
	}
	l.sayOf(disabled, bad("schedules", "Schedules that cannot fire are disabled", "Correct each with `schedule update ID`, or delete it."))
	l.sayOf(failing, bad("schedules.timers", "The timers of schedules fail, and run again in each slot", "Mend what the error names. Nothing that is due is lost."))
	l.sayOf(timerless, bad("schedules.timerless", "The timer rows of enabled schedules are missing, so that these schedules never fire",
		"Run `schedule update ID` for each. Where an error is named here, give what it wants: another crontab, or `--zone` with another time zone."))
	l.sayOf(elsewhere, warn("schedules.zones", "Timers wait for times that are no occurrence by the time zones of this machine",
		"Give all machines the same tzdata and restart the programs on them. Then `schedule update ID` plans each schedule anew. Whichever machine is right, each local time fires once."))
	l.sayOf(refused, warn("schedules.crontabs", "This version refuses the crontabs of schedules, which fire as before",
		"Give each a crontab that is allowed: `schedule update ID CRONTAB`."))
	fires := "no schedule is disabled because it cannot fire; each that is enabled has a timer that does not fail and whose time is right by this machine's time zones"
	if len(paused) > 0 {
		fires += "; " + counted(len(paused), "is paused: ", "are paused: ") + named(paused)
	}
	l.orFine(ctx, "schedules", fires, reach{"the first %s schedules", scheduleProbe, "schedule", "PRIMARY", "", nil},
		reach{"the first %s rows that are due", timerProbe, "future_job", "PRIMARY", "WHERE next_check_at <= ?", []any{until}})
}

// examineRules looks for rules whose pending checks have not followed a change for long, while nobody moves them.
func (l *look) examineRules(ctx context.Context) {
	var left []faulty
	l.rows(ctx, &left, "operate/rule_walks", l.now.Add(-15*time.Minute), namedSchedules+1)
	l.sayOf(left, warn("rules", "Pending checks are not yet as rules want them that were changed, and nobody moves or ends them",
		"Start `serve`, which does, or run `rule move NAME`. Else a worker does when their old slot comes: those that are to come earlier are late."))
	l.orFine(ctx, "rules", "what is pending follows the rules, or somebody moves it")
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

// planned is a schedule, and what its timer waits for.
type planned struct {
	ID        string       `db:"id"`
	Crontabs  string       `db:"crontabs"`
	Zone      string       `db:"zone"`
	Jitter    int64        `db:"jitter"` // in seconds
	CreatedAt time.Time    `db:"created_at"`
	Version   uint64       `db:"version"`
	Enabled   bool         `db:"enabled"`
	DueAt     sql.NullTime `db:"due_at"` // of its timer, if there is one
	Errors    int          `db:"error_count"`
	LastError string       `db:"last_error"`
}

// is says whether a faulty one is this schedule.
func (p planned) is(one faulty) bool { return one.ID == p.ID }

// parse reads the crontabs as timers do.
func (p planned) parse() (*timeline.Timeline, error) {
	return timeline.ParseStored(strings.Split(p.Crontabs, "\n"), p.Zone, p.CreatedAt, nil)
}

// refused says why a schedule that fires could not be made any more; empty where it could. One that does not fire is no good, and found
// otherwise.
func (p planned) refused() string {
	if _, err := p.parse(); err != nil {
		return ""
	}
	if _, err := timeline.Parse(strings.Split(p.Crontabs, "\n"), p.Zone, p.CreatedAt); err != nil {
		return err.Error()
	}
	return ""
}

// elsewhere says what a timer should wait for; empty where it does, or waits to take its place first.
func (p planned) elsewhere() string {
	if p.Version == 0 || !p.DueAt.Valid {
		return ""
	}
	line, err := p.parse()
	if err != nil {
		return fmt.Sprintf("%s: %s", p.Zone, err)
	}
	later := timeline.Jitter(p.ID, time.Duration(p.Jitter)*time.Second).Truncate(time.Second)
	due := p.DueAt.Time.Add(-later)
	next, ok := line.Next(due.Add(-time.Second))
	if ok && next.Equal(due) {
		return ""
	}
	text := "the timer waits for " + p.DueAt.Time.Format(time.RFC3339)
	if ok {
		text += ", and on this machine the next occurrence is " + next.Add(later).Format(time.RFC3339)
	}
	return text
}
