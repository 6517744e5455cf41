package worker

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/client"
	"prescient/prescient/internal/rig"
	"prescient/prescient/worker/books"
)

// What the app commits while a job_exec runs is never overwritten, and nothing comes back to life.
func TestTheAppWinsOverARunningJobExec(t *testing.T) {
	t.Parallel()
	order := prescient.Entity{Name: "order", Key: "42"}
	job := prescient.NewJob{Entity: order, JobExec: "check", DueAt: rig.At("13:15")}
	cases := map[string]struct {
		meanwhile func(t *testing.T, r *testRig) // while the job_exec runs
		answer    *time.Time
		outcomes  map[prescient.Outcome]int
		pending   string // slot of the row that is there afterwards
		needs     rig.Capability
	}{
		"a cancel, and the job_exec is done": {
			meanwhile: func(t *testing.T, r *testRig) { r.Cancels(t, order) },
			outcomes:  map[prescient.Outcome]int{prescient.Cancelled: 1},
		},
		"a cancel, and the job_exec wants to go on": {
			meanwhile: func(t *testing.T, r *testRig) { r.Cancels(t, order) },
			answer:    prescient.At(rig.At("14:00")), outcomes: map[prescient.Outcome]int{prescient.Cancelled: 1},
		},
		"a cancel and a new insert for the same slot": {
			meanwhile: func(t *testing.T, r *testRig) {
				r.Cancels(t, order)
				_, err := r.Root.Exec(`INSERT INTO p_future_job (entity_name, entity_key, job_exec, due_at) VALUES ('order', '42', 'check', ?)`, "2026-11-20 13:15:00")
				r.Must(err)
			},
			outcomes: map[prescient.Outcome]int{prescient.Cancelled: 1}, pending: "13:15", needs: rig.ColumnDefaults,
		},
		"a reschedule, and the job_exec is done": {
			meanwhile: func(t *testing.T, r *testRig) {
				_, err := r.Client.Reschedule(t.Context(), r.AppAt(rig.At("13:15:02")), order, "check", "", rig.At("15:00"))
				r.Must(err)
			},
			pending: "15:00",
		},
		"a reschedule, and the job_exec wants to go on": {
			meanwhile: func(t *testing.T, r *testRig) {
				_, err := r.Client.Reschedule(t.Context(), r.AppAt(rig.At("13:15:02")), order, "check", "", rig.At("15:00"))
				r.Must(err)
			},
			answer: prescient.At(rig.At("14:00")), pending: "15:00",
		},
		"a replace": {
			meanwhile: func(t *testing.T, r *testRig) {
				r.Insert(rig.At("13:15:02"), prescient.NewJob{Entity: order, JobExec: "check", DueAt: rig.At("16:00"), OnPending: prescient.Replace})
			},
			pending: "16:00",
		},
		// The row whose check is running settles the old request, not the new one.
		"a keep, which leaves a row behind": {
			meanwhile: func(t *testing.T, r *testRig) {
				if did := r.Insert(rig.At("13:15:02"), prescient.NewJob{Entity: order, JobExec: "check", DueAt: rig.At("16:00")}); did.Did != client.DidReplace {
					t.Errorf("did %+v; want it replaced", did)
				}
			},
			pending: "16:00",
		},
	}
	eachServer(t, func(t *testing.T, r *testRig) {
		for name, c := range cases {
			t.Run(name, func(t *testing.T) {
				r.Needs(t, c.needs)
				defer r.unrun()
				r.Insert(rig.At("13:00"), job)
				calls := 0
				execs := rig.Registry("check", func(context.Context, prescient.FutureJob) (*time.Time, error) {
					calls++
					c.meanwhile(t, r)
					return c.answer, nil
				}, prescient.Guards{})
				figures := r.runAt(rig.At("13:15:01"), execs, Options{})
				if figures.Dropped != 1 || figures.Rows() != 0 || calls != 1 {
					t.Errorf("figures: %+v after %d calls; want one answer dropped", figures, calls)
				}
				left := r.Pending()
				switch {
				case c.pending == "" && len(left) != 0:
					t.Errorf("pending: %+v; want nothing", left)
				case c.pending != "" && (len(left) != 1 || !left[0].NextCheckAt.Equal(rig.At(c.pending)) || left[0].CheckCount != 0):
					t.Errorf("pending: %+v; want one row at %s", left, c.pending)
				}
				got := map[prescient.Outcome]int{}
				for _, end := range r.History() {
					got[end.Outcome]++
				}
				if fmt.Sprint(got) != fmt.Sprint(c.outcomes) && len(got)+len(c.outcomes) > 0 {
					t.Errorf("history: %v; want %v", got, c.outcomes)
				}
				r.Balanced()
			})
		}
	})
}

