package worker

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/jmoiron/sqlx"

	"prescient/prescient"
	"prescient/prescient/internal/errno"
	"prescient/prescient/internal/rig"
)

func TestABatchFunctionGetsAllDueRowsInOneCallAndOneBadRowSpoilsNoOther(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		r.InsertAll("check", append(rig.Numbered(200), "later", "fails", "left-out", "in-the-past")...)
		var calls atomic.Int32
		execs := prescient.NewRegistry()
		r.Must(execs.RegisterBatch("check", func(_ context.Context, batch *prescient.Batch) error {
			calls.Add(1)
			for i, job := range batch.Jobs() {
				switch job.EntityKey {
				case "later":
					batch.Next(i, rig.At("14:01"))
				case "fails":
					batch.Fail(i, errors.New("no such luck"))
				case "in-the-past":
					batch.Next(i, rig.At("12:00"))
				case "left-out":
				default:
					batch.Settle(i)
				}
			}
			return nil
		}, prescient.Guards{}))
		figures := r.runAt(rig.At("13:15:01"), execs, Options{})
		if calls.Load() != 1 || figures.Done != 200 || figures.Moved != 3 || figures.PastReturn != 1 {
			t.Errorf("%d calls, figures %+v", calls.Load(), figures)
		}
		for _, job := range r.Pending() {
			switch job.EntityKey {
			case "later":
				if !job.NextCheckAt.Equal(rig.At("14:15")) || job.CheckCount != 1 {
					t.Errorf("later: %+v", job)
				}
			case "fails", "left-out":
				if job.ErrorCount != 1 || !strings.Contains(job.LastError, "no such luck") && !strings.Contains(job.LastError, "without this row") {
					t.Errorf("%s: %+v", job.EntityKey, job)
				}
			default:
				t.Errorf("pending: %+v", job)
			}
		}
		r.Balanced()
	})
}

func TestABatchFunctionThatFailsFailsEveryRow(t *testing.T) {
	t.Parallel()
	cases := map[string]prescient.BatchFunc{
		"an error": func(context.Context, *prescient.Batch) error { return errors.New("no database") },
		"a panic":  func(_ context.Context, b *prescient.Batch) error { b.Settle(len(b.Jobs())); return nil },
		"a timeout": func(ctx context.Context, b *prescient.Batch) error {
			<-ctx.Done()
			return nil
		},
	}
	eachServer(t, func(t *testing.T, r *testRig) {
		for name, fn := range cases {
			t.Run(name, func(t *testing.T) {
				defer r.unrun()
				r.InsertAll("check", rig.Numbered(20)...)
				execs := prescient.NewRegistry()
				r.Must(execs.RegisterBatch("check", fn, prescient.Guards{Timeout: 100 * time.Millisecond}))
				if figures := r.runAt(rig.At("13:15:01"), execs, Options{}); figures.Moved != 20 {
					t.Errorf("figures: %+v", figures)
				}
				for _, job := range r.Pending() {
					if job.ErrorCount != 1 || job.LastError == "" {
						t.Errorf("pending: %+v", job)
					}
				}
			})
		}
	})
}

// registerTx registers a function of a transaction, in one of its forms.
type registerTx func(r *prescient.Registry, fn prescient.TxFunc) error

// eachTxForm calls a test with either form, with a table for effects.
func eachTxForm(t *testing.T, test func(t *testing.T, r *testRig, of func() map[string]int, register registerTx)) {
	forms := map[string]registerTx{
		"row by row": func(r *prescient.Registry, fn prescient.TxFunc) error {
			return r.RegisterTx("check", fn, prescient.Guards{})
		},
		"a batch": func(r *prescient.Registry, fn prescient.TxFunc) error {
			return r.RegisterTxBatch("check", func(ctx context.Context, tx *sqlx.Tx, batch *prescient.Batch) error {
				for i, job := range batch.Jobs() {
					next, err := fn(ctx, tx, job)
					if err != nil {
						return err
					}
					if batch.Settle(i); next != nil {
						batch.Next(i, *next)
					}
				}
				return nil
			}, prescient.Guards{})
		},
	}
	eachServer(t, func(t *testing.T, r *testRig) {
		of := r.effects()
		for form, register := range forms {
			t.Run(form, func(t *testing.T) {
				defer r.begin()
				test(t, r, of, register)
			})
		}
	})
}

