package main

import (
	"context"
	"fmt"
	"time"

	"prescient/prescient"
	"prescient/prescient/connect"
	"prescient/prescient/longrun"
	"prescient/prescient/worker"

	"prescient/scripts/bench/internal/page"
	"prescient/scripts/bench/internal/rig"
)

var longSection = rig.Section{
	Name: "long",
	About: "what a thousand long runs cost that are under way: statements a minute beside those of a worker alone, with leases of a minute; " +
		"and the lateness of 200 short checks a slot, of 5 s, beside them and without",
	Run: func(ctx context.Context, b *rig.Bench, s *rig.Server) error {
		for round := 1; round <= b.Rounds; round++ {
			for _, runs := range []int{0, 1000} {
				if err := longRuns(ctx, b, s, round, runs); err != nil {
					return fmt.Errorf("%d long runs: %w", runs, err)
				}
			}
		}
		return nil
	},
}

// What the section has.
const (
	longSlot  = 5 * time.Second
	longLease = time.Minute
	shortOnes = 200 // in each slot
)

// longTime is for how long it is watched: two terms of the lease.
func longTime(b *rig.Bench) time.Duration {
	if b.Scale < 1 {
		return longLease
	}
	return 2 * longLease
}

// longRuns watches a worker that has so many long runs under way, while short checks are due in each slot.
func longRuns(ctx context.Context, b *rig.Bench, s *rig.Server, round, runs int) error {
	p, err := s.Install(ctx, "long", longSlot, false)
	if err != nil {
		return err
	}
	if !b.Keep {
		defer p.Drop(ctx)
	}
	if err := p.MakeNumbers(ctx, 10_000); err != nil {
		return err
	}
	const insert = "INSERT INTO future_job (entity_name, entity_key, job_exec, due_at) SELECT 'order', n, ?, UTC_TIMESTAMP(6) + INTERVAL ? + (n DIV ?) * ? SECOND FROM bench_n WHERE n < ?"
	slots := int((longTime(b)+20*time.Second)/longSlot) + 1
	if _, err := p.Exec(ctx, insert, "short", 12, shortOnes, longSlot/time.Second, slots*shortOnes); err != nil {
		return err
	}
	if _, err := p.Exec(ctx, insert, "export", 1, 1_000_000, 0, runs); err != nil {
		return err
	}
	db, err := connect.Open(p.DSN(p.Name), longLease)
	if err != nil {
		return err
	}
	defer db.Close()
	agent, err := longrun.New(ctx, db, longrun.Options{Name: "bench", Lease: longLease, Capacity: 2000})
	if err != nil {
		return err
	}
	registry := prescient.NewRegistry()
	untilEnd := func(ctx context.Context, _ *longrun.Run) (*time.Time, error) { <-ctx.Done(); return nil, ctx.Err() }
	if err := agent.Register(registry, "export", untilEnd, prescient.Guards{}); err != nil {
		return err
	}
	registry.MustRegister("short", func(context.Context, prescient.FutureJob) (*time.Time, error) { return nil, nil }, prescient.Guards{})
	w, err := worker.New(ctx, db, worker.Options{Registry: registry, Times: worker.Times{Lease: longLease}, Name: "bench"})
	if err != nil {
		return err
	}
	working, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- w.Work(working) }()
	for agent.Running() < runs {
		if err := rig.Pause(ctx, 100*time.Millisecond); err != nil {
			stop()
			return err
		}
	}
	figures, err := longFigures(ctx, b, p)
	if now := agent.Running(); err == nil && now != runs {
		err = fmt.Errorf("%d are under way", now)
	}
	// They are handed on, which is not measured.
	over, done := context.WithCancel(ctx)
	done()
	_ = agent.Drain(over)
	stop()
	if failed := <-ended; err == nil {
		err = failed
	}
	if err != nil {
		return err
	}
	name := fmt.Sprintf("prescient, a worker with %d long runs", runs)
	b.Say("  %-52s %s", name, page.FiguresText(figures))
	return b.Book.Add(page.Record{Case: name, Round: round, Figures: figures, Note: fmt.Sprintf("%d short checks a slot of %s", shortOnes, longSlot)})
}

// longFigures are those of the time for which it is watched.
func longFigures(ctx context.Context, b *rig.Bench, p *rig.Place) (map[string]float64, error) {
	count := p.Questions()
	var asked [2]float64
	var used [2]rig.Usage
	for i := range used {
		if i > 0 {
			if err := rig.Pause(ctx, longTime(b)); err != nil {
				return nil, err
			}
		}
		used[i] = rig.UsageNow(p.Pid)
		var err error
		if asked[i], err = count(); err != nil {
			return nil, err
		}
	}
	minutes := used[1].At.Sub(used[0].At).Minutes()
	figures := map[string]float64{"statements/min": (asked[1] - asked[0] - 1) / minutes, "server CPU s/min": (used[1].Server - used[0].Server) / minutes,
		"client CPU s/min": (used[1].Client - used[0].Client) / minutes}
	var late []float64
	if err := p.DB.SelectContext(ctx, &late, "SELECT lateness_ms FROM job_history WHERE job_exec = 'short' ORDER BY lateness_ms"); err != nil {
		return nil, err
	}
	if len(late) < shortOnes {
		return nil, fmt.Errorf("%d short checks have ended", len(late))
	}
	figures["lateness p50 ms"], figures["lateness p99 ms"] = late[len(late)/2], late[len(late)*99/100]
	return figures, nil
}
