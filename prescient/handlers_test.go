package prescient

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/jmoiron/sqlx"
)

// insertAll makes checks pending at 13:15, one for each key.
func (r *rig) insertAll(jobExec string, keys ...string) {
	r.t.Helper()
	jobs := make([]NewJob, len(keys))
	for i, key := range keys {
		jobs[i] = NewJob{Entity: Entity{"order", key}, JobExec: jobExec, DueAt: at("13:15")}
	}
	_, err := r.client.InsertMany(r.t.Context(), r.appAt(at("13:00")), jobs)
	r.must(err)
}

func numbered(n int) (keys []string) {
	for i := range n {
		keys = append(keys, fmt.Sprint(i))
	}
	return keys
}

func TestABatchFunctionGetsAllDueRowsInOneCallAndOneBadRowSpoilsNoOther(t *testing.T) {
	eachServer(t, func(t *testing.T, r *rig) {
		r.insertAll("check", append(numbered(200), "later", "fails", "left-out", "in-the-past")...)
		var calls atomic.Int32
		execs := NewRegistry()
		r.must(execs.RegisterBatch("check", func(_ context.Context, batch *Batch) error {
			calls.Add(1)
			for i, job := range batch.Jobs() {
				switch job.EntityKey {
				case "later":
					batch.Next(i, at("14:01"))
				case "fails":
					batch.Fail(i, errors.New("no such luck"))
				case "in-the-past":
					batch.Next(i, at("12:00"))
				case "left-out":
				default:
					batch.Settle(i)
				}
			}
			return nil
		}, Guards{}))
		figures := r.runAt(at("13:15:01"), execs, WorkerOptions{})
		if calls.Load() != 1 || figures.Done != 200 || figures.Moved != 3 || figures.PastReturn != 1 {
			t.Errorf("%d calls, figures %+v", calls.Load(), figures)
		}
		for _, job := range r.pending() {
			switch job.EntityKey {
			case "later":
				if !job.NextCheckAt.Equal(at("14:15")) || job.CheckCount != 1 {
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
		r.balanced()
	})
}

func TestABatchFunctionThatFailsFailsEveryRow(t *testing.T) {
	for name, fn := range map[string]BatchFunc{
		"an error": func(context.Context, *Batch) error { return errors.New("no database") },
		"a panic":  func(_ context.Context, b *Batch) error { b.Settle(len(b.Jobs())); return nil },
		"a timeout": func(ctx context.Context, b *Batch) error {
			<-ctx.Done()
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			eachServer(t, func(t *testing.T, r *rig) {
				r.insertAll("check", numbered(20)...)
				execs := NewRegistry()
				r.must(execs.RegisterBatch("check", fn, Guards{Timeout: 100 * time.Millisecond}))
				if figures := r.runAt(at("13:15:01"), execs, WorkerOptions{}); figures.Moved != 20 {
					t.Errorf("figures: %+v", figures)
				}
				for _, job := range r.pending() {
					if job.ErrorCount != 1 || job.LastError == "" {
						t.Errorf("pending: %+v", job)
					}
				}
			})
		})
	}
}

// effects is a table of the app's own, to which a TxFunc writes.
func (r *rig) effects() (of func(key string) int) {
	r.t.Helper()
	_, err := r.root.Exec("CREATE TABLE effects (id BIGINT AUTO_INCREMENT PRIMARY KEY, entity_key VARCHAR(128) NOT NULL, KEY (entity_key))")
	r.must(err)
	r.also("worker", "INSERT", "effects")
	return func(key string) int { return r.count("SELECT COUNT(*) FROM effects WHERE entity_key = ?", key) }
}

func haveOneEffect(t *testing.T, of func(key string) int, keys []string) {
	t.Helper()
	for _, key := range keys {
		if of(key) != 1 {
			t.Errorf("%s has %d effects; want 1", key, of(key))
		}
	}
}

func effect(ctx context.Context, tx *sqlx.Tx, job FutureJob) error {
	_, err := tx.ExecContext(ctx, "INSERT INTO effects (entity_key) VALUES (?)", job.EntityKey)
	return err
}

// registerTx registers a function of a transaction, in one of its forms.
type registerTx func(r *Registry, fn TxFunc) error

func eachTxForm(t *testing.T, test func(t *testing.T, r *rig, register registerTx)) {
	for form, register := range map[string]registerTx{
		"row by row": func(r *Registry, fn TxFunc) error { return r.RegisterTx("check", fn, Guards{}) },
		"a batch": func(r *Registry, fn TxFunc) error {
			return r.RegisterTxBatch("check", func(ctx context.Context, tx *sqlx.Tx, batch *Batch) error {
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
			}, Guards{})
		},
	} {
		t.Run(form, func(t *testing.T) {
			eachServer(t, func(t *testing.T, r *rig) { test(t, r, register) })
		})
	}
}

func TestTheEffectsOfATxFunctionCommitWithTheRowsEndAndAFailedOneRollsBackAlone(t *testing.T) {
	eachTxForm(t, func(t *testing.T, r *rig, register registerTx) {
		of := r.effects()
		r.insertAll("check", append(numbered(120), "fails", "panics", "later")...)
		execs := NewRegistry()
		r.must(register(execs, func(ctx context.Context, tx *sqlx.Tx, job FutureJob) (*time.Time, error) {
			if err := effect(ctx, tx, job); err != nil {
				return nil, err
			}
			switch job.EntityKey {
			case "fails":
				return nil, errors.New("no such luck")
			case "panics":
				panic("boo")
			case "later":
				return At(at("14:00")), nil
			}
			return nil, nil
		}))
		var h hooks
		var begins atomic.Int32
		h.onStatement(func(statement string) error {
			if statement == "BEGIN" {
				begins.Add(1)
			}
			return nil
		})
		figures, err := r.hookedWorker(at("13:15:01"), &h, execs, WorkerOptions{}).Run(t.Context())
		r.must(err)
		if figures.Done != 120 || figures.Moved != 3 {
			t.Errorf("figures: %+v", figures)
		}
		most := int32(5)
		if strings.Contains(t.Name(), "a_batch") {
			most += 123 // one that fails is called again, each row by itself
		}
		if begins.Load() > most {
			t.Errorf("%d transactions for 123 rows", begins.Load())
		}
		haveOneEffect(t, of, append(numbered(120), "later"))
		if of("fails") != 0 || of("panics") != 0 {
			t.Errorf("what failed left %d and %d effects", of("fails"), of("panics"))
		}
		for _, job := range r.pending() {
			if (job.EntityKey == "later") != (job.ErrorCount == 0) {
				t.Errorf("pending: %+v", job)
			}
		}
		r.balanced()
	})
}

func TestATxBatchFunctionFailsARowWithoutTheOthersAndWhatItLeavesOutIsAnError(t *testing.T) {
	eachServer(t, func(t *testing.T, r *rig) {
		of := r.effects()
		r.insertAll("check", append(numbered(120), "fails", "left out")...)
		var calls atomic.Int32
		execs := NewRegistry()
		r.must(execs.RegisterTxBatch("check", func(ctx context.Context, tx *sqlx.Tx, batch *Batch) error {
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
		}, Guards{}))
		figures, err := r.worker(at("13:15:01"), execs, WorkerOptions{}).Run(t.Context())
		r.must(err)
		if figures.Done != 120 || figures.Moved != 2 || calls.Load() != 1 {
			t.Errorf("%d calls; %+v", calls.Load(), figures)
		}
		haveOneEffect(t, of, numbered(120))
		for _, job := range r.pending() {
			if want := map[string]string{"fails": "no such luck", "left out": errUnanswered.Error()}[job.EntityKey]; job.ErrorCount != 1 || job.LastError != want {
				t.Errorf("%s: %d errors, the last %q; want %q", job.EntityKey, job.ErrorCount, job.LastError, want)
			}
		}
		r.balanced()
	})
}

// Whatever happens to the COMMIT, the effects are there once.
func TestTheEffectsOfATxFunctionAreThereExactlyOnceWhateverHappensToTheCommit(t *testing.T) {
	for name, fail := range map[string]func(h *hooks){
		"its answer is lost":           func(h *hooks) { h.onAnswer(firstTime("COMMIT", errConnection)) },
		"it does not arrive":           func(h *hooks) { h.onStatement(firstTime("COMMIT", errConnection)) },
		"the fence fails":              func(h *hooks) { h.onStatement(firstTime("batch_seq = batch_seq + 1", errConnection)) },
		"a statement in between fails": func(h *hooks) { h.onStatement(firstTime("INTO p_job_history", errConnection)) },
		// As a deadlock does, in which the server rolls the transaction back.
		"a function loses the transaction": func(h *hooks) {},
	} {
		t.Run(name, func(t *testing.T) {
			eachTxForm(t, func(t *testing.T, r *rig, register registerTx) {
				of := r.effects()
				r.insertAll("check", numbered(10)...)
				execs := NewRegistry()
				var lost atomic.Int32
				r.must(register(execs, func(ctx context.Context, tx *sqlx.Tx, job FutureJob) (*time.Time, error) {
					if err := effect(ctx, tx, job); err != nil {
						return nil, err
					}
					if name == "a function loses the transaction" && job.EntityKey == "5" && lost.Add(1) <= 2 {
						_, err := tx.ExecContext(ctx, "ROLLBACK")
						return nil, errors.Join(err, &mysql.MySQLError{Number: errDeadlock})
					}
					return nil, nil
				}))
				var h hooks
				fail(&h)
				_, err := r.hookedWorker(at("13:15:01"), &h, execs, WorkerOptions{}).Run(t.Context())
				r.must(err)
				haveOneEffect(t, of, numbered(10))
				if len(r.history()) != 10 || len(r.pending()) != 0 {
					t.Errorf("%d ended, %d pending", len(r.history()), len(r.pending()))
				}
				r.balanced()
			})
		})
	}
}

func TestACancelWaitsForARunningTxFunctionAndThenFindsNothing(t *testing.T) {
	eachServer(t, func(t *testing.T, r *rig) {
		of := r.effects()
		r.insertAll("check", "42")
		started, release := make(chan struct{}), make(chan struct{})
		execs := NewRegistry()
		r.must(execs.RegisterTx("check", func(ctx context.Context, tx *sqlx.Tx, job FutureJob) (*time.Time, error) {
			close(started)
			<-release
			return nil, effect(ctx, tx, job)
		}, Guards{}))
		w := r.worker(at("13:15:01"), execs, WorkerOptions{})
		done := make(chan error, 1)
		go func() {
			_, err := w.Run(t.Context())
			done <- err
		}()
		<-started
		cancelled := make(chan int, 1)
		go func() {
			n, err := r.client.Cancel(t.Context(), r.app, Entity{"order", "42"})
			if err != nil {
				t.Error(err)
			}
			cancelled <- n
		}()
		r.eventually("the cancel waits", func() bool {
			return r.count("SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE DB = DATABASE() AND ID <> CONNECTION_ID() AND INFO LIKE 'INSERT%history%future_job%FOR UPDATE%'") == 1
		})
		close(release)
		if n := <-cancelled; n != 0 {
			t.Errorf("cancelled %d; it had been settled", n)
		}
		r.must(<-done)
		if ends := r.history(); len(ends) != 1 || ends[0].Outcome != Done || of("42") != 1 {
			t.Errorf("ends %+v, effects %d", ends, of("42"))
		}
	})
}

func TestATxFunctionThatHangsHoldsUpNeitherItsGroupNorTheOthers(t *testing.T) {
	eachServer(t, func(t *testing.T, r *rig) {
		of := r.effects()
		r.insertAll("check", append(numbered(20), "hangs")...)
		r.insertAll("plain", numbered(20)...)
		hang := make(chan struct{})
		t.Cleanup(func() { close(hang) })
		execs := registry("plain", func(context.Context, FutureJob) (*time.Time, error) { return nil, nil }, Guards{})
		r.must(execs.RegisterTx("check", func(ctx context.Context, tx *sqlx.Tx, job FutureJob) (*time.Time, error) {
			if job.EntityKey == "hangs" {
				<-hang
			}
			return nil, effect(ctx, tx, job)
		}, Guards{Timeout: 300 * time.Millisecond}))
		figures := r.runAt(at("13:15:01"), execs, WorkerOptions{})
		if figures.Done != 40 || figures.Moved != 1 {
			t.Errorf("figures: %+v", figures)
		}
		haveOneEffect(t, of, numbered(20))
		if left := r.pending(); len(left) != 1 || left[0].ErrorCount != 1 || of("hangs") != 0 {
			t.Errorf("pending: %+v", left)
		}
		r.balanced()
	})
}

func TestATypedPayloadThatDoesNotFitIsAClearError(t *testing.T) {
	type invoice struct{ Amount int }
	got := make(map[string]int)
	fn := Typed(func(_ context.Context, job FutureJob, p invoice) (*time.Time, error) {
		got[job.EntityKey] = p.Amount
		return nil, nil
	})
	optional := Typed(func(_ context.Context, _ FutureJob, p *invoice) (*time.Time, error) {
		if p != nil {
			t.Errorf("got %+v", p)
		}
		return nil, nil
	})
	for _, c := range []struct{ payload, wrong string }{
		{`{"Amount": 5, "more": 1}`, ""},
		{`{"Amount": "five"}`, "does not fit a prescient.invoice"},
		{`[1]`, "does not fit"},
		{`null`, "absent"},
		{``, "absent"},
	} {
		job := FutureJob{EntityName: "invoice", EntityKey: c.payload}
		if c.payload != "" {
			job.Payload = []byte(c.payload)
		}
		_, err := fn(t.Context(), job)
		if (c.wrong == "") != (err == nil) || c.wrong != "" && !contains(err, c.wrong, "invoice/") {
			t.Errorf("%q: %v; want %q", c.payload, err, c.wrong)
		}
	}
	if got[`{"Amount": 5, "more": 1}`] != 5 || len(got) != 1 {
		t.Errorf("got %v", got)
	}
	if _, err := optional(t.Context(), FutureJob{}); err != nil {
		t.Errorf("a pointer may be absent: %v", err)
	}
}