func TestAJobExecMayCancelTheOtherChecksOfItsEntity(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		order := prescient.Entity{Name: "order", Key: "42"}
		for _, exec := range []string{"first", "second", "third"} {
			r.Insert(rig.At("13:00"), prescient.NewJob{Entity: order, JobExec: exec, DueAt: rig.At("13:15")})
		}
		execs := prescient.NewRegistry()
		var others atomic.Int32
		other := func(context.Context, prescient.FutureJob) (*time.Time, error) {
			others.Add(1)
			return nil, nil
		}
		execs.MustRegister("first", func(ctx context.Context, job prescient.FutureJob) (*time.Time, error) {
			_, err := r.Client.Cancel(ctx, r.App, job.Entity(), "second", "third")
			return nil, err
		}, prescient.Guards{})
		execs.MustRegister("second", other, prescient.Guards{})
		execs.MustRegister("third", other, prescient.Guards{})
		r.runAt(rig.At("13:15:01"), execs, Options{})
		got := map[string]prescient.Outcome{}
		for _, end := range r.History() {
			got[end.JobExec] = end.Outcome
		}
		if got["first"] != prescient.Done || got["second"] != prescient.Cancelled || got["third"] != prescient.Cancelled || len(got) != 3 {
			t.Errorf("ends: %v (%d of the others had been called)", got, others.Load())
		}
		if left := r.Pending(); len(left) != 0 {
			t.Errorf("pending: %+v", left)
		}
	})
}

// Between the look at the rows that ended and their DELETE, another row is inserted, or moved, right among them.
func TestARowThatComesIntoTheRangeDuringACommitIsNotLost(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.ColumnDefaults)
		for i := range 50 {
			r.Insert(rig.At("13:00"), prescient.NewJob{Entity: prescient.Entity{Name: "order", Key: fmt.Sprint(i)}, JobExec: "check", DueAt: rig.At("13:15")})
		}
		r.Insert(rig.At("13:00"), prescient.NewJob{Entity: prescient.Entity{Name: "order", Key: "moved"}, JobExec: "check", DueAt: rig.At("18:00")})
		var h rig.Hooks
		h.Once("INTO p_job_history", func() {
			_, err := r.Root.Exec(`INSERT INTO p_future_job (entity_name, entity_key, job_exec, due_at) VALUES ('order', 'inserted', 'check', '2026-11-20 13:15:00')`)
			r.Must(err)
			n, err := r.Root.Exec(`UPDATE p_future_job SET next_check_at = '2026-11-20 13:15:00', revision = revision + 1
				WHERE next_check_at = '2026-11-20 18:00:00' AND job_key = ?`, rig.KeyBytes(prescient.KeyOf(prescient.Entity{Name: "order", Key: "moved"}, "check", "")))
			r.Must(err)
			if n, _ := n.RowsAffected(); n != 1 {
				t.Error("nothing was moved")
			}
		})
		execs := rig.Registry("check", func(context.Context, prescient.FutureJob) (*time.Time, error) { return nil, nil }, prescient.Guards{})
		figures, err := r.hookedWorker(rig.At("13:15:01"), &h, execs, Options{}).Run(t.Context())
		r.Must(err)
		if figures.Done != 50 || len(r.Pending()) != 2 || len(r.History()) != 50 {
			t.Fatalf("figures %+v, pending %d, history %d; want 50, 2, 50", figures, len(r.Pending()), len(r.History()))
		}
		_, err = r.worker(rig.At("13:30:11"), execs, Options{}).Sweep(t.Context())
		r.Must(err)
		if len(r.Pending()) != 0 || len(r.History()) != 52 {
			t.Errorf("pending %d, history %d; want 0, 52", len(r.Pending()), len(r.History()))
		}
		r.Balanced()
	})
}

