package demo

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"

	"prescient/cmd/internal/definition"
	"prescient/cmd/internal/words"
	"prescient/prescient"
	"prescient/prescient/client"
)

// books are the end of a demonstration, as demo --json prints them.
type books struct {
	Server      string                    `json:"server"`
	Seed        uint64                    `json:"seed"`
	TablePrefix string                    `json:"table_prefix"`
	Planned     int                       `json:"planned"`
	Inserted    int                       `json:"inserted"`
	Ended       int                       `json:"ended"`
	Pending     int                       `json:"pending"`
	Balanced    bool                      `json:"balanced"`
	Problem     string                    `json:"problem,omitempty"`
	Outcomes    map[prescient.Outcome]int `json:"outcomes"`
	Alerts      int                       `json:"alerts"`
	Escalations int                       `json:"escalations"`
	// Reports is how often the schedule ran.
	Reports int `json:"reports"`
	// Events is how many shipments the consumer was told of.
	Events int `json:"events"`
	// Lateness of the last check of each that ended, its start against its slot; nil where none was checked.
	Lateness *quantiles `json:"lateness_ms"`
	// Forecast is of a slot; nil where no check was to come when it was made.
	Forecast *foretold `json:"forecast"`
}

type quantiles struct {
	P50 int64 `json:"p50"`
	P99 int64 `json:"p99"`
	Max int64 `json:"max"`
}

// quantilesOf takes the nearest rank: the smallest value that at least so many are not above.
func quantilesOf(values []int64) *quantiles {
	if len(values) == 0 {
		return nil
	}
	sorted := slices.Sorted(slices.Values(values))
	rank := func(percent int) int64 { return sorted[(len(sorted)*percent+99)/100-1] }
	return &quantiles{P50: rank(50), P99: rank(99), Max: sorted[len(sorted)-1]}
}

// audit reads all that is pending and all that ended, and holds it against what the app inserted.
func (s *stage) audit(ctx context.Context, f demoFlags, t *teller) (books, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*demoTime)
	defer cancel()
	pending, ended, err := rowsOf(ctx, s.client, s.db)
	if err != nil {
		return books{}, err
	}
	inserted, alerts, escalations := t.counts()
	shipped, told := t.eventCounts()
	pending, ended, runs, problems := takeReports(pending, ended)
	b := balance(inserted, pending, ended)
	b.Reports, b.Events = runs, told
	problems = append(problems, checkEvents(shipped, told)...)
	if len(problems) > 0 {
		b.Balanced, b.Problem = false, strings.Join(append(problems, b.Problem), "; ")
	}
	if err := s.cameTrue(ctx); err != nil {
		return books{}, err
	}
	b.Planned, b.Forecast = f.orders, s.foretold
	b.Server, b.Seed, b.TablePrefix, b.Alerts, b.Escalations = s.server, f.seed, s.prefix, alerts, escalations
	return b, nil
}

// cameTrue adds what the slot had.
func (s *stage) cameTrue(ctx context.Context) error {
	t := s.foretold
	if t == nil {
		return nil
	}
	var lasted *int64
	err := s.db.GetContext(ctx, &t.Had, "SELECT COALESCE(SUM(moved + put_off + done + max_checks + past_return + beyond_horizon + failed + timed_out + crashed + dropped + expired), 0) FROM "+
		s.prefix+"slot_run WHERE slot = ?", t.Slot)
	if err == nil {
		err = s.db.GetContext(ctx, &lasted, "SELECT MAX(longest_lateness_ms + longest_run_ms) FROM "+s.prefix+"exec_run WHERE slot = ?", t.Slot)
	}
	if err == nil && lasted != nil {
		ended := t.Slot.Add(time.Duration(*lasted) * time.Millisecond)
		t.EndedAt = &ended
	}
	if err == nil {
		err = s.db.GetContext(ctx, &t.Cancelled, "SELECT COUNT(*) FROM "+s.prefix+"job_history WHERE slot = ? AND outcome = 'cancelled' AND ended_at >= ?", t.Slot, t.MadeAt)
	}
	if err != nil {
		return fmt.Errorf("comparing a forecast with the ledger: %w", err)
	}
	return nil
}

