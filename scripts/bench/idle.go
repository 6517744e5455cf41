package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/riverqueue/river"

	"prescient/prescient/connect"
	"prescient/prescient/worker"

	"prescient/scripts/bench/internal/page"
	"prescient/scripts/bench/internal/peers"
	"prescient/scripts/bench/internal/rig"
	"prescient/scripts/bench/internal/slotrun"
)

var idleSection = rig.Section{
	Name: "idle",
	About: "what a worker costs that has nothing to do, with a million pending: statements and CPU an hour, extrapolated from 40 s each (20 s below scale 1); " +
		"of prescient from slots of 5 s and sweeps 2 s apart, to slots of 15 minutes and a sweep a minute; beside River, Asynq, and a look with SKIP LOCKED each second",
	Run: func(ctx context.Context, b *rig.Bench, s *rig.Server) error {
		alone, err := idleWorker(ctx, b, s)
		if err != nil {
			return err
		}
		if err := idleQueue(ctx, b, s, alone); err != nil {
			return err
		}
		if err := idleRiver(ctx, b); err != nil {
			return err
		}
		return idleAsynq(ctx, b)
	},
}

// idleTime is for how long each is watched.
func idleTime(b *rig.Bench) time.Duration {
	if b.Scale < 1 {
		return 20 * time.Second
	}
	return 40 * time.Second
}

// idle is what was used in some time.
type idle struct {
	took                       time.Duration
	statements, client, server float64
}

// watch lets something do nothing for some time. count tells how many statements the server has answered so far.
func watch(ctx context.Context, b *rig.Bench, pid int, count func() (float64, error), work func(ctx context.Context) error) (idle, error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- work(ctx) }()
	if err := rig.Pause(ctx, time.Second); err != nil { // to start
		return idle{}, err
	}
	var used [2]rig.Usage
	var statements [2]float64
	for i := range used {
		if i > 0 {
			select {
			case err := <-ended:
				return idle{}, fmt.Errorf("it ended: %w", errors.Join(err, ctx.Err()))
			case <-time.After(idleTime(b)):
			}
		}
		used[i] = rig.UsageNow(pid)
		var err error
		if statements[i], err = count(); err != nil {
			return idle{}, err
		}
	}
	stop()
	return idle{took: used[1].At.Sub(used[0].At), statements: statements[1] - statements[0] - 1, client: used[1].Client - used[0].Client,
		server: used[1].Server - used[0].Server}, <-ended
}

// without takes off what another used in the same time.
func (i idle) without(other idle) idle {
	i.statements, i.client, i.server = max(i.statements-other.statements, 0), max(i.client-other.client, 0), max(i.server-other.server, 0)
	return i
}

// figures are those of an hour.
func (i idle) figures() map[string]float64 {
	hours := i.took.Hours()
	return map[string]float64{"statements/h": i.statements / hours, "client CPU s/h": i.client / hours, "server CPU s/h": i.server / hours}
}

func addIdle(b *rig.Bench, name string, figures map[string]float64, note string) error {
	b.Say("  %-52s %s %s", name, page.FiguresText(figures), note)
	return b.Book.Add(page.Record{Case: name, Figures: figures, Note: note})
}