// An app that holds one row of a batch in an open transaction does not hold up the rest; its row follows when it lets
// go, without another call.
func TestAnOpenAppTransactionOnOneRowDoesNotHoldUpTheBatch(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		const rows = 40
		for i := range rows {
			r.Insert(rig.At("13:00"), prescient.NewJob{Entity: prescient.Entity{Name: "order", Key: fmt.Sprint(i)}, JobExec: "check", DueAt: rig.At("13:15")})
		}
		tx, err := r.App.Begin()
		r.Must(err)
		var key string
		r.Must(tx.QueryRow("SELECT entity_key FROM p_future_job WHERE next_check_at = '2026-11-20 13:15:00' AND job_key = ? FOR UPDATE",
			rig.KeyBytes(prescient.KeyOf(prescient.Entity{Name: "order", Key: "7"}, "check", ""))).Scan(&key))
		var calls atomic.Int32
		execs := rig.Registry("check", func(_ context.Context, job prescient.FutureJob) (*time.Time, error) {
			calls.Add(1)
			if job.EntityKey == "8" {
				return prescient.At(rig.At("14:00")), nil
			}
			return nil, nil
		}, prescient.Guards{})
		w := r.worker(rig.At("13:15:01"), execs, Options{})
		done := make(chan error)
		go func() {
			_, err := w.Run(context.WithoutCancel(t.Context()))
			done <- err
		}()
		r.Eventually("all but the two rows are in history", func() bool { return r.Count(rig.CountEnded) == rows-2 })
		r.Must(tx.Rollback())
		r.Must(<-done)
		if len(r.History()) != rows-1 || len(r.Pending()) != 1 || calls.Load() != rows {
			t.Errorf("history %d, pending %d, calls %d; want %d, 1, %d", len(r.History()), len(r.Pending()), calls.Load(), rows-1, rows)
		}
		r.Balanced()
	})
}

// A claimant that is paused for longer than its lease, while another takes the bucket over, never passes the fence.
func TestAPausedClaimantNeverPassesTheFence(t *testing.T) {
	t.Parallel()
	eachServerAt(t, time.Second, func(t *testing.T, r *testRig) {
		slot := r.InsertDue(10)
		var h rig.Hooks
		paused, resume := make(chan struct{}), make(chan struct{})
		h.Once("batch_seq = batch_seq + 1", func() {
			close(paused)
			<-resume
		})
		execs := rig.Registry("check", func(context.Context, prescient.FutureJob) (*time.Time, error) { return nil, nil }, prescient.Guards{})
		options := Options{Times: Times{Lease: 2 * time.Second}, Name: "paused"}
		first := r.hookedWorker(time.Time{}, &h, execs, options)
		done := make(chan books.Figures)
		go func() {
			figures, err := first.runSlot(context.WithoutCancel(t.Context()), slot, runOptions{parallel: 1})
			if err != nil {
				t.Error(err)
			}
			done <- figures
		}()
		<-paused
		// The renewals are stopped too, as in a frozen process.
		h.OnStatement(func(statement string) error {
			<-resume
			return nil
		})
		second := r.worker(time.Time{}, execs, Options{Times: Times{Lease: 2 * time.Second}, Name: "thief"})
		took, err := second.runSlot(t.Context(), slot, runOptions{parallel: 1, stay: true})
		r.Must(err)
		close(resume)
		lost := <-done
		if took.Done != 10 || took.Takeovers != 1 || lost.Rows() != 0 || lost.LeasesLost != 1 {
			t.Errorf("the thief: %+v; the paused: %+v", took, lost)
		}
		if len(r.History()) != 10 {
			t.Errorf("%d ends; want 10", len(r.History()))
		}
		r.Balanced()
	})
}

// The answer to a COMMIT is lost: whether it was done is looked up, not guessed.
func TestAnUnknownCommitIsResolvedByTheLedger(t *testing.T) {
	t.Parallel()
	lost := rig.ErrConnection
	cases := map[string]func(h *rig.Hooks){
		"it was done": func(h *rig.Hooks) {
			h.OnAnswer(rig.FirstTime("COMMIT", lost))
		},
		"it was not done": func(h *rig.Hooks) {
			h.OnStatement(rig.FirstTime("COMMIT", lost))
		},
	}
	eachServer(t, func(t *testing.T, r *testRig) {
		for name, fail := range cases {
			t.Run(name, func(t *testing.T) {
				defer r.unrun()
				for i := range 10 {
					r.Insert(rig.At("13:00"), prescient.NewJob{Entity: prescient.Entity{Name: "order", Key: fmt.Sprint(i)}, JobExec: "check", DueAt: rig.At("13:15")})
				}
				var calls atomic.Int32
				execs := rig.Registry("check", func(context.Context, prescient.FutureJob) (*time.Time, error) {
					calls.Add(1)
					return nil, nil
				}, prescient.Guards{})
				var h rig.Hooks
				fail(&h)
				w := r.hookedWorker(rig.At("13:15:01"), &h, execs, Options{})
				figures, err := w.Run(t.Context())
				if err != nil || figures.Done != 10 || calls.Load() != 10 || len(r.History()) != 10 {
					t.Errorf("figures %+v, %d calls, %d ends, %v; want 10 of each", figures, calls.Load(), len(r.History()), err)
				}
				r.Balanced()
			})
		}
	})
}
