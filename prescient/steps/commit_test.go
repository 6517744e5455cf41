package steps_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/jmoiron/sqlx"

	"prescient/prescient"
	"prescient/prescient/internal/rig"
	"prescient/prescient/longrun"
	"prescient/prescient/steps"
)

// onceCommitted has each COMMIT of an effect be answered as committed says.
func onceCommitted(h *rig.Hooks, committed func() error) {
	var put atomic.Bool
	h.OnAnswer(func(statement string) error {
		switch {
		case strings.HasPrefix(statement, "INSERT INTO p_event_seen"):
			put.Store(true)
		case statement == "COMMIT" && put.Swap(false):
			return committed()
		}
		return nil
	})
}

// The effects of a step commit with its answer. Whatever its agent hears of that COMMIT, the step is not called again.
func TestAStepWhoseEffectsWereCommittedIsNotCalledAgain(t *testing.T) {
	const timeout = time.Second
	again := rig.At("12:20")
	for _, test := range []struct {
		name string
		// committed is called once the effects are, before the agent hears of it.
		committed func() error
		next      *time.Time
	}{
		{"its answer is lost", func() error { return mysql.ErrInvalidConn }, nil},
		{"it took longer than the step may", func() error { time.Sleep(2 * timeout); return nil }, nil},
		{"it took longer, and its answer is lost", func() error { time.Sleep(2 * timeout); return mysql.ErrInvalidConn }, nil},
		{"its answer is lost, which is a time", func() error { return mysql.ErrInvalidConn }, &again},
	} {
		t.Run(test.name, func(t *testing.T) {
			eachFlavour(t, func(t *testing.T, r *testRig) {
				r.create(job(func(j *steps.Job) {
					j.Crontabs = []string{"@hourly"}
					j.Steps[0] = steps.Step{Name: "first", JobExec: "puts", Timeout: timeout, Retries: 3, RetryWait: time.Millisecond}
				}))
				h := new(rig.Hooks)
				a := r.agentOn("a", r.HookedAs("worker", rig.At("12:00"), h), longrun.Options{})
				onceCommitted(h, test.committed)
				r.Must(a.registry.RegisterTx("puts", func(ctx context.Context, tx *sqlx.Tx, job prescient.FutureJob) (*time.Time, error) {
					_, err := tx.ExecContext(ctx, "INSERT INTO p_event_seen VALUES ('test', UUID(), UTC_TIMESTAMP(6))")
					return test.next, err
				}, prescient.Guards{}))
				a.slot("12:00:00")
				if test.next == nil {
					r.answers("second", prescient.Answer{})
					r.answers("third", prescient.Answer{})
					r.wantLog("12:00 v1 a done", "  1 first 1 a done", "  2 second 1 a done", "  3 third 1 a done")
				} else {
					r.wantLog("12:00 v1 a waiting", "  1 first 1 a again")
				}
				if n := r.Count("SELECT COUNT(*) FROM p_event_seen"); n != 1 {
					t.Errorf("%d effects", n)
				}
			})
		})
	}
}

// A step that is a long run goes on from what it has committed, although it never heard of that.
func TestACheckpointWhoseCommitWasNotAnsweredIsKept(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *testRig) {
		r.create(job(func(j *steps.Job) {
			j.Crontabs = []string{"@hourly"}
			j.Steps[0] = steps.Step{Name: "first", JobExec: "puts", Retries: 3, RetryWait: time.Millisecond}
		}))
		h := new(rig.Hooks)
		a := r.agentOn("a", r.HookedAs("worker", rig.At("12:00"), h), longrun.Options{})
		onceCommitted(h, func() error { return mysql.ErrInvalidConn })
		r.Must(a.runner.Register(a.registry, "puts", func(ctx context.Context, run *longrun.Run) (*time.Time, error) {
			if string(run.Checkpoint()) == "put" {
				return nil, nil
			}
			return nil, run.SaveTx(ctx, func(ctx context.Context, tx *sqlx.Tx) ([]byte, error) {
				_, err := tx.ExecContext(ctx, "INSERT INTO p_event_seen VALUES ('test', UUID(), UTC_TIMESTAMP(6))")
				return []byte("put"), err
			}, nil)
		}, prescient.Guards{}))
		a.slot("12:00:00")
		r.answers("second", prescient.Answer{})
		r.answers("third", prescient.Answer{})
		r.wantLog("12:00 v1 a done", "  1 first 1 a failed", "  1 first 2 a done", "  2 second 1 a done", "  3 third 1 a done")
		if n := r.Count("SELECT COUNT(*) FROM p_event_seen"); n != 1 {
			t.Errorf("%d effects", n)
		}
	})
}
