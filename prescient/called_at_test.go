package prescient

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
)

// The clock of the machine is days off. Handlers of each form are told when they are called by the database's.
func TestAJobExecIsToldWhenItIsCalledByTheDatabasesClock(t *testing.T) {
	eachServer(t, func(t *testing.T, r *rig) {
		told := make(chan FutureJob, 8)
		execs := NewRegistry()
		execs.MustRegister("each", func(_ context.Context, job FutureJob) (*time.Time, error) {
			told <- job
			return At(job.CalledAt.Add(2 * time.Hour)), nil
		}, Guards{})
		r.must(execs.RegisterBatch("batch", func(_ context.Context, b *Batch) error {
			told <- b.Jobs()[0]
			b.Next(0, b.Jobs()[0].CalledAt.Add(2*time.Hour))
			return nil
		}, Guards{}))
		r.must(execs.RegisterTx("tx", func(_ context.Context, _ *sqlx.Tx, job FutureJob) (*time.Time, error) {
			told <- job
			return At(job.CalledAt.Add(2 * time.Hour)), nil
		}, Guards{}))
		r.must(execs.RegisterTxBatch("tx-batch", func(_ context.Context, _ *sqlx.Tx, b *Batch) error {
			told <- b.Jobs()[0]
			b.Next(0, b.Jobs()[0].CalledAt.Add(2*time.Hour))
			return nil
		}, Guards{}))
		for _, name := range execs.Names() {
			r.insert(at("13:00"), NewJob{Entity: Entity{"order", name}, JobExec: name, DueAt: at("13:15")})
		}
		if figures := r.runAt(at("13:16"), execs, WorkerOptions{}); figures.Moved != 4 {
			t.Fatalf("%+v", figures)
		}
		close(told)
		n := 0
		for job := range told {
			n++
			if job.CalledAt.Before(at("13:16")) || job.CalledAt.After(at("13:17")) || job.CalledAt.Location() != time.UTC {
				t.Errorf("%s was told that it is called at %s", job.JobExec, job.CalledAt)
			}
		}
		if n != 4 {
			t.Errorf("%d were called", n)
		}
		for _, job := range r.pending() {
			if !job.NextCheckAt.Equal(at("15:30")) || !job.CalledAt.IsZero() {
				t.Errorf("%s goes on at %s, called at %s", job.JobExec, job.NextCheckAt, job.CalledAt)
			}
		}
	})
}

// One call that is tried again, put off or rolled forward is one occasion; an answer, another time or another row is another.
func TestTheIdempotencyKeyStaysUntilThereIsAnAnswer(t *testing.T) {
	eachServer(t, func(t *testing.T, r *rig) {
		order := Entity{"order", "42"}
		var key string
		var answer func(FutureJob) (*time.Time, error)
		execs := registry("check", func(_ context.Context, job FutureJob) (*time.Time, error) {
			key = job.IdempotencyKey()
			return answer(job)
		}, Guards{Timeout: time.Second})
		call := func(clock string) string {
			t.Helper()
			key = "none"
			_, err := r.worker(at(clock), execs, WorkerOptions{}).Run(t.Context())
			r.must(err)
			return key
		}
		fail := func(FutureJob) (*time.Time, error) { return nil, errors.New("no answer after 10 s") }
		r.insert(at("13:00"), NewJob{Entity: order, JobExec: "check", DueAt: at("13:05")})
		answer = fail
		first := call("13:15:01")
		if again := call("13:30:01"); again != first {
			t.Errorf("after an error: %s, then %s", first, again)
		}
		rolled, err := r.worker(at("14:16"), execs, WorkerOptions{}).RollForward(t.Context(), nil)
		if err != nil || rolled.Moved != 1 {
			t.Fatalf("%+v, %v", rolled, err)
		}
		answer = func(job FutureJob) (*time.Time, error) { return At(job.DueAt), ErrTimeout }
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
		answer = func(FutureJob) (*time.Time, error) { return At(at("15:45")), nil }
		if again := call("15:30:01"); again != first {
			t.Errorf("after a timeout: %s, then %s", first, again)
		}
		answer = fail
		another("what follows an answer", call("15:45:01"))
		_, err = r.client.Reschedule(t.Context(), r.appAs("app-reschedule", at("15:46")), order, "check", "", at("16:15"))
		r.must(err)
		another("another time", call("16:15:01"))
		r.insert(at("16:16"), NewJob{Entity: order, JobExec: "check", DueAt: at("16:15"), OnPending: Replace})
		another("another row", call("16:30:01"))
	})
}
