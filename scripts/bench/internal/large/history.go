package large

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"

	"prescient/prescient"
	"prescient/prescient/client"
	"prescient/prescient/connect"

	"prescient/scripts/bench/internal/page"
	"prescient/scripts/bench/internal/rig"
	"prescient/scripts/bench/internal/slotrun"
)

// History is the section of the lists.
var History = rig.Section{
	Name:  "history",
	About: "pages of history (of 50 million ends, unless --rows says otherwise) and of jobs (a sixteenth of that), and the analysts' views, and ends that are added, beside a fiftieth of all that",
	Run: func(ctx context.Context, b *rig.Bench, s *rig.Server) error {
		many := b.Rows
		if many == 0 {
			many = b.Scaled(50_000_000)
		}
		few := many / 50
		for _, rows := range []int{few, many} {
			if err := measureHistory(ctx, b, s, rows); err != nil {
				return err
			}
		}
		return nil
	},
}

// resolution of the slots in section history.
const resolution = 15 * time.Minute

// Limits on one statement of the section.
const (
	pageLimit = 20 * time.Second
	viewLimit = 2 * time.Minute
)

func replace(text string, pairs ...string) string { return strings.NewReplacer(pairs...).Replace(text) }

// measureHistory measures at one size.
func measureHistory(ctx context.Context, b *rig.Bench, s *rig.Server, rows int) error {
	name := fmt.Sprintf("history_%d", rows)
	p, err := s.Install(ctx, name, resolution, b.Keep)
	if err != nil {
		return err
	}
	if !b.Keep {
		defer p.Drop(ctx)
	} else {
		defer p.Close()
	}
	if _, err := p.Exec(ctx, "SELECT 1 FROM bench_filled"); err != nil {
		for _, fill := range []func() error{
			func() error { return fillHistory(ctx, b, p, rows) },
			func() error { return fillPending(ctx, b, p, max(rows/16, 1000)) },
		} {
			if err := fill(); err != nil {
				return err
			}
		}
		if _, err := p.Exec(ctx, "CREATE TABLE bench_filled (n INT)"); err != nil {
			return err
		}
	}
	if err := listings(ctx, b, p, rows); err != nil {
		return err
	}
	if err := measureViews(ctx, b, p, rows); err != nil {
		return err
	}
	return endsInto(ctx, b, p, rows)
}

// endsInto measures ends that are added to a history of so many.
func endsInto(ctx context.Context, b *rig.Bench, p *rig.Place, rows int) error {
	due := max(b.Scaled(50_000), 1_000)
	if err := p.MakeNumbers(ctx, due); err != nil {
		return err
	}
	var all []float64
	for range b.Rounds {
		now := time.Now().UTC()
		if left := now.Truncate(resolution).Add(resolution).Sub(now); left < 2*time.Minute {
			// All of it has to be in the slot that is now.
			if err := rig.Pause(ctx, left+time.Second); err != nil {
				return err
			}
		}
		slot := time.Now().UTC().Truncate(resolution).Format(time.DateTime)
		if _, err := p.Exec(ctx, fmt.Sprintf("INSERT INTO future_job (entity_name, entity_key, job_exec, due_at) SELECT 'late', n, '%s', '%s' FROM bench_n WHERE n < %d",
			rig.DueExec, slot, due)); err != nil {
			return err
		}
		if err := p.AwaitCalm(ctx); err != nil {
			return err
		}
		figures, err := slotrun.Workload{Form: "one", DSN: p.DSN(p.Name)}.Run(ctx)
		if err != nil {
			return err
		}
		if figures.Done != due {
			return fmt.Errorf("%d ends; want %d", figures.Done, due)
		}
		all = append(all, figures.Took.Seconds()*1000)
	}
	name := fmt.Sprintf("a slot run that adds %s ends", page.Short(float64(due)))
	b.Say("  %-52s %9d: median %9.1f ms", name, rows, page.Median(all))
	return b.Book.Add(page.Record{Case: name, Rows: rows, Figures: map[string]float64{"first_ms": all[0], "median_ms": page.Median(all)}})
}

// listing is one page to read.
type listing struct {
	name    string
	pending bool
	filter  client.ListFilter
}

func listings(ctx context.Context, b *rig.Bench, p *rig.Place, rows int) error {
	db, err := connect.Open(limitedDSN(p, pageLimit), 0)
	if err != nil {
		return err
	}
	defer db.Close()
	for _, l := range someListings(ctx, p, db) {
		read := func() (int, error) {
			if l.pending {
				page, err := p.Client.Pending(ctx, db, l.filter)
				return len(page), err
			}
			page, err := p.Client.History(ctx, db, l.filter)
			return len(page), err
		}
		if err := rig.Timed(ctx, b, l.name, rows, 5, read); err != nil {
			return err
		}
	}
	return nil
}

