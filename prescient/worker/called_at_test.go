package worker

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"prescient/prescient"
	"prescient/prescient/internal/rig"
)

// The clock of the machine is days off. Handlers of each form are told when they are called by the database's.
func TestAJobExecIsToldWhenItIsCalledByTheDatabasesClock(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		told := make(chan prescient.FutureJob, 8)
		execs := prescient.NewRegistry()
		execs.MustRegister("each", func(_ context.Context, job prescient.FutureJob) (*time.Time, error) {
			told <- job
			return prescient.At(job.CalledAt.Add(2 * time.Hour)), nil
		}, prescient.Guards{})
		r.Must(execs.RegisterBatch("batch", func(_ context.Context, b *prescient.Batch) error {
			told <- b.Jobs()[0]
			b.Next(0, b.Jobs()[0].CalledAt.Add(2*time.Hour))
			return nil
		}, prescient.Guards{}))
		r.Must(execs.RegisterTx("tx", func(_ context.Context, _ *sqlx.Tx, job prescient.FutureJob) (*time.Time, error) {
			told <- job
			return prescient.At(job.CalledAt.Add(2 * time.Hour)), nil
		}, prescient.Guards{}))
		r.Must(execs.RegisterTxBatch("tx-batch", func(_ context.Context, _ *sqlx.Tx, b *prescient.Batch) error {
			told <- b.Jobs()[0]
			b.Next(0, b.Jobs()[0].CalledAt.Add(2*time.Hour))
			return nil
		}, prescient.Guards{}))
		for _, name := range execs.Names() {
			r.Insert(rig.At("13:00"), prescient.NewJob{Entity: prescient.Entity{Name: "order", Key: name}, JobExec: name, DueAt: rig.At("13:15")})
		}
		if figures := r.runAt(rig.At("13:16"), execs, Options{}); figures.Moved != 4 {
			t.Fatalf("%+v", figures)
		}
		close(told)
		n := 0
		for job := range told {
			n++
			if job.CalledAt.Before(rig.At("13:16")) || job.CalledAt.After(rig.At("13:17")) || job.CalledAt.Location() != time.UTC {
				t.Errorf("%s was told that it is called at %s", job.JobExec, job.CalledAt)
			}
		}
		if n != 4 {
			t.Errorf("%d were called", n)
		}
		for _, job := range r.Pending() {
			if !job.NextCheckAt.Equal(rig.At("15:30")) || !job.CalledAt.IsZero() {
				t.Errorf("%s goes on at %s, called at %s", job.JobExec, job.NextCheckAt, job.CalledAt)
			}
		}
	})
}

// One call that is tried again, put off or rolled forward is one occasion; an answer, another time or another row is another.
func TestTheIdempotencyKeyStaysUntilThereIsAnAnswer(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		order := prescient.Entity{Name: "order", Key: "42"}
		var key string
		var answer func(prescient.FutureJob) (*time.Time, error)
		execs := rig.Registry("check", func(_ context.Context, job prescient.FutureJob) (*time.Time, error) {
			key = job.IdempotencyKey()
			return answer(job)
		}, prescient.Guards{Timeout: time.Second})
		call := func(clock string) string {
			t.Helper()
			key = "none"
			_, err := r.worker(rig.At(clock), execs, Options{}).Run(t.Context())
			r.Must(err)
			return key
		}
		fail := func(prescient.FutureJob) (*time.Time, error) { return nil, errors.New("no answer after 10 s") }
		r.Insert(rig.At("13:00"), prescient.NewJob{Entity: order, JobExec: "check", DueAt: rig.At("13:05")})
		answer = fail
		first := call("13:15:01")
		if again := call("13:30:01"); again != first {
			t.Errorf("after an error: %s, then %s", first, again)
		}
		rolled, err := r.worker(rig.At("14:16"), execs, Options{}).RollForward(t.Context(), nil)
		if err != nil || rolled.Moved != 1 {
			t.Fatalf("%+v, %v", rolled, err)
		}
		answer = func(job prescient.FutureJob) (*time.Time, error) {
			return prescient.At(job.DueAt), prescient.ErrTimeout
		}
		if again := call("14:30:01"); again != first {
			t.Errorf("rolled forward: %s, then %s", first, again)
		}
		seen := map[string]string{first: "the first"}
		another := func(what, key string) {
			t.Helper()
			if was := seen[key]; was != "" || key == "none" {
				t.Errorf("%s has the key of %s: %s", what, was, key)
			}
			seen[key] = what
		}
		// The second error in a row waited for two slots, the third does for four.
		answer = func(prescient.FutureJob) (*time.Time, error) { return prescient.At(rig.At("15:45")), nil }
		if again := call("15:30:01"); again != first {
			t.Errorf("after a timeout: %s, then %s", first, again)
		}
		answer = fail
		another("what follows an answer", call("15:45:01"))
		_, err = r.Client.Reschedule(t.Context(), r.AppAs("app-reschedule", rig.At("15:46")), order, "check", "", rig.At("16:15"))
		r.Must(err)
		another("another time", call("16:15:01"))
		r.Insert(rig.At("16:16"), prescient.NewJob{Entity: order, JobExec: "check", DueAt: rig.At("16:15"), OnPending: prescient.Replace})
		another("another row", call("16:30:01"))
	})
}
