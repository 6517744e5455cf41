package events

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/jmoiron/sqlx"

	"prescient/prescient"
	"prescient/prescient/event"
	"prescient/prescient/worker"

	"prescient/scripts/bench/internal/page"
	"prescient/scripts/bench/internal/rig"
)

// answering is how many checks end in one slot.
const answering = 50_000

// answers measures what the outbox costs a slot run: checks that end, alone, and with an event each in the same transaction.
func (st *stage) answers(ctx context.Context, b *rig.Bench, round int, _ *brokers) error {
	n := b.Scaled(answering)
	for _, with := range []bool{false, true} {
		if !b.Wants("answers") {
			continue
		}
		if err := st.answered(ctx, b, round, n, with); err != nil {
			return err
		}
		if err := st.empty(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (st *stage) answered(ctx context.Context, b *rig.Bench, round, n int, with bool) error {
	var due time.Time
	if err := st.DB.GetContext(ctx, &due, "SELECT UTC_TIMESTAMP(6)"); err != nil {
		return err
	}
	jobs := make([]prescient.NewJob, n)
	for i := range jobs {
		jobs[i] = prescient.NewJob{Entity: prescient.Entity{Name: "order", Key: fmt.Sprintf("%d-%t-%d", round, with, i)}, JobExec: "late", DueAt: due}
	}
	if _, err := st.client.InsertMany(ctx, st.App, jobs); err != nil {
		return err
	}
	if err := st.AwaitCalm(ctx); err != nil {
		return err
	}
	registry := prescient.NewRegistry()
	if err := registry.RegisterTxBatch("late", func(ctx context.Context, tx *sqlx.Tx, batch *prescient.Batch) error {
		events := make([]event.Event, 0, len(batch.Jobs()))
		for i, job := range batch.Jobs() {
			events = append(events, event.Event{ID: event.IDOf(job), Topic: topic, Key: job.Entity().String(), Payload: payload})
			batch.Settle(i)
		}
		if !with {
			return nil
		}
		return st.outbox.Publish(ctx, tx, events...)
	}, prescient.Guards{}); err != nil {
		return err
	}
	var ended atomic.Int64
	running, stop := context.WithTimeout(ctx, 5*time.Minute)
	defer stop()
	w, err := worker.New(ctx, st.DB, worker.Options{Registry: registry, Sweep: worker.Sweep{Every: -1}, Load: worker.Load{Pace: worker.PaceFull}, Observer: &worker.Observer{Answered: func(answers []worker.Result) {
		if ended.Add(int64(len(answers))) == int64(n) {
			stop()
		}
	}}})
	if err != nil {
		return err
	}
	name := "answers: checks that end in a TxBatchFunc"
	if with {
		name += ", with an event each"
	}
	slot := due.Truncate(slotLength).Add(slotLength)
	if err := rig.Pause(ctx, time.Until(slot)-time.Second); err != nil {
		return err
	}
	before := rig.UsageNow(st.Pid)
	if err := w.Work(running); err != nil {
		return err
	}
	after := rig.UsageNow(st.Pid)
	if ended.Load() != int64(n) {
		return fmt.Errorf("of %d checks %d have ended", n, ended.Load())
	}
	r := page.Record{Case: name, Round: round, Rows: n, Seconds: time.Since(slot).Seconds(), ClientCPU: after.Client - before.Client, ServerCPU: after.Server - before.Server}
	b.Say("  %-52s %9d ended  CPU %.1f + %.1f µs each  %.2f s after the slot", r.Case, n, r.ClientCPU*1e6/float64(n), r.ServerCPU*1e6/float64(n), r.Seconds)
	return b.Book.Add(r)
}