// someListings are the pages that are read: each filter alone, and together with others; with values that many rows
// have, that few have, and that none has.
func someListings(ctx context.Context, p *rig.Place, db *sqlx.DB) []listing {
	now := time.Now().UTC()
	day := now.Truncate(24 * time.Hour)
	middle := day.AddDate(0, 0, -historyDays/2)
	type f = client.ListFilter
	history := []listing{
		{name: "first page"},
		{name: "first page of 1000", filter: f{Limit: 1000}},
		{name: "a page in the middle, by its cursor", filter: f{After: middle.Format("2006-01-02 15:04:05.000000") + "/" + strings.Repeat("7f", 16) + "/9"}},
		{name: "time: a day in the middle", filter: f{From: middle, Before: middle.AddDate(0, 0, 1)}},
		{name: "time: all before the middle", filter: f{Before: middle}},
		{name: "time: nothing there", filter: f{Before: day.AddDate(-1, 0, 0)}},
		{name: "entity with few ends", filter: f{Entity: prescient.Entity{Name: "order", Key: "4711"}}},
		{name: "entity with none", filter: f{Entity: prescient.Entity{Name: "order", Key: "none"}}},
		{name: "entity with a 500th of all ends", filter: f{Entity: prescient.Entity{Name: "account", Key: "main"}}},
		{name: "the same, outcome failed", filter: f{Entity: prescient.Entity{Name: "account", Key: "main"}, Outcome: prescient.Failed}},
		{name: "the same, in a day", filter: f{Entity: prescient.Entity{Name: "account", Key: "main"}, From: middle, Before: middle.AddDate(0, 0, 1)}},
		{name: "kind: most", filter: f{Entity: prescient.Entity{Name: "order"}}},
		{name: "kind: a 300th", filter: f{Entity: prescient.Entity{Name: "account"}}},
		{name: "kind: none", filter: f{Entity: prescient.Entity{Name: "nothing"}}},
		{name: "job_exec: most", filter: f{JobExec: "order-unshipped"}},
		{name: "job_exec: 50 of 50 million", filter: f{JobExec: "refund-stuck"}},
		{name: "job_exec: none", filter: f{JobExec: "no-such"}},
		{name: "outcome: done", filter: f{Outcome: prescient.Done}},
		{name: "outcome: timed_out, a thousandth", filter: f{Outcome: prescient.TimedOut}},
		{name: "outcome: crashed, the oldest 20", filter: f{Outcome: prescient.Crashed}},
		{name: "slot, in a day", filter: f{Slot: middle, From: middle, Before: middle.AddDate(0, 0, 1)}},
		{name: "outcome: crashed, in a day", filter: f{Outcome: prescient.Crashed, From: middle, Before: middle.AddDate(0, 0, 1)}},
		{name: "outcome: crashed, in a week", filter: f{Outcome: prescient.Crashed, From: middle, Before: middle.AddDate(0, 0, 7)}},
		{name: "job_exec and outcome, rare", filter: f{JobExec: "account-idle", Outcome: prescient.TimedOut}},
		{name: "job_exec and outcome, none", filter: f{JobExec: "refund-stuck", Outcome: prescient.BeyondHorizon}},
	}
	soon := now.Add(10 * 24 * time.Hour)
	pending := []listing{
		{name: "first page"},
		{name: "a page in the middle, by its cursor", filter: f{After: soon.Truncate(resolution).Format(time.DateTime) + "/" + strings.Repeat("7f", 16)}},
		{name: "time: a slot", filter: f{From: soon.Truncate(resolution), Before: soon.Truncate(resolution).Add(resolution)}},
		{name: "entity", filter: f{Entity: prescient.Entity{Name: "order", Key: "4711"}}},
		{name: "kind: most", filter: f{Entity: prescient.Entity{Name: "order"}}},
		{name: "kind: none", filter: f{Entity: prescient.Entity{Name: "nothing"}}},
		{name: "job_exec: most", filter: f{JobExec: "order-unshipped"}},
		{name: "job_exec: rare", filter: f{JobExec: "refund-stuck"}},
		{name: "job_exec: none", filter: f{JobExec: "no-such"}},
		{name: "job_exec: none, in a day", filter: f{JobExec: "no-such", From: soon, Before: soon.AddDate(0, 0, 1)}},
	}
	var all []listing
	for _, l := range history {
		all = append(all, listing{"history, " + l.name, false, l.filter})
	}
	for _, l := range pending {
		all = append(all, listing{"jobs, " + l.name, true, l.filter})
	}
	return all
}

// measureViews reads each of the analysts' views with and without a filter.
func measureViews(ctx context.Context, b *rig.Bench, p *rig.Place, rows int) error {
	db, err := connect.Open(limitedDSN(p, viewLimit), 0)
	if err != nil {
		return err
	}
	defer db.Close()
	day := time.Now().UTC().AddDate(0, 0, -historyDays/2)
	for _, view := range []string{"history_outcomes", "history_times", "history_checks", "history_checks_daily", "history_not_yet", "history_lateness"} {
		filters := []struct{ name, where string }{
			{"a day", " WHERE day = '" + day.Format(time.DateOnly) + "'"},
			{"a week", " WHERE day >= '" + day.Format(time.DateOnly) + "' AND day < '" + day.AddDate(0, 0, 7).Format(time.DateOnly) + "'"},
			{"a day, one job_exec", " WHERE day = '" + day.Format(time.DateOnly) + "' AND job_exec = 'parcel-lost'"},
			{"everything", ""},
		}
		for _, f := range filters {
			if view == "history_checks" && f.where != "" {
				continue // it has no day; history_checks_daily has
			}
			err := rig.Timed(ctx, b, view+", "+f.name, rows, 3, func() (int, error) {
				rows, err := db.QueryContext(ctx, "SELECT * FROM "+view+f.where)
				if err != nil {
					return 0, err
				}
				defer rows.Close()
				n := 0
				for rows.Next() {
					n++
				}
				return n, rows.Err()
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}
