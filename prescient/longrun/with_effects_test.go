package longrun_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/jmoiron/sqlx"

	"prescient/prescient"
	"prescient/prescient/longrun"
	"prescient/prescient/schedule"
)

// puts is an effect in the database, where the account of a worker may write.
func puts(value string) func(ctx context.Context, tx *sqlx.Tx) error {
	return func(ctx context.Context, tx *sqlx.Tx) error {
		_, err := tx.ExecContext(ctx, "INSERT INTO p_event_seen VALUES ('test', ?, UTC_TIMESTAMP(6))", value)
		return err
	}
}

// effect has an effect, and the checkpoint that goes with it.
func effect(checkpoint string, do func(ctx context.Context, tx *sqlx.Tx) error) longrun.Effect {
	return func(ctx context.Context, tx *sqlx.Tx) ([]byte, error) { return []byte(checkpoint), do(ctx, tx) }
}

func TestEffectsCommitWithTheCheckpointOrNotAtAll(t *testing.T) {
	runs(t, func(t *testing.T, r *testRig) {
		r.insert("11:59:30", "a", "12:00")
		r.slot("12:00:00")
		first := r.forget("a").run
		effects := func(want int, checkpoint string) {
			r.T.Helper()
			if n := r.Count("SELECT COUNT(*) FROM p_event_seen"); n != want {
				r.T.Errorf("%d effects; want %d", n, want)
			}
			if n := r.Count("SELECT COUNT(*) FROM p_long_run WHERE checkpoint = ?", checkpoint); n != 1 || string(first.Checkpoint()) != checkpoint {
				r.T.Errorf("the checkpoint is %q; want %q", first.Checkpoint(), checkpoint)
			}
		}
		r.Must(first.SaveTx(t.Context(), effect("one", puts("before")), puts("after")))
		effects(2, "one")
		broken := errors.New("broken")
		fails := func(context.Context, *sqlx.Tx) error { return broken }
		for _, of := range [][2]func(context.Context, *sqlx.Tx) error{{fails, nil}, {puts("x"), fails}} {
			if err := first.SaveTx(t.Context(), effect("two", of[0]), of[1]); !errors.Is(err, broken) {
				t.Error(err)
			}
			effects(2, "one")
		}
		if err := first.SaveTx(t.Context(), effect(strings.Repeat("x", longrun.MaxCheckpoint+1), puts("x")), nil); !errors.Is(err, longrun.ErrCheckpoint) {
			t.Error(err)
		}
		r.slotOf(r.another("agent-2"), "agent-2", "12:01:30")
		second := r.running("a").run
		if err := first.SaveTx(t.Context(), effect("late", puts("late")), nil); !errors.Is(err, longrun.ErrLost) {
			t.Errorf("by an agent that lost the run: %v", err)
		}
		effects(2, "one")
		r.Must(second.SaveTx(t.Context(), effect("", puts("second")), nil))
		r.answers("a", "12:01:40", prescient.Answer{})
	})
}

func TestAPartOfARunHasACheckpointOfItsOwn(t *testing.T) {
	runs(t, func(t *testing.T, r *testRig) {
		r.insert("11:59:30", "a", "12:00")
		r.slot("12:00:00")
		whole := r.running("a").run
		job := prescient.FutureJob{EntityName: "step", JobExec: "x"}
		part := whole.Part(job, []byte("mine"), func(checkpoint []byte) ([]byte, error) { return fmt.Appendf(nil, "part: %s", checkpoint), nil })
		if string(part.Checkpoint()) != "mine" || part.Job().JobExec != "x" || part.Token() != whole.Token() || part.StartedAt() != whole.StartedAt() {
			t.Errorf("%q, %+v", part.Checkpoint(), part.Job())
		}
		r.Must(part.Save(t.Context(), []byte("one")))
		if string(whole.Checkpoint()) != "part: one" || string(part.Checkpoint()) != "one" {
			t.Errorf("%q, %q", whole.Checkpoint(), part.Checkpoint())
		}
		r.answers("a", "12:00:10", prescient.Answer{})
		if fn, _ := r.runner.Function("export"); fn == nil {
			t.Error("the function is not known")
		}
		if fn, _ := r.runner.Function("other"); fn != nil {
			t.Error("a function that was not registered is known")
		}
	})
}

// The books of a job_exec are written in the transaction of each end, whoever makes it.
func TestEveryEndIsToldInItsTransaction(t *testing.T) {
	runs(t, func(t *testing.T, r *testRig) {
		r.Must(r.runner.RegisterWithEnds(r.registry, "told", r.called, prescient.Guards{MaxErrors: prescient.None}, func(ctx context.Context, db prescient.DB, ended []longrun.Ended) error {
			for _, e := range ended {
				if _, err := db.ExecContext(ctx, "INSERT INTO p_event_seen VALUES ('test', ?, UTC_TIMESTAMP(6))", fmt.Sprintf("%s %s %s %s %s", nameOf(e.Job), e.Outcome, e.Reason, e.At.Format("15:04"), e.Agent)); err != nil {
					return err
				}
			}
			return nil
		}))
		told := func(want ...string) {
			r.T.Helper()
			for _, one := range want {
				r.Eventually(one, func() bool { return r.Count("SELECT COUNT(*) FROM p_event_seen WHERE id LIKE ?", "%"+one+"%") == 1 })
			}
			if n := r.Count("SELECT COUNT(*) FROM p_event_seen"); n != len(want) {
				r.T.Errorf("%d were told; want %d", n, len(want))
			}
		}
		r.create("11:59:30", schedule.Schedule{ID: "s", Crontabs: []string{"* * * * *"}, JobExec: "told", Long: true, Quota: schedule.NoQuota})
		r.slot("12:00:00")
		r.slot("12:01:00") // the run before it is under way
		told("s 12:01:00 overlapped")
		r.answers("s 12:00:00", "12:01:10", prescient.Answer{})
		told("s 12:01:00 overlapped", "s 12:00:00 done  12:01 agent-1")
		r.slot("12:02:00")
		r.forget("s 12:02:00")
		r.slot("12:03:30") // it lapsed, and may not be tried again
		told("s 12:01:00 overlapped", "s 12:00:00 done", "s 12:02:00 crashed")
		if n := r.Count("SELECT COUNT(*) FROM p_job_history WHERE job_exec = 'told'"); n < 3 {
			t.Errorf("%d ends in history", n)
		}
	})
}
