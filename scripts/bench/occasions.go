package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"prescient/prescient"
	"prescient/prescient/rule"
	"prescient/prescient/rulebook"

	"prescient/scripts/bench/internal/page"
	"prescient/scripts/bench/internal/rig"
)

var occasionsSection = rig.Section{
	Name: "occasions",
	About: "one connection inserts checks, each by a transaction of its own, among a million pending: by plain SQL into a table without the two columns of rules and into future_job, by Insert and by Happened " +
		"of an occasion of which one rule makes a check, and by CALL put and CALL happened; by turns of a few hundred, of which medians are taken, and ratios in pairs",
	Run: func(ctx context.Context, b *rig.Bench, s *rig.Server) error {
		st, err := b.MakeStage(ctx, s, "occasions", 100, b.Scaled(1_000_000))
		if err != nil {
			return err
		}
		if !b.Keep {
			defer st.Drop(ctx)
		}
		in := occasions{inserts: inserts{Stage: st, at: st.Slot.Add(40 * rig.Day)}}
		return in.measure(ctx, b)
	},
}

// occasions insert checks, one by one.
type occasions struct{ inserts }

// turns are how often each contestant of a pair has its turn in a round.
const turns = 10

func (in *occasions) measure(ctx context.Context, b *rig.Bench) error {
	for _, query := range []string{"CREATE TABLE bench_without LIKE future_job", "ALTER TABLE bench_without DROP COLUMN rule_version, DROP COLUMN occasion_at",
		"INSERT INTO bench_without (entity_name, entity_key, job_exec, due_at) SELECT entity_name, entity_key, job_exec, due_at FROM future_job"} {
		if _, err := in.Exec(ctx, query); err != nil {
			return err
		}
	}
	r := rule.Rule{Name: "remind", Occasion: "placed", JobExec: rig.DueExec, Delay: 40 * rig.Day}
	if _, _, err := rulebook.New(in.Client).Put(ctx, in.DB, r, 0, rule.Move); err != nil {
		return err
	}
	in.App.SetMaxOpenConns(1)
	plain := func(into string) func(ctx context.Context, i int) error {
		return func(ctx context.Context, i int) error {
			_, err := in.App.ExecContext(ctx, "INSERT INTO "+into+" (entity_name, entity_key, job_exec, due_at) VALUES ('parcel', ?, ?, ?)", i, rig.DueExec, in.at.Format(time.DateTime))
			return err
		}
	}
	key := func(i int) prescient.Entity { return prescient.Entity{Name: "parcel", Key: fmt.Sprint(i)} }
	pairs := [][2]occasion{
		{{"a table without the columns of rules", plain("bench_without")}, {"future_job", plain("future_job")}},
		{{"Insert", func(ctx context.Context, i int) error { return in.insert(ctx, in.App, i) }}, {"Happened", func(ctx context.Context, i int) error {
			did, err := in.Client.Happened(ctx, in.App, "placed", key(i), time.Now(), nil)
			if err == nil && len(did.Checks) != 1 {
				err = fmt.Errorf("%d checks were made", len(did.Checks))
			}
			return err
		}}},
		{{"CALL put", in.call("CALL put('parcel', ?, 'check', '', UTC_TIMESTAMP(6) + INTERVAL 40 DAY, NULL, 'keep')")}, {"CALL happened", in.call("CALL happened('placed', 'parcel', ?, UTC_TIMESTAMP(6), NULL)")}},
	}
	for _, pair := range pairs {
		if err := in.pair(ctx, b, pair); err != nil {
			return fmt.Errorf("%s: %w", pair[1].name, err)
		}
	}
	return nil
}

// occasion is a way to insert a check.
type occasion struct {
	name string
	do   func(ctx context.Context, i int) error
}

// call is a procedure by which a check is made.
func (in *occasions) call(query string) func(ctx context.Context, i int) error {
	return func(ctx context.Context, i int) error {
		rows, err := in.App.QueryContext(ctx, query, i)
		if err != nil {
			return err
		}
		return rows.Close()
	}
}

// pair gives two their turns, each the first as often.
func (in *occasions) pair(ctx context.Context, b *rig.Bench, pair [2]occasion) error {
	n := b.Scaled(300)
	took := [2][]float64{}
	for turn := range turns * b.Rounds {
		for j := range pair {
			which := (turn + j) % 2
			first := in.take(n)
			began := time.Now()
			for i := range n {
				if err := pair[which].do(ctx, first+i); err != nil {
					return err
				}
			}
			took[which] = append(took[which], time.Since(began).Seconds()*1e6/float64(n))
		}
	}
	ratios := make([]float64, len(took[0]))
	for i := range ratios {
		ratios[i] = took[1][i] / took[0][i]
	}
	figures := map[string]float64{"µs before": page.Median(took[0]), "µs": page.Median(took[1]), "ratio": page.Median(ratios)}
	b.Say("  %s %.0f µs, %s %.0f µs: %.3f times, the median of %d", pair[0].name, figures["µs before"], pair[1].name, figures["µs"], figures["ratio"], len(ratios))
	return b.Book.Add(page.Record{Case: pair[1].name + " beside " + strings.TrimPrefix(pair[0].name, "a "), Rows: n, Figures: figures})
}
