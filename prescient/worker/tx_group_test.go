package worker

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"prescient/prescient"
	"prescient/prescient/internal/errno"
	"prescient/prescient/internal/rig"
	"prescient/prescient/worker/internal/execute"
)

// Where nothing fails the rows of a transaction have one savepoint. After a failure they have one each, for a while; the
// one that failed is not called again, and the others at most twice.
func TestTheCallsOfATransactionShareASavepointUntilOneOfThemFails(t *testing.T) {
	cases := map[string]struct {
		fails            string
		least, most      int // savepoints of 150 rows in transactions of 50 and 100
		calls, ofTheFail int32
	}{
		"none fails": {"none", 2, 3, 150, 0},
		"one fails":  {"77", 50, 155, 249, 1}, // the first transaction may have been over before
	}
	eachServer(t, func(t *testing.T, r *testRig) {
		of := r.effects()
		for name, c := range cases {
			t.Run(name, func(t *testing.T) {
				defer r.begin()
				r.InsertAll("check", rig.Numbered(150)...)
				var all, ofTheFail atomic.Int32
				execs := prescient.NewRegistry()
				r.Must(execs.RegisterTx("check", func(ctx context.Context, tx *sqlx.Tx, job prescient.FutureJob) (*time.Time, error) {
					all.Add(1)
					if err := effect(ctx, tx, job); err != nil {
						return nil, err
					}
					if job.EntityKey == c.fails {
						ofTheFail.Add(1)
						return nil, errors.New("no such luck")
					}
					return nil, nil
				}, prescient.Guards{Concurrency: 1}))
				var h rig.Hooks
				figures, err := r.hookedWorker(rig.At("13:15:01"), &h, execs, Options{}).Run(t.Context())
				r.Must(err)
				if figures.Rows() != 150 || figures.Moved != int(ofTheFail.Load()) {
					t.Errorf("figures: %+v", figures)
				}
				set := savepoints(&h)
				if set < c.least || set > c.most {
					t.Errorf("%d savepoints; want %d to %d", set, c.least, c.most)
				}
				if all.Load() < 150 || all.Load() > c.calls || ofTheFail.Load() != c.ofTheFail {
					t.Errorf("%d calls, %d of the one that fails; want at most %d, and %d", all.Load(), ofTheFail.Load(), c.calls, c.ofTheFail)
				}
				effects := of()
				for _, key := range rig.Numbered(150) {
					want := 1
					if key == c.fails {
						want = 0
					}
					if effects[key] != want {
						t.Errorf("%s has %d effects; want %d", key, effects[key], want)
					}
				}
				r.Balanced()
			})
		}
	})
}

// savepoints is how many were set.
func savepoints(h *rig.Hooks) int {
	return h.Count("SAVEPOINT prescient_row") - h.Count("RELEASE SAVEPOINT") - h.Count("ROLLBACK TO SAVEPOINT")
}

// Nor does a row that somebody else has locked cost the others of its transaction more than the look that finds it.
func TestARowThatIsLockedLeavesTheOthersTheirSavepoint(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.SkipLocked) // else each call is made alone
		of := r.effects()
		keys := rig.Numbered(50)
		r.InsertAll("check", keys...)
		execs := prescient.NewRegistry()
		r.Must(execs.RegisterTx("check", func(ctx context.Context, tx *sqlx.Tx, job prescient.FutureJob) (*time.Time, error) {
			return nil, effect(ctx, tx, job)
		}, prescient.Guards{Concurrency: 1}))
		app, err := r.Root.BeginTx(t.Context(), nil)
		r.Must(err)
		defer func() { _ = app.Rollback() }()
		key := prescient.KeyOf(prescient.Entity{Name: "order", Key: keys[7]}, "check", "")
		var revision uint64
		r.Must(app.QueryRow("SELECT revision FROM p_future_job WHERE next_check_at = ? AND job_key = ? FOR UPDATE",
			rig.At("13:15").Format(time.DateTime), key[:]).Scan(&revision))

		var h rig.Hooks
		ran := make(chan error, 1)
		w := r.hookedWorker(rig.At("13:15:01"), &h, execs, Options{})
		go func() {
			_, err := w.Run(t.Context())
			ran <- err
		}()
		r.Eventually("the others end", func() bool { return r.Count(rig.CountEnded) == len(keys)-1 })
		set := savepoints(&h)
		r.Must(app.Rollback())
		r.Must(<-ran)
		if set != 1 {
			t.Errorf("%d savepoints; want 1", set)
		}
		haveOneEffect(t, of(), keys)
		r.Balanced()
	})
}

