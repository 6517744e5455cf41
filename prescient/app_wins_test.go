package prescient

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"
)

// What the app commits while a job_exec runs is never overwritten, and nothing comes back to life.
func TestTheAppWinsOverARunningJobExec(t *testing.T) {
	order := Entity{"order", "42"}
	job := NewJob{Entity: order, JobExec: "check", DueAt: at("13:15")}
	for name, c := range map[string]struct {
		meanwhile func(t *testing.T, r *rig) // while the job_exec runs
		answer    *time.Time
		outcomes  map[Outcome]int
		pending   string // slot of the row that is there afterwards
		needs     capability
	}{
		"a cancel, and the job_exec is done": {
			meanwhile: func(t *testing.T, r *rig) { cancels(t, r, order) },
			outcomes:  map[Outcome]int{Cancelled: 1},
		},
		"a cancel, and the job_exec wants to go on": {
			meanwhile: func(t *testing.T, r *rig) { cancels(t, r, order) },
			answer:    At(at("14:00")), outcomes: map[Outcome]int{Cancelled: 1},
		},
		"a cancel and a new insert for the same slot": {
			meanwhile: func(t *testing.T, r *rig) {
				cancels(t, r, order)
				_, err := r.root.Exec(`INSERT INTO p_future_job (entity_name, entity_key, job_exec, due_at) VALUES ('order', '42', 'check', ?)`, "2026-11-20 13:15:00")
				r.must(err)
			},
			outcomes: map[Outcome]int{Cancelled: 1}, pending: "13:15", needs: columnDefaults,
		},
		"a reschedule, and the job_exec is done": {
			meanwhile: func(t *testing.T, r *rig) {
				_, err := r.client.Reschedule(t.Context(), r.appAt(at("13:15:02")), order, "check", "", at("15:00"))
				r.must(err)
			},
			pending: "15:00",
		},
		"a reschedule, and the job_exec wants to go on": {
			meanwhile: func(t *testing.T, r *rig) {
				_, err := r.client.Reschedule(t.Context(), r.appAt(at("13:15:02")), order, "check", "", at("15:00"))
				r.must(err)
			},
			answer: At(at("14:00")), pending: "15:00",
		},
		"a replace": {
			meanwhile: func(t *testing.T, r *rig) {
				r.insert(at("13:15:02"), NewJob{Entity: order, JobExec: "check", DueAt: at("16:00"), OnPending: Replace})
			},
			pending: "16:00",
		},
		// The row whose check is running settles the old request, not the new one.
		"a keep, which leaves a row behind": {
			meanwhile: func(t *testing.T, r *rig) {
				if did := r.insert(at("13:15:02"), NewJob{Entity: order, JobExec: "check", DueAt: at("16:00")}); did.Did != DidReplace {
					t.Errorf("did %+v; want it replaced", did)
				}
			},
			pending: "16:00",
		},
	} {
		t.Run(name, func(t *testing.T) {
			eachServer(t, func(t *testing.T, r *rig) {
				r.needs(t, c.needs)
				r.insert(at("13:00"), job)
				calls := 0
				execs := registry("check", func(context.Context, FutureJob) (*time.Time, error) {
					calls++
					c.meanwhile(t, r)
					return c.answer, nil
				}, Guards{})
				figures := r.runAt(at("13:15:01"), execs, WorkerOptions{})
				if figures.Dropped != 1 || figures.Rows() != 0 || calls != 1 {
					t.Errorf("figures: %+v after %d calls; want one answer dropped", figures, calls)
				}
				left := r.pending()
				switch {
				case c.pending == "" && len(left) != 0:
					t.Errorf("pending: %+v; want nothing", left)
				case c.pending != "" && (len(left) != 1 || !left[0].NextCheckAt.Equal(at(c.pending)) || left[0].CheckCount != 0):
					t.Errorf("pending: %+v; want one row at %s", left, c.pending)
				}
				got := map[Outcome]int{}
				for _, end := range r.history() {
					got[end.Outcome]++
				}
				if fmt.Sprint(got) != fmt.Sprint(c.outcomes) && len(got)+len(c.outcomes) > 0 {
					t.Errorf("history: %v; want %v", got, c.outcomes)
				}
				r.balanced()
			})
		})
	}
}