func TestTheEffectsOfATxFunctionCommitWithTheRowsEndAndAFailedOneRollsBackAlone(t *testing.T) {
	t.Parallel()
	eachTxForm(t, func(t *testing.T, r *testRig, of func() map[string]int, register registerTx) {
		r.InsertAll("check", append(rig.Numbered(120), "fails", "panics", "later")...)
		execs := prescient.NewRegistry()
		r.Must(register(execs, func(ctx context.Context, tx *sqlx.Tx, job prescient.FutureJob) (*time.Time, error) {
			if err := effect(ctx, tx, job); err != nil {
				return nil, err
			}
			switch job.EntityKey {
			case "fails":
				return nil, errors.New("no such luck")
			case "panics":
				panic("boo")
			case "later":
				return prescient.At(rig.At("14:00")), nil
			}
			return nil, nil
		}))
		var h rig.Hooks
		var begins atomic.Int32
		h.OnStatement(func(statement string) error {
			if statement == "BEGIN" {
				begins.Add(1)
			}
			return nil
		})
		figures, err := r.hookedWorker(rig.At("13:15:01"), &h, execs, Options{}).Run(t.Context())
		r.Must(err)
		if figures.Done != 120 || figures.Moved != 3 {
			t.Errorf("figures: %+v", figures)
		}
		most := int32(123 / 3) // each holds what takes about a second, on a busy machine a few rows; alone they would be 123
		if strings.Contains(t.Name(), "a_batch") {
			most += 123 // one that fails is called again, each row by itself
		}
		if begins.Load() > most {
			t.Errorf("%d transactions for 123 rows", begins.Load())
		}
		left := of()
		haveOneEffect(t, left, append(rig.Numbered(120), "later"))
		if left["fails"] != 0 || left["panics"] != 0 {
			t.Errorf("what failed left %d and %d effects", left["fails"], left["panics"])
		}
		for _, job := range r.Pending() {
			if (job.EntityKey == "later") != (job.ErrorCount == 0) {
				t.Errorf("pending: %+v", job)
			}
		}
		r.Balanced()
	})
}

func TestATxBatchFunctionFailsARowWithoutTheOthersAndWhatItLeavesOutIsAnError(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		of := r.effects()
		r.InsertAll("check", append(rig.Numbered(120), "fails", "left out")...)
		var calls atomic.Int32
		execs := prescient.NewRegistry()
		r.Must(execs.RegisterTxBatch("check", func(ctx context.Context, tx *sqlx.Tx, batch *prescient.Batch) error {
			calls.Add(1)
			var rows []string
			for i, job := range batch.Jobs() {
				switch job.EntityKey {
				case "fails":
					batch.Fail(i, errors.New("no such luck"))
				case "left out":
				default:
					batch.Settle(i)
					rows = append(rows, "('"+job.EntityKey+"')")
				}
			}
			_, err := tx.ExecContext(ctx, "INSERT INTO effects (entity_key) VALUES "+strings.Join(rows, ","))
			return err
		}, prescient.Guards{}))
		figures, err := r.worker(rig.At("13:15:01"), execs, Options{}).Run(t.Context())
		r.Must(err)
		if figures.Done != 120 || figures.Moved != 2 || calls.Load() != 1 {
			t.Errorf("%d calls; %+v", calls.Load(), figures)
		}
		haveOneEffect(t, of(), rig.Numbered(120))
		for _, job := range r.Pending() {
			if want := map[string]string{"fails": "no such luck", "left out": "the batch was answered without this row"}[job.EntityKey]; job.ErrorCount != 1 || job.LastError != want {
				t.Errorf("%s: %d errors, the last %q; want %q", job.EntityKey, job.ErrorCount, job.LastError, want)
			}
		}
		r.Balanced()
	})
}

// Whatever happens to the COMMIT, the effects are there once.
func TestTheEffectsOfATxFunctionAreThereExactlyOnceWhateverHappensToTheCommit(t *testing.T) {
	t.Parallel()
	eachTxForm(t, func(t *testing.T, r *testRig, of func() map[string]int, register registerTx) {
		for name, fail := range map[string]func(h *rig.Hooks){
			"its answer is lost":           func(h *rig.Hooks) { h.OnAnswer(rig.FirstTime("COMMIT", rig.ErrConnection)) },
			"it does not arrive":           func(h *rig.Hooks) { h.OnStatement(rig.FirstTime("COMMIT", rig.ErrConnection)) },
			"the fence fails":              func(h *rig.Hooks) { h.OnStatement(rig.FirstTime("batch_seq = batch_seq + 1", rig.ErrConnection)) },
			"a statement in between fails": func(h *rig.Hooks) { h.OnStatement(rig.FirstTime("INTO p_job_history", rig.ErrConnection)) },
			// As a deadlock does, in which the server rolls the transaction back.
			"a function loses the transaction": func(h *rig.Hooks) {},
		} {
			t.Log(name)
			r.InsertAll("check", rig.Numbered(10)...)
			execs := prescient.NewRegistry()
			var lost atomic.Int32
			r.Must(register(execs, func(ctx context.Context, tx *sqlx.Tx, job prescient.FutureJob) (*time.Time, error) {
				if err := effect(ctx, tx, job); err != nil {
					return nil, err
				}
				if name == "a function loses the transaction" && job.EntityKey == "5" && lost.Add(1) <= 2 {
					_, err := tx.ExecContext(ctx, "ROLLBACK")
					return nil, errors.Join(err, &mysql.MySQLError{Number: errno.Deadlock})
				}
				return nil, nil
			}))
			var h rig.Hooks
			fail(&h)
			_, err := r.hookedWorker(rig.At("13:15:01"), &h, execs, Options{}).Run(t.Context())
			r.Must(err)
			haveOneEffect(t, of(), rig.Numbered(10))
			if len(r.History()) != 10 || len(r.Pending()) != 0 {
				t.Errorf("%d ended, %d pending", len(r.History()), len(r.Pending()))
			}
			r.Balanced()
			r.begin()
		}
	})
}