// A function that is slow all of a sudden does not have the rows locked that wait behind it: they are called in other
// transactions, and none twice.
func TestATransactionThatTakesLongLeavesItsOtherRowsToOthers(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		of := r.effects()
		r.InsertAll("check", rig.Numbered(50)...)
		var calls atomic.Int32
		var sharing atomic.Pointer[sqlx.Tx]
		shared := 0
		execs := prescient.NewRegistry()
		r.Must(execs.RegisterTx("check", func(ctx context.Context, tx *sqlx.Tx, job prescient.FutureJob) (*time.Time, error) {
			n := calls.Add(1)
			if n == 1 {
				sharing.Store(tx)
			}
			if sharing.Load() == tx {
				shared++
			}
			if n == 10 {
				<-time.After(execute.LongGroup)
			}
			return nil, effect(ctx, tx, job)
		}, prescient.Guards{Concurrency: 1}))
		figures := r.runAt(rig.At("13:15:01"), execs, Options{})
		if figures.Done != 50 || calls.Load() != 50 || shared != 10 {
			t.Errorf("%+v, %d calls, %d in the first transaction; want 50, 50, 10", figures, calls.Load(), shared)
		}
		haveOneEffect(t, of(), rig.Numbered(50))
		r.Balanced()
	})
}

// A function loses the transaction that it shares, as a deadlock does, and says nothing: what those after it do would be
// committed at once, and done again with the rows.
func TestAFunctionThatKeepsADeadlockToItselfDoesNoHarmToThoseThatShareItsTransaction(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		of := r.effects()
		r.InsertAll("check", rig.Numbered(40)...)
		var lost atomic.Int32
		execs := prescient.NewRegistry()
		r.Must(execs.RegisterTx("check", func(ctx context.Context, tx *sqlx.Tx, job prescient.FutureJob) (*time.Time, error) {
			if err := effect(ctx, tx, job); err != nil {
				return nil, err
			}
			if job.EntityKey == "20" && lost.Add(1) == 1 {
				_, err := tx.ExecContext(ctx, "ROLLBACK")
				r.Must(err)
				if _, err = tx.Exec("SELECT 1 FROM nowhere"); err == nil { // each error tells, not just that of a deadlock
					t.Error("there is a table nowhere")
				}
			}
			return nil, nil
		}, prescient.Guards{}))
		figures := r.runAt(rig.At("13:15:01"), execs, Options{})
		haveOneEffect(t, of(), rig.Numbered(40))
		if figures.Done != 40 || lost.Load() != 2 {
			t.Errorf("%+v, %d calls of the one that lost it; want 2", figures, lost.Load())
		}
		r.Balanced()
	})
}

