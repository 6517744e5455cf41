package longrun_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"prescient/prescient"
	"prescient/prescient/internal/rig"
)

// In one slot checks of every form say when to try again, or never. Those say so by the keys of their entities.
func TestInEveryFormAnErrorSaysWhenToTryAgainOrNever(t *testing.T) {
	runs(t, func(t *testing.T, r *testRig) {
		again, never := fmt.Errorf("busy: %w", prescient.Retry(100*time.Second)), fmt.Errorf("asked: %w", prescient.Final(errors.New("no such order")))
		says := func(job prescient.FutureJob) error {
			switch {
			case job.EntityKey == "never":
				return never
			case job.EntityKey == "again" && job.ErrorCount == 0:
				return again
			}
			return nil
		}
		did := func(ctx context.Context, tx *sqlx.Tx, job prescient.FutureJob) error {
			return puts(job.JobExec+" "+job.EntityKey)(ctx, tx)
		}
		each := func(batch *prescient.Batch, do func(prescient.FutureJob) error) {
			for i, job := range batch.Jobs() {
				if batch.Settle(i); says(job) != nil {
					batch.Fail(i, says(job))
				} else if err := do(job); err != nil {
					batch.Fail(i, err)
				}
			}
		}
		r.Must(errors.Join(
			r.registry.Register("row", func(_ context.Context, job prescient.FutureJob) (*time.Time, error) { return nil, says(job) }, prescient.Guards{}),
			r.registry.RegisterBatch("batch", func(_ context.Context, batch *prescient.Batch) error {
				each(batch, func(prescient.FutureJob) error { return nil })
				return nil
			}, prescient.Guards{}),
			r.registry.RegisterTx("tx", func(ctx context.Context, tx *sqlx.Tx, job prescient.FutureJob) (*time.Time, error) {
				return nil, errors.Join(did(ctx, tx, job), says(job))
			}, prescient.Guards{}),
			r.registry.RegisterTxBatch("tx-batch", func(ctx context.Context, tx *sqlx.Tx, batch *prescient.Batch) error {
				each(batch, func(job prescient.FutureJob) error { return did(ctx, tx, job) })
				return nil
			}, prescient.Guards{}),
			// A whole batch, which rolls all back where it is in a transaction: then none answers for another.
			r.registry.RegisterBatch("whole", func(context.Context, *prescient.Batch) error { return never }, prescient.Guards{}),
			r.registry.RegisterTxBatch("tx-whole", func(ctx context.Context, tx *sqlx.Tx, batch *prescient.Batch) (err error) {
				for i, job := range batch.Jobs() {
					err = errors.Join(err, did(ctx, tx, job), says(job))
					batch.Settle(i)
				}
				return err
			}, prescient.Guards{})))
		ends := make(map[string]prescient.Outcome)
		for _, exec := range []string{"row", "batch", "tx", "tx-batch", "whole", "tx-whole"} {
			for _, key := range []string{"again", "never", "fine"} {
				r.Insert(rig.At("11:59:30"), prescient.NewJob{Entity: prescient.Entity{Name: "order", Key: key}, JobExec: exec, DueAt: rig.At("12:00")})
				if ends[exec+" "+key] = prescient.Done; key == "never" || exec == "whole" {
					ends[exec+" "+key] = prescient.Failed
				}
			}
		}
		for _, key := range []string{"again", "never"} {
			r.insert("11:59:30", key, "12:00")
		}
		ends["export again"], ends["export never"] = prescient.Done, prescient.Failed

		figures := r.slot("12:00:00")
		if figures.Done != 5 || figures.Failed != 8 || figures.Moved != 5 {
			t.Errorf("%+v", figures)
		}
		r.answers("again", "12:00:05", prescient.Answer{Err: again})
		r.answers("never", "12:00:05", prescient.Answer{Err: never})
		left := r.Pending()
		for _, job := range left {
			if job.EntityKey != "again" || !job.NextCheckAt.Equal(rig.At("12:02")) || !job.DueAt.Equal(rig.At("12:00")) || job.ErrorCount != 1 || job.CheckCount != 0 ||
				job.LastError != again.Error() {
				t.Errorf("%s of %s waits for %s, after %d errors: %q", job.JobExec, job.EntityKey, job.NextCheckAt, job.ErrorCount, job.LastError)
			}
		}
		if len(left) != 6 {
			t.Errorf("%d wait; want one of each form, and the long run", len(left))
		}
		if n := r.Count("SELECT COUNT(*) FROM p_event_seen WHERE id NOT LIKE '%fine'"); n != 0 {
			t.Errorf("%d effects of calls that failed", n)
		}

		r.slot("12:02:00")
		r.answers("again", "12:02:05", prescient.Answer{})
		for _, end := range r.History() {
			name := end.JobExec + " " + end.EntityKey
			want := ""
			if ends[name] == prescient.Failed {
				want = never.Error()
			}
			if end.Outcome != ends[name] || end.Error != want || (end.ErrorCount != 0) != (want != "") {
				t.Errorf("%s ended as %s after %d errors: %q; want %s, %q", name, end.Outcome, end.ErrorCount, end.Error, ends[name], want)
			}
			delete(ends, name)
		}
		if len(ends) > 0 || len(r.Pending()) > 0 {
			t.Errorf("without an end: %v", ends)
		}
		if n := r.Count("SELECT COUNT(*) FROM p_event_seen"); n != 6 {
			t.Errorf("%d effects; want those of what is done, once each", n)
		}
		r.Balanced()
	})
}
