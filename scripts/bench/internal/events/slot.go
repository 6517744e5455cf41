package events

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"prescient/prescient"
	"prescient/prescient/event/broker"
	"prescient/prescient/event/forward"
	"prescient/prescient/schedule"
	"prescient/prescient/worker"

	"prescient/scripts/bench/internal/page"
	"prescient/scripts/bench/internal/rig"
)

// occurrences is how many fire in one slot.
const occurrences = 100_000

// slots measures a slot of occurrences, with and without a forwarder beside its slot run.
func (st *stage) slots(ctx context.Context, b *rig.Bench, round int, to *brokers) error {
	n := b.Scaled(occurrences)
	for _, beside := range []bool{false, true} {
		if !b.Wants("slot") {
			continue
		}
		if err := st.slot(ctx, b, round, n, beside, to.nats); err != nil {
			return err
		}
		for _, table := range []string{"schedule", "future_job"} {
			if _, err := st.Exec(ctx, "TRUNCATE TABLE "+table); err != nil {
				return err
			}
		}
		if err := st.empty(ctx); err != nil {
			return err
		}
	}
	return nil
}

// slot lets schedules fire in one slot, whose events go out at once, or not at all.
func (st *stage) slot(ctx context.Context, b *rig.Bench, round, n int, beside bool, to broker.Broker) error {
	schedules := schedule.New(st.client)
	slot := time.Now().UTC().Add(time.Duration(n)*300*time.Microsecond + 15*time.Second).Truncate(time.Minute).Add(time.Minute)
	if err := rig.InParallel(ctx, 4, (n+499)/500, func(ctx context.Context, part int) error {
		var some []schedule.Schedule
		for i := part * 500; i < min((part+1)*500, n); i++ {
			some = append(some, schedule.Schedule{ID: fmt.Sprintf("s%07d", i), Crontabs: []string{fmt.Sprintf("%d %d * * *", slot.Minute(), slot.Hour())}, Topic: topic, Payload: payload})
		}
		_, err := schedules.CreateMany(ctx, st.App, some)
		return err
	}); err != nil {
		return err
	}
	if err := st.AwaitCalm(ctx); err != nil {
		return err
	}
	if time.Until(slot) < time.Second {
		return fmt.Errorf("making %d schedules took too long: the slot of %s has come", n, slot)
	}
	registry := prescient.NewRegistry()
	if err := schedules.Register(registry); err != nil {
		return err
	}
	running, stop := context.WithTimeout(ctx, time.Until(slot)+5*time.Minute)
	defer stop()
	var fired, published atomic.Int64
	var lastFired, lastPublished atomic.Int64 // µs after the slot
	done := func() {
		if fired.Load() == int64(n) && (!beside || published.Load() == int64(n)) {
			stop()
		}
	}
	w, err := worker.New(ctx, st.DB, worker.Options{Registry: registry, Sweep: worker.Sweep{Every: -1}, Load: worker.Load{Pace: worker.PaceFull}, Observer: &worker.Observer{Answered: func(answers []worker.Result) {
		lastFired.Store(time.Since(slot).Microseconds())
		fired.Add(int64(len(answers)))
		done()
	}}})
	if err != nil {
		return err
	}
	ended := make(chan error, 1)
	if beside {
		f, err := st.forwarder(ctx, to, forward.Options{Taken: schedules.Outbox().Taken(), Observer: &forward.Observer{Published: func(_ string, delays []time.Duration) {
			lastPublished.Store(time.Since(slot).Microseconds())
			published.Add(int64(len(delays)))
			done()
		}}})
		if err != nil {
			return err
		}
		go func() { ended <- f.Run(running) }()
	} else {
		ended <- nil
	}
	if err := rig.Pause(ctx, time.Until(slot)-time.Second); err != nil {
		return err
	}
	before := rig.UsageNow(st.Pid)
	if err := w.Work(running); err != nil {
		return err
	}
	if err := <-ended; err != nil {
		return err
	}
	after := rig.UsageNow(st.Pid)
	if fired.Load() != int64(n) || beside && published.Load() != int64(n) {
		return fmt.Errorf("of %d occurrences %d were fired, and %d published", n, fired.Load(), published.Load())
	}
	r := page.Record{Case: "slot: occurrences into the outbox", Round: round, Rows: n, ClientCPU: after.Client - before.Client, ServerCPU: after.Server - before.Server,
		Seconds: float64(lastFired.Load()) / 1e6, Figures: map[string]float64{"last fired s after the slot": float64(lastFired.Load()) / 1e6}}
	if beside {
		r.Case = "slot: occurrences into the outbox and out to NATS"
		r.Figures["last acknowledged s after the slot"] = float64(lastPublished.Load()) / 1e6
	}
	b.Say("  %-52s %9d fired  CPU %.1f + %.1f µs each  %s", r.Case, n, r.ClientCPU*1e6/float64(n), r.ServerCPU*1e6/float64(n), page.FiguresText(r.Figures))
	return b.Book.Add(r)
}
