package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"prescient/prescient"
	"prescient/prescient/worker"

	"prescient/scripts/bench/internal/page"
	"prescient/scripts/bench/internal/rig"
	"prescient/scripts/bench/internal/slotrun"
)

var latenessSection = rig.Section{
	Name: "lateness",
	About: "a worker that is up when the slot comes: how long after the slot a row's call starts, and its end is committed; " +
		"and with one slow job_exec (a row in a hundred, 100 ms each) among the fast ones",
	Run: func(ctx context.Context, b *rig.Bench, s *rig.Server) error {
		for _, due := range []int{b.Scaled(10_000), b.Scaled(100_000), b.Scaled(1_000_000)} {
			if err := measureLateness(ctx, b, s, due, "one", "batch"); err != nil {
				return err
			}
		}
		return measureLateness(ctx, b, s, b.Scaled(100_000), "one slow among fast")
	},
}

// latenessSlots is the resolution of the section, in which a worker waits for the next slot.
const latenessSlots = 5 * time.Second

// slowExec is the job_exec that takes its time.
const slowExec = "slow"

// measureLateness measures at one number of due rows.
func measureLateness(ctx context.Context, b *rig.Bench, s *rig.Server, due int, forms ...string) error {
	p, err := s.Install(ctx, "lateness", latenessSlots, false)
	if err != nil {
		return err
	}
	if !b.Keep {
		defer p.Drop(ctx)
	}
	if err := p.MakeNumbers(ctx, due); err != nil {
		return err
	}
	took := 200*time.Millisecond + time.Duration(due)*20*time.Microsecond // of the fill, to begin with
	for round := 1; round <= b.Rounds; round++ {
		for _, form := range forms {
			if took, err = lateSlot(ctx, b, p, round, due, form, took); err != nil {
				return fmt.Errorf("%s, %d due: %w", form, due, err)
			}
		}
	}
	return nil
}

// lateSlot fills a slot that is to come, and lets a worker wait for it. It is told how long the fill may take, and
// returns how long it took.
func lateSlot(ctx context.Context, b *rig.Bench, p *rig.Place, round, due int, form string, fill time.Duration) (time.Duration, error) {
	exec := strconv.Quote(rig.DueExec)
	if form != "one" && form != "batch" {
		exec = fmt.Sprintf("IF(n %% 100 = 0, %q, %q)", slowExec, rig.DueExec)
	}
	slot, fill, err := rig.SlotFill{Every: latenessSlots, Due: due, Exec: exec,
		Empty: func(ctx context.Context) error {
			for _, table := range []string{"future_job", "job_history", "slot_run"} {
				if _, err := p.Exec(ctx, "TRUNCATE TABLE "+table); err != nil {
					return err
				}
			}
			return p.AwaitCalm(ctx)
		}}.Fill(ctx, p, fill)
	if err != nil {
		return fill, err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	seen := &lates{all: due, done: stop, of: make(map[string]*late)}
	worker, err := worker.New(ctx, p.DB, worker.Options{Registry: lateRegistry(form), Sweep: worker.Sweep{Every: -1}, Load: worker.Load{Pace: worker.PaceFull},
		Observer: &worker.Observer{Answered: seen.answered}})
	if err != nil {
		return fill, err
	}
	limit := time.AfterFunc(time.Until(slot)+5*time.Minute, stop)
	defer limit.Stop()
	if err := worker.Work(ctx); err != nil {
		return fill, err
	}
	if seen.all != 0 {
		return fill, fmt.Errorf("%d rows were not done", seen.all)
	}
	for _, exec := range []string{rig.DueExec, slowExec} {
		l := seen.of[exec]
		if l == nil {
			continue
		}
		name := fmt.Sprintf("prescient, %s handler, %s due", form, page.Short(float64(due)))
		if form != "one" && form != "batch" {
			name = fmt.Sprintf("prescient, %s: %s, %s due", form, map[string]string{rig.DueExec: "the fast", slowExec: "the slow"}[exec], page.Short(float64(due)))
		}
		r := page.Record{Case: name, Round: round, Rows: len(l.start), Figures: l.figures()}
		b.Say("  %-52s %s", name, page.FiguresText(r.Figures))
		if err := b.Book.Add(r); err != nil {
			return fill, err
		}
	}
	return fill, nil
}

func lateRegistry(form string) *prescient.Registry {
	l := slotrun.Workload{Form: form}
	if form != "one" && form != "batch" {
		l.Form = "one"
	}
	r := l.Registry(nil)
	if err := r.Register(slowExec, func(ctx context.Context, _ prescient.FutureJob) (*time.Time, error) {
		return nil, rig.Pause(ctx, 100*time.Millisecond)
	}, prescient.Guards{}); err != nil {
		panic(err)
	}
	return r
}

// lates collects when rows were started and ended, by job_exec.
type lates struct {
	mu   sync.Mutex
	all  int // those still to come
	done func()
	of   map[string]*late
}

// late is of one job_exec: time after the slot, in ms.
type late struct{ start, end []float64 }

// answered implements the function of worker.Observer: it is called when the ends are committed.
func (s *lates) answered(answers []worker.Result) {
	now := time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, a := range answers {
		l := s.of[a.Job.JobExec]
		if l == nil {
			l = new(late)
			s.of[a.Job.JobExec] = l
		}
		l.start = append(l.start, a.Lateness.Seconds()*1000)
		l.end = append(l.end, now.Sub(a.Job.NextCheckAt).Seconds()*1000)
	}
	if s.all -= len(answers); s.all == 0 {
		s.done()
	}
}

func (l *late) figures() map[string]float64 {
	figures := make(map[string]float64)
	for name, list := range map[string][]float64{"start": l.start, "end": l.end} {
		slices.Sort(list)
		figures[name+" ms p50"], figures[name+" ms p99"], figures[name+" ms max"] = page.Percentile(list, 50), page.Percentile(list, 99), page.Percentile(list, 100)
	}
	return figures
}