// idleWorker measures the server alone, which it returns, slots without sweeps, and slots with sweeps.
func idleWorker(ctx context.Context, b *rig.Bench, s *rig.Server) (alone idle, err error) {
	p, err := s.Install(ctx, "idle", 5*time.Second, false)
	if err != nil {
		return idle{}, err
	}
	if !b.Keep {
		defer p.Drop(ctx)
	}
	pending := b.Scaled(1_000_000)
	if err := p.MakeNumbers(ctx, pending); err != nil {
		return idle{}, err
	}
	if _, err := p.Exec(ctx, `INSERT INTO future_job (entity_name, entity_key, job_exec, due_at)
		SELECT 'order', n, ?, UTC_DATE() + INTERVAL 2 DAY + INTERVAL (n MOD 500000) * 5 SECOND FROM bench_n`, rig.IdleExec); err != nil {
		return idle{}, err
	}
	if err := p.AwaitCalm(ctx); err != nil {
		return idle{}, err
	}
	watchWorker := func(work func(ctx context.Context) error) (idle, error) {
		return watch(ctx, b, p.Pid, p.Questions(), work)
	}
	alone, err = watchWorker(func(ctx context.Context) error { <-ctx.Done(); return nil })
	if err != nil {
		return idle{}, err
	}
	if err := addIdle(b, "the server alone", alone.figures(), "what it does by itself is taken off prescient's and the queue's CPU"); err != nil {
		return idle{}, err
	}
	work := func(every time.Duration) func(ctx context.Context) error {
		return func(ctx context.Context) error {
			// With this lease a connection is let go after half a second: a worker with slots of 15 minutes, too, has none
			// left from the slot before, and what it says on a new one counts.
			const lease = 2 * time.Second
			db, err := connect.Open(p.DSN(p.Name), lease)
			if err != nil {
				return err
			}
			defer db.Close()
			w, err := worker.New(ctx, db, worker.Options{Registry: slotrun.Workload{Form: "one"}.Registry(db), Sweep: worker.Sweep{Every: every}, Times: worker.Times{Lease: lease}})
			if err != nil {
				return err
			}
			return w.Work(ctx)
		}
	}
	slots, err := watchWorker(work(-1))
	if err != nil {
		return idle{}, err
	}
	both, err := watchWorker(work(2 * time.Second))
	if err != nil {
		return idle{}, err
	}
	perSlot, perSweep := idleTime(b).Seconds()/5, idleTime(b).Seconds()/2
	hourly := func(of func(i idle) float64) float64 {
		slot := max(of(slots)-of(alone), 0)
		return slot/perSlot*4 + max(of(both)-of(slots), 0)/perSweep*60
	}
	return alone, addIdle(b, "prescient, a worker", map[string]float64{
		"statements/slot":  slots.statements / perSlot,
		"statements/sweep": max(both.statements-slots.statements, 0) / perSweep,
		"statements/h":     hourly(func(i idle) float64 { return i.statements }),
		"client CPU s/h":   hourly(func(i idle) float64 { return i.client }),
		"server CPU s/h":   hourly(func(i idle) float64 { return i.server }),
	}, "15 minute slots, a sweep a minute")
}

// idleQueue looks each second for a row to claim.
func idleQueue(ctx context.Context, b *rig.Bench, s *rig.Server, alone idle) error {
	p, err := s.Install(ctx, "idle_queue", rig.Day, false)
	if err != nil {
		return err
	}
	if !b.Keep {
		defer p.Drop(ctx)
	}
	if err := p.MakeNumbers(ctx, b.Scaled(1_000_000)); err != nil {
		return err
	}
	for _, query := range []string{peers.QueueTable, "INSERT INTO bench_queue (state, run_at, entity) SELECT 0, UTC_TIMESTAMP() + INTERVAL 1 + n MOD 28 DAY, n FROM bench_n"} {
		if _, err := p.Exec(ctx, query); err != nil {
			return err
		}
	}
	st, look := &rig.Stage{Place: p}, peers.Queues()[0]
	if err := st.AwaitCalm(ctx); err != nil {
		return err
	}
	i, err := watch(ctx, b, s.Pid, p.Questions(), func(ctx context.Context) error {
		for rig.Pause(ctx, time.Second) == nil {
			if err := look.Do(ctx, st); err != nil && ctx.Err() == nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return addIdle(b, "SKIP LOCKED queue, a look each second", i.without(alone).figures(), "")
}

// idleRiver is River with its defaults.
func idleRiver(ctx context.Context, b *rig.Bench) (err error) {
	pg, err := peers.StartPostgres(ctx, b.Pool, "shared_preload_libraries=pg_stat_statements")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, pg.Stop()) }()
	if err := pg.RiverTables(ctx, b.Scaled(1_000_000)); err != nil {
		return err
	}
	if _, err := pg.Pool.Exec(ctx, "CREATE EXTENSION pg_stat_statements"); err != nil {
		return err
	}
	i, err := watch(ctx, b, pg.Pid(), func() (n float64, err error) {
		return n, pg.Pool.QueryRow(ctx, "SELECT coalesce(sum(calls), 0) FROM pg_stat_statements").Scan(&n)
	}, func(ctx context.Context) error {
		client, err := pg.NewRiver(&river.Config{Queues: map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: 32}}})
		if err != nil {
			return err
		}
		if err := client.Start(ctx); err != nil {
			return err
		}
		<-ctx.Done()
		return client.Stop(context.WithoutCancel(ctx))
	})
	if err != nil {
		return err
	}
	return addIdle(b, "River on Postgres, its defaults", i.figures(), "")
}
