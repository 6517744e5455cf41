package doctor

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"time"

	"prescient/prescient/schedule/timeline"
)

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

// readPlanned reads the first schedules, with their timers.
func (d *doctor) readPlanned(ctx context.Context) (some []planned, err error) {
	if err := d.db.SelectContext(ctx, &some, d.tables.Stmt.Get("operate/planned"), scheduleProbe); err != nil {
		return nil, fmt.Errorf("operate/planned: %w", err)
	}
	return some, nil
}

// zoneFindings finds timers that wait for no occurrence by this machine's time zones, and crontabs that are refused by now.
func zoneFindings(some []planned) (found []Finding) {
	var elsewhere, refused []faulty
	for _, one := range some {
		if reason := one.refused(); reason != "" {
			refused = append(refused, faulty{one.ID, reason})
		}
		if reason := one.elsewhere(); reason != "" {
			elsewhere = append(elsewhere, faulty{one.ID, reason})
		}
	}
	if len(elsewhere) > 0 {
		found = append(found, warn("schedules.zones", "Timers wait for times that are no occurrence by the time zones of this machine: "+named(elsewhere)+".",
			"Give all machines the same tzdata and restart the programs on them. Then `schedule update ID` plans each schedule anew. Each local time fires once all the same."))
	}
	if len(refused) > 0 {
		found = append(found, warn("schedules.crontabs", "This version refuses the crontabs of schedules, which fire as before: "+named(refused)+".",
			"Give each a crontab that is allowed: `schedule update ID CRONTAB`."))
	}
	return found
}

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