func cancels(t *testing.T, r *rig, e Entity) {
	if n, err := r.client.Cancel(context.WithoutCancel(t.Context()), r.app, e); err != nil || n != 1 {
		t.Errorf("cancelled %d, %v", n, err)
	}
}

func TestAJobExecMayCancelTheOtherChecksOfItsEntity(t *testing.T) {
	eachServer(t, func(t *testing.T, r *rig) {
		order := Entity{"order", "42"}
		for _, exec := range []string{"first", "second", "third"} {
			r.insert(at("13:00"), NewJob{Entity: order, JobExec: exec, DueAt: at("13:15")})
		}
		execs := NewRegistry()
		var others atomic.Int32
		other := func(context.Context, FutureJob) (*time.Time, error) {
			others.Add(1)
			return nil, nil
		}
		execs.MustRegister("first", func(ctx context.Context, job FutureJob) (*time.Time, error) {
			_, err := r.client.Cancel(ctx, r.app, job.Entity(), "second", "third")
			return nil, err
		}, Guards{})
		execs.MustRegister("second", other, Guards{})
		execs.MustRegister("third", other, Guards{})
		r.runAt(at("13:15:01"), execs, WorkerOptions{})
		got := map[string]Outcome{}
		for _, end := range r.history() {
			got[end.JobExec] = end.Outcome
		}
		if got["first"] != Done || got["second"] != Cancelled || got["third"] != Cancelled || len(got) != 3 {
			t.Errorf("ends: %v (%d of the others had been called)", got, others.Load())
		}
		if left := r.pending(); len(left) != 0 {
			t.Errorf("pending: %+v", left)
		}
	})
}

// Between the look at the rows that ended and their DELETE, another row is inserted, or moved, right among them.
func TestARowThatComesIntoTheRangeDuringACommitIsNotLost(t *testing.T) {
	eachServer(t, func(t *testing.T, r *rig) {
		r.needs(t, columnDefaults)
		for i := range 50 {
			r.insert(at("13:00"), NewJob{Entity: Entity{"order", fmt.Sprint(i)}, JobExec: "check", DueAt: at("13:15")})
		}
		r.insert(at("13:00"), NewJob{Entity: Entity{"order", "moved"}, JobExec: "check", DueAt: at("18:00")})
		var h hooks
		h.once("INTO p_job_history", func() {
			_, err := r.root.Exec(`INSERT INTO p_future_job (entity_name, entity_key, job_exec, due_at) VALUES ('order', 'inserted', 'check', '2026-11-20 13:15:00')`)
			r.must(err)
			n, err := r.root.Exec(`UPDATE p_future_job SET next_check_at = '2026-11-20 13:15:00', revision = revision + 1
				WHERE next_check_at = '2026-11-20 18:00:00' AND job_key = ?`, keyBytes(KeyOf(Entity{"order", "moved"}, "check", "")))
			r.must(err)
			if n, _ := n.RowsAffected(); n != 1 {
				t.Error("nothing was moved")
			}
		})
		execs := registry("check", func(context.Context, FutureJob) (*time.Time, error) { return nil, nil }, Guards{})
		figures, err := r.hookedWorker(at("13:15:01"), &h, execs, WorkerOptions{}).Run(t.Context())
		r.must(err)
		if figures.Done != 50 || len(r.pending()) != 2 || len(r.history()) != 50 {
			t.Fatalf("figures %+v, pending %d, history %d; want 50, 2, 50", figures, len(r.pending()), len(r.history()))
		}
		_, err = r.worker(at("13:30:11"), execs, WorkerOptions{}).Sweep(t.Context())
		r.must(err)
		if len(r.pending()) != 0 || len(r.history()) != 52 {
			t.Errorf("pending %d, history %d; want 0, 52", len(r.pending()), len(r.history()))
		}
		r.balanced()
	})
}