// rowsOf is all that is pending and all that ended.
func rowsOf(ctx context.Context, c *client.Client, db *sqlx.DB) (pending []prescient.FutureJob, ended []client.Ended, err error) {
	pending, err = all(func(after string) ([]prescient.FutureJob, error) {
		return c.Pending(ctx, db, client.ListFilter{After: after, Limit: client.MaxPage})
	})
	if err != nil {
		return nil, nil, err
	}
	ended, err = all(func(after string) ([]client.Ended, error) {
		return c.History(ctx, db, client.ListFilter{After: after, Limit: client.MaxPage})
	})
	return pending, ended, err
}

// all reads page after page.
func all[R interface{ Cursor() string }](read func(after string) ([]R, error)) (rows []R, err error) {
	err = definition.Pages(client.MaxPage, read, R.Cursor, func(row R) error {
		rows = append(rows, row)
		return nil
	})
	return rows, err
}

// balance makes the books: every check that was inserted has to be there once, ended or pending, and none may have
// started before its slot.
func balance(inserted map[string]bool, pending []prescient.FutureJob, ended []client.Ended) books {
	b := books{Inserted: len(inserted), Ended: len(ended), Pending: len(pending), Outcomes: make(map[prescient.Outcome]int)}
	var problems []string
	seen := make(map[string]bool)
	count := func(job prescient.FutureJob, where string) {
		name := job.Entity().String()
		switch {
		case seen[name]:
			problems = append(problems, name+" is there twice, once as "+where)
		case !inserted[name]:
			problems = append(problems, name+" is "+where+" but was not inserted")
		}
		seen[name] = true
	}
	for _, job := range pending {
		count(job, "pending")
	}
	var late []int64
	for _, end := range ended {
		count(end.FutureJob, string(end.Outcome))
		b.Outcomes[end.Outcome]++
		if end.LatenessMS == nil {
			continue
		}
		late = append(late, *end.LatenessMS)
		if *end.LatenessMS < 0 {
			early := time.Duration(-*end.LatenessMS) * time.Millisecond
			problems = append(problems, fmt.Sprintf("%s was checked %s before its slot", end.Entity(), early))
		}
	}
	for name := range inserted {
		if !seen[name] {
			problems = append(problems, name+" was inserted and is neither ended nor pending")
		}
	}
	b.Lateness = quantilesOf(late)
	b.Balanced = len(problems) == 0 && b.Inserted == b.Ended+b.Pending
	if !b.Balanced {
		b.Problem = fmt.Sprintf("inserted %d, ended %d, pending %d", b.Inserted, b.Ended, b.Pending)
	}
	if len(problems) > 0 {
		slices.Sort(problems)
		b.Problem += fmt.Sprintf("; %d wrong, the first: %s", len(problems), problems[0])
	}
	return b
}

// end prints the books.
func (t *teller) end(b books) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.json {
		t.out.JSON(b)
		return t.out.Err()
	}
	var outcomes []string
	for _, o := range slices.Sorted(maps.Keys(b.Outcomes)) {
		outcomes = append(outcomes, fmt.Sprintf("%d %s", b.Outcomes[o], o))
	}
	t.line("")
	t.line("%s", t.paint(bold, "The books"))
	t.line("  inserted  %6d  a check with each order%s", b.Inserted, missed(b.Planned-b.Inserted))
	t.line("  ended     %6d  %s", b.Ended, strings.Join(outcomes, ", "))
	t.line("  pending   %6d  their slots have not come", b.Pending)
	t.line("  %s", t.verdict(b))
	t.line("  alerts    %6d  orders that were not shipped in time; %d of them escalated", b.Alerts, b.Escalations)
	t.line("  reports   %6d  runs of a schedule, each %s", b.Reports, reportEvery)
	t.line("  events    %6d  shipments that the consumer was told of: each that committed", b.Events)
	if b.Lateness != nil {
		t.line("  lateness  p50 %d ms, p99 %d ms, max %d ms: the start of a check against its slot", b.Lateness.P50, b.Lateness.P99,
			b.Lateness.Max)
	}
	if b.Forecast != nil {
		t.line("  forecast  %s", b.Forecast)
	}
	return t.out.Err()
}

func (t *teller) verdict(b books) string {
	if !b.Balanced {
		return t.paint(red, "the books do not balance: "+words.Clean(b.Problem))
	}
	return t.paint(green, "inserted = ended + pending: the books balance")
}

// missed says how many orders did not come in time: the demonstration was ended, or the server was busy.
func missed(orders int) string {
	if orders == 0 {
		return ""
	}
	return fmt.Sprintf("; %d more orders did not come in time", orders)
}