// A duplicate key is borne by functions that write their effect once; it does not undo those of others.
func TestADuplicateKeyThatAFunctionBearsCostsNothing(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		_, err := r.Root.Exec("CREATE TABLE sent (id VARCHAR(128) PRIMARY KEY)")
		r.Must(err)
		r.Also("worker", "INSERT", "sent")
		_, err = r.Root.Exec("INSERT INTO sent VALUES ('3'), ('7')")
		r.Must(err)
		r.InsertAll("check", rig.Numbered(40)...)
		var calls atomic.Int32
		execs := prescient.NewRegistry()
		r.Must(execs.RegisterTx("check", func(ctx context.Context, tx *sqlx.Tx, job prescient.FutureJob) (*time.Time, error) {
			calls.Add(1)
			_, err := tx.ExecContext(ctx, "INSERT INTO sent VALUES (?)", job.EntityKey)
			if errno.Is(err, errno.DuplicateKey) {
				err = nil
			}
			return nil, err
		}, prescient.Guards{}))
		figures := r.runAt(rig.At("13:15:01"), execs, Options{})
		if n := r.Count("SELECT COUNT(*) FROM sent"); figures.Done != 40 || calls.Load() != 40 || n != 40 {
			t.Errorf("%+v, %d calls, %d rows; want 40 of each", figures, calls.Load(), n)
		}
	})
}

// Rows that come between those of a transaction while its functions run are neither deleted nor written to history
// without a call.
func TestARowThatComesBetweenTheRowsOfATransactionIsNotLost(t *testing.T) {
	t.Parallel()
	eachTxForm(t, func(t *testing.T, r *testRig, of func() map[string]int, register registerTx) {
		r.Needs(t, rig.ColumnDefaults)
		for _, step := range []string{"NOWAIT", "SAVEPOINT", "INTO p_job_history", "job.job_key < X'", "COMMIT"} {
			r.insertOrders(50) // a transaction
			var h rig.Hooks
			came := r.insertAt(&h, step, 20)
			execs := prescient.NewRegistry()
			r.Must(register(execs, func(ctx context.Context, tx *sqlx.Tx, job prescient.FutureJob) (*time.Time, error) {
				return nil, effect(ctx, tx, job)
			}))
			figures, err := r.hookedWorker(rig.At("13:15:01"), &h, execs, Options{}).Run(t.Context())
			r.Must(err)
			came()
			ends, left := r.History(), r.Pending()
			if figures.Done != len(ends) || len(ends)+len(left) != 70 || figures.LeasesLost != 0 {
				t.Fatalf("at %s: figures %+v, %d ends, %d pending", step, figures, len(ends), len(left))
			}
			effects := of()
			for _, e := range ends {
				if effects[e.EntityKey] != 1 {
					t.Errorf("at %s: %s ended with %d effects; want 1", step, e.EntityKey, effects[e.EntityKey])
				}
			}
			for _, job := range left {
				if effects[job.EntityKey] != 0 {
					t.Errorf("at %s: %s is pending, and has %d effects", step, job.EntityKey, effects[job.EntityKey])
				}
			}
			r.Balanced()
			r.begin()
		}
	})
}

// What a statement that the function prepared meets is not seen; so its calls have a savepoint each, from the second on.
func TestCallsThatPrepareStatementsHaveASavepointEach(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		of := r.effects()
		r.InsertAll("check", rig.Numbered(200)...)
		var calls atomic.Int32
		execs := prescient.NewRegistry()
		r.Must(execs.RegisterTx("check", func(ctx context.Context, tx *sqlx.Tx, job prescient.FutureJob) (*time.Time, error) {
			calls.Add(1)
			statement, err := tx.PrepareContext(ctx, "INSERT INTO effects (entity_key) VALUES (?)")
			if err != nil {
				return nil, err
			}
			defer statement.Close()
			_, err = statement.ExecContext(ctx, job.EntityKey)
			return nil, err
		}, prescient.Guards{Concurrency: 1}))
		var h rig.Hooks
		figures, err := r.hookedWorker(rig.At("13:15:01"), &h, execs, Options{}).Run(t.Context())
		r.Must(err)
		if set := h.Count("RELEASE SAVEPOINT"); figures.Done != 200 || calls.Load() != 201 || set != 200 {
			t.Errorf("%+v, %d calls, %d savepoints; want 200, 201, 200", figures, calls.Load(), set)
		}
		haveOneEffect(t, of(), rig.Numbered(200))
		r.Balanced()
	})
}