func TestACancelWaitsForARunningTxFunctionAndThenFindsNothing(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		of := r.effects()
		r.InsertAll("check", "42")
		started, release := make(chan struct{}), make(chan struct{})
		execs := prescient.NewRegistry()
		r.Must(execs.RegisterTx("check", func(ctx context.Context, tx *sqlx.Tx, job prescient.FutureJob) (*time.Time, error) {
			close(started)
			<-release
			return nil, effect(ctx, tx, job)
		}, prescient.Guards{}))
		w := r.worker(rig.At("13:15:01"), execs, Options{})
		done := make(chan error, 1)
		go func() {
			_, err := w.Run(t.Context())
			done <- err
		}()
		<-started
		cancelled := make(chan int, 1)
		go func() {
			n, err := r.Client.Cancel(t.Context(), r.App, prescient.Entity{Name: "order", Key: "42"})
			if err != nil {
				t.Error(err)
			}
			cancelled <- n
		}()
		r.Eventually("the cancel waits", func() bool {
			return r.Sessions("DB = DATABASE() AND ID <> CONNECTION_ID() AND INFO LIKE 'INSERT%history%future_job%FOR UPDATE%'") == 1
		})
		close(release)
		if n := <-cancelled; n != 0 {
			t.Errorf("cancelled %d; it had been settled", n)
		}
		r.Must(<-done)
		if ends := r.History(); len(ends) != 1 || ends[0].Outcome != prescient.Done || of()["42"] != 1 {
			t.Errorf("ends %+v, effects %d", ends, of()["42"])
		}
	})
}

func TestATxFunctionThatHangsHoldsUpNeitherItsGroupNorTheOthers(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		of := r.effects()
		r.InsertAll("check", append(rig.Numbered(20), "hangs")...)
		r.InsertAll("plain", rig.Numbered(20)...)
		hang := make(chan struct{})
		t.Cleanup(func() { close(hang) })
		execs := rig.Registry("plain", func(context.Context, prescient.FutureJob) (*time.Time, error) { return nil, nil }, prescient.Guards{})
		r.Must(execs.RegisterTx("check", func(ctx context.Context, tx *sqlx.Tx, job prescient.FutureJob) (*time.Time, error) {
			if job.EntityKey == "hangs" {
				<-hang
			}
			return nil, effect(ctx, tx, job)
		}, prescient.Guards{Timeout: 2 * time.Second}))
		figures := r.runAt(rig.At("13:15:01"), execs, Options{})
		if figures.Done != 40 || figures.Moved != 1 {
			t.Errorf("figures: %+v", figures)
		}
		haveOneEffect(t, of(), rig.Numbered(20))
		if left := r.Pending(); len(left) != 1 || left[0].ErrorCount != 1 || of()["hangs"] != 0 {
			t.Errorf("pending: %+v", left)
		}
		r.Balanced()
	})
}

func TestATypedPayloadThatDoesNotFitIsAClearError(t *testing.T) {
	type invoice struct{ Amount int }
	got := make(map[string]int)
	fn := prescient.Typed(func(_ context.Context, job prescient.FutureJob, p invoice) (*time.Time, error) {
		got[job.EntityKey] = p.Amount
		return nil, nil
	})
	optional := prescient.Typed(func(_ context.Context, _ prescient.FutureJob, p *invoice) (*time.Time, error) {
		if p != nil {
			t.Errorf("got %+v", p)
		}
		return nil, nil
	})
	for _, c := range []struct{ payload, wrong string }{
		{`{"Amount": 5, "more": 1}`, ""},
		{`{"Amount": "five"}`, "does not fit a worker.invoice"},
		{`[1]`, "does not fit"},
		{`null`, "absent"},
		{``, "absent"},
	} {
		job := prescient.FutureJob{EntityName: "invoice", EntityKey: c.payload}
		if c.payload != "" {
			job.Payload = []byte(c.payload)
		}
		_, err := fn(t.Context(), job)
		if (c.wrong == "") != (err == nil) || c.wrong != "" && !rig.Contains(err, c.wrong, "invoice/") {
			t.Errorf("%q: %v; want %q", c.payload, err, c.wrong)
		}
	}
	if got[`{"Amount": 5, "more": 1}`] != 5 || len(got) != 1 {
		t.Errorf("got %v", got)
	}
	if _, err := optional(t.Context(), prescient.FutureJob{}); err != nil {
		t.Errorf("a pointer may be absent: %v", err)
	}
}