// An app that holds one row of a batch in an open transaction does not hold up the rest; its row follows when it lets
// go, without another call.
func TestAnOpenAppTransactionOnOneRowDoesNotHoldUpTheBatch(t *testing.T) {
	eachServer(t, func(t *testing.T, r *rig) {
		const rows = 40
		for i := range rows {
			r.insert(at("13:00"), NewJob{Entity: Entity{"order", fmt.Sprint(i)}, JobExec: "check", DueAt: at("13:15")})
		}
		tx, err := r.app.Begin()
		r.must(err)
		var key string
		r.must(tx.QueryRow("SELECT entity_key FROM p_future_job WHERE next_check_at = '2026-11-20 13:15:00' AND job_key = ? FOR UPDATE",
			keyBytes(KeyOf(Entity{"order", "7"}, "check", ""))).Scan(&key))
		var calls atomic.Int32
		execs := registry("check", func(_ context.Context, job FutureJob) (*time.Time, error) {
			calls.Add(1)
			if job.EntityKey == "8" {
				return At(at("14:00")), nil
			}
			return nil, nil
		}, Guards{})
		w := r.worker(at("13:15:01"), execs, WorkerOptions{})
		done := make(chan error)
		go func() {
			_, err := w.Run(context.WithoutCancel(t.Context()))
			done <- err
		}()
		r.eventually("all but the two rows are in history", func() bool { return len(r.history()) == rows-2 })
		r.must(tx.Rollback())
		r.must(<-done)
		if len(r.history()) != rows-1 || len(r.pending()) != 1 || calls.Load() != rows {
			t.Errorf("history %d, pending %d, calls %d; want %d, 1, %d", len(r.history()), len(r.pending()), calls.Load(), rows-1, rows)
		}
		r.balanced()
	})
}

// A claimant that is paused for longer than its lease, while another takes the bucket over, never passes the fence.
func TestAPausedClaimantNeverPassesTheFence(t *testing.T) {
	eachServerAt(t, time.Second, func(t *testing.T, r *rig) {
		slot := r.insertDue(10)
		var h hooks
		paused, resume := make(chan struct{}), make(chan struct{})
		h.once("batch_seq = batch_seq + 1", func() {
			close(paused)
			<-resume
		})
		execs := registry("check", func(context.Context, FutureJob) (*time.Time, error) { return nil, nil }, Guards{})
		options := WorkerOptions{Lease: 2 * time.Second, Name: "paused"}
		first := r.hookedWorker(time.Time{}, &h, execs, options)
		done := make(chan Figures)
		go func() {
			figures, err := first.runSlot(context.WithoutCancel(t.Context()), slot, manner{parallel: 1})
			if err != nil {
				t.Error(err)
			}
			done <- figures
		}()
		<-paused
		// The renewals are stopped too, as in a frozen process.
		h.onStatement(func(statement string) error {
			<-resume
			return nil
		})
		second := r.worker(time.Time{}, execs, WorkerOptions{Lease: 2 * time.Second, Name: "thief"})
		took, err := second.runSlot(t.Context(), slot, manner{parallel: 1, stay: true})
		r.must(err)
		close(resume)
		lost := <-done
		if took.Done != 10 || took.Takeovers != 1 || lost.Rows() != 0 || lost.LeasesLost != 1 {
			t.Errorf("the thief: %+v; the paused: %+v", took, lost)
		}
		if len(r.history()) != 10 {
			t.Errorf("%d ends; want 10", len(r.history()))
		}
		r.balanced()
	})
}

// The answer to a COMMIT is lost: whether it was done is looked up, not guessed.
func TestAnUnknownCommitIsResolvedByTheLedger(t *testing.T) {
	lost := errConnection
	for name, fail := range map[string]func(h *hooks){
		"it was done": func(h *hooks) {
			h.onAnswer(firstTime("COMMIT", lost))
		},
		"it was not done": func(h *hooks) {
			h.onStatement(firstTime("COMMIT", lost))
		},
	} {
		t.Run(name, func(t *testing.T) {
			eachServer(t, func(t *testing.T, r *rig) {
				for i := range 10 {
					r.insert(at("13:00"), NewJob{Entity: Entity{"order", fmt.Sprint(i)}, JobExec: "check", DueAt: at("13:15")})
				}
				var calls atomic.Int32
				execs := registry("check", func(context.Context, FutureJob) (*time.Time, error) {
					calls.Add(1)
					return nil, nil
				}, Guards{})
				var h hooks
				fail(&h)
				w := r.hookedWorker(at("13:15:01"), &h, execs, WorkerOptions{})
				figures, err := w.Run(t.Context())
				if err != nil || figures.Done != 10 || calls.Load() != 10 || len(r.history()) != 10 {
					t.Errorf("figures %+v, %d calls, %d ends, %v; want 10 of each", figures, calls.Load(), len(r.history()), err)
				}
				r.balanced()
			})
		})
	}
}
