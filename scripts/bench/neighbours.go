package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"prescient/prescient"
	"prescient/prescient/worker"

	"prescient/scripts/bench/internal/page"
	"prescient/scripts/bench/internal/rig"
)

var neighboursSection = rig.Section{
	Name: "neighbours",
	About: "how late fast rows are called, 20 in each slot of a second: alone, beside a row a slot whose call takes 10 s, and beside 50 a slot of an " +
		"endpoint that never answers; three workers at the same time, for an hour times scale",
	Run: func(ctx context.Context, b *rig.Bench, s *rig.Server) error {
		long := time.Duration(b.Scale * float64(time.Hour)).Round(time.Second)
		all := make([]*lateOverTime, len(neighbours))
		group, ctx := errgroup.WithContext(ctx)
		for i, n := range neighbours {
			group.Go(func() (err error) {
				all[i], err = n.measure(ctx, b, s, long)
				return err
			})
		}
		if err := group.Wait(); err != nil {
			return err
		}
		for i, n := range neighbours {
			if err := all[i].record(b, "prescient, fast rows, "+n.name); err != nil {
				return err
			}
		}
		return nil
	},
}

// neighbour is what fast rows have beside them.
type neighbour struct {
	name, worker string
	rows         int // a slot
	takes        time.Duration
}

var neighbours = []neighbour{
	{name: "alone", worker: "alone"},
	{name: "beside a slow one a slot", worker: "slow", rows: 1, takes: 10 * time.Second},
	{name: "beside a dead endpoint", worker: "dead", rows: 50, takes: time.Hour}, // longer than any timeout
}

const (
	fastRows    = 20 // a slot
	second      = time.Second
	filledAhead = 5 * second // when a slot's rows are inserted
	startsIn    = 3 * second // what the worker has to come up in
	allowedLate = 5 * time.Minute
)

// measure has a worker run slot after slot, into which an app inserts all the while.
func (n neighbour) measure(ctx context.Context, b *rig.Bench, s *rig.Server, long time.Duration) (*lateOverTime, error) {
	p, err := s.Install(ctx, "beside_"+n.worker, second, false)
	if err != nil {
		return nil, err
	}
	if !b.Keep {
		defer p.Drop(ctx)
	}
	if err := p.MakeNumbers(ctx, fastRows+n.rows); err != nil {
		return nil, err
	}
	first := time.Now().UTC().Truncate(second).Add(filledAhead + startsIn)
	last := first.Add(long - second)
	seen := &lateOverTime{first: first, left: int(long/second) * fastRows, done: make(chan struct{})}
	registry := prescient.NewRegistry()
	registry.MustRegister(rig.DueExec, func(context.Context, prescient.FutureJob) (*time.Time, error) { return nil, nil }, prescient.Guards{})
	registry.MustRegister(slowExec, func(ctx context.Context, _ prescient.FutureJob) (*time.Time, error) {
		return nil, rig.Pause(ctx, n.takes)
	}, prescient.Guards{})
	w, err := worker.New(ctx, p.DB, worker.Options{Registry: registry, Name: n.worker, Times: worker.Times{StopGrace: second},
		Observer: &worker.Observer{Answered: seen.answered}})
	if err != nil {
		return nil, err
	}
	working, stop := context.WithCancel(ctx)
	defer stop()
	group, working := errgroup.WithContext(working)
	group.Go(func() error { return w.Work(working) })
	group.Go(func() error {
		defer stop()
		for slot := first; !slot.After(last); slot = slot.Add(second) {
			if err := rig.Pause(working, time.Until(slot)-filledAhead); err != nil {
				return err
			}
			_, err := p.Exec(working, "INSERT INTO future_job (entity_name, entity_key, job_exec, due_at) SELECT 'order', CONCAT(?, '-', n), IF(n < ?, ?, ?), ? FROM bench_n",
				slot.Unix(), fastRows, rig.DueExec, slowExec, slot.Format(time.DateTime))
			if err != nil {
				return err
			}
		}
		select {
		case <-seen.done:
		case <-working.Done():
		case <-time.After(time.Until(last) + allowedLate):
		}
		return nil
	})
	if err := group.Wait(); err != nil && (ctx.Err() != nil || !errors.Is(err, context.Canceled)) {
		return nil, err
	}
	return seen, nil
}

// lateOverTime collects how late the fast rows were called, in ms, for each tenth of an hour by their slots.
type lateOverTime struct {
	first time.Time

	mu    sync.Mutex
	parts [][]float64
	left  int // those that were not called yet
	done  chan struct{}
}

const partOfHour = 6 * time.Minute

// answered implements the function of worker.Observer.
func (l *lateOverTime) answered(answers []worker.Result) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, a := range answers {
		if a.Job.JobExec != rig.DueExec {
			continue
		}
		part := int(a.Job.NextCheckAt.Sub(l.first) / partOfHour)
		for len(l.parts) <= part {
			l.parts = append(l.parts, nil)
		}
		l.parts[part] = append(l.parts[part], a.Lateness.Seconds()*1000)
		if l.left--; l.left == 0 {
			close(l.done)
		}
	}
}

func (l *lateOverTime) record(b *rig.Bench, name string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	figures := make(map[string]float64)
	for i, list := range l.parts {
		slices.Sort(list)
		figures[fmt.Sprintf("p99 ms of part %02d", i+1)] = page.Percentile(list, 99)
	}
	all := slices.Concat(l.parts...)
	slices.Sort(all)
	figures["start ms p50"], figures["start ms p99"], figures["start ms max"] = page.Percentile(all, 50), page.Percentile(all, 99), page.Percentile(all, 100)
	figures["not called"] = float64(l.left)
	r := page.Record{Case: name, Round: 1, Rows: len(all), Figures: figures}
	b.Say("  %-52s %s", name, page.FiguresText(figures))
	return b.Book.Add(r)
}
