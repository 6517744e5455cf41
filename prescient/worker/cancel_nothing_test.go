package worker

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/literal"
	"prescient/prescient/internal/rig"
	"prescient/prescient/localserver/servertest"
	text "prescient/sql"
)

// An app that cancels what isn't there, in a transaction that stays open, has no row of another entity: a slot run ends
// them all meanwhile, and waits for none.
func TestACancelOfNothingHoldsNoRowOfOthers(t *testing.T) {
	t.Parallel()
	ways := []struct {
		name   string
		cancel func(r *testRig, db prescient.DB, e prescient.Entity) (int, error)
	}{
		{"client", func(r *testRig, db prescient.DB, e prescient.Entity) (int, error) {
			return r.Client.Cancel(r.T.Context(), db, e)
		}},
		{"procedure", func(r *testRig, db prescient.DB, e prescient.Entity) (int, error) {
			return rig.Call(r.T.Context(), db, e.Name, e.Key, nil)
		}},
	}
	eachServerAt(t, time.Minute, func(t *testing.T, r *testRig) {
		for _, way := range ways {
			for _, level := range []sql.IsolationLevel{sql.LevelRepeatableRead, sql.LevelReadCommitted} {
				if way.name == "procedure" && (r.Dialect == text.Plain || r.Server.Placed()) {
					continue // which has none
				}
				const rows, open = 400, 20
				slot := r.InsertDue(rows)
				var txs []*sql.Tx
				for i := range open {
					tx := rig.Begin(t, r.App, level)
					txs = append(txs, tx)
					if n, err := way.cancel(r, tx, prescient.Entity{Name: "nobody", Key: fmt.Sprint(i)}); n != 0 || err != nil {
						t.Fatalf("%s, %s: cancelled %d: %v", way.name, level, n, err)
					}
				}
				var h rig.Hooks
				w := r.hookedWorker(time.Time{}, &h, rig.Registry("check", neverAgain, prescient.Guards{}), Options{Load: Load{Batch: 100}})
				figures := <-r.start(w, slot, runOptions{parallel: 2})
				// A wait or two may be of the run's own commits for each other, on a machine that stood still; a row that the app
				// held would be waited for in each batch, and not be done before the app lets go.
				if waits := h.LockWaits(); figures.Done != rows || waits > 2 || figures.Locked > 0 {
					t.Errorf("%s, %s: %d of %d rows done, %d waits for a lock, %d commits tried again, %d rows left as locked",
						way.name, level, figures.Done, rows, waits, figures.Retries, figures.Locked)
				}
				for _, tx := range txs {
					r.Must(tx.Rollback())
				}
				r.Clear()
				r.Exec("DELETE FROM p_slot_run")
			}
		}
	})
}

// moveOn moves to a slot an hour later.
func moveOn(context.Context, prescient.FutureJob) (*time.Time, error) {
	later := time.Now().Add(time.Hour)
	return &later, nil
}

// beside is how many statements may wait for a lock in vain, a second each, until all rows are done that nobody holds, beside an
// app that holds others: with a wait for each halving of a batch it was more.
const beside = 20

// batchBeside is the batch of a worker beside an app.
const batchBeside = 100

// runBeside runs a slot while a transaction of an app is open, which holds some rows at most, until the others are done. Then it
// lets go, and the rest is done.
func (r *testRig) runBeside(what string, fn prescient.Func, rows, held int, open func(tx *sql.Tx)) {
	r.T.Helper()
	slot := r.InsertDue(rows)
	tx := rig.Begin(r.T, r.App, sql.LevelRepeatableRead)
	open(tx)
	var h rig.Hooks
	w := r.hookedWorker(time.Time{}, &h, rig.Registry("check", fn, prescient.Guards{}), Options{Load: Load{Batch: batchBeside}})
	began := time.Now()
	done := r.start(w, slot, runOptions{parallel: 2, stay: true})
	r.Eventually("the others are done", func() bool {
		return r.Count("SELECT COUNT(*) FROM p_future_job WHERE next_check_at = ?", slot.Format(literal.SecondLayout)) <= held
	})
	waits, took := h.LockWaits(), time.Since(began).Round(time.Millisecond)
	r.Must(tx.Rollback())
	if figures := <-done; figures.Done+figures.Moved != rows || figures.Takeovers > 0 {
		r.T.Errorf("%+v of %d rows, with %d takeovers", figures.Counts, rows, figures.Takeovers)
	}
	r.T.Logf("%s: %s, %d waits", what, took, waits)
	if waits >= beside {
		r.T.Errorf("%s: %d statements waited for a lock, in %s, until what nobody held was done; want fewer than %d", what, waits, took, beside)
	}
	r.unrun()
}

// A move writes the row's key anew in UNIQUE (job_key), for which MariaDB locks the row after it there, too. So a row that
// moves waits where that is an app's, or the gap before it; no other does.
func TestRowsThatMoveBesideWhatAnAppHoldsAreAllThatWait(t *testing.T) {
	t.Parallel()
	eachServerAt(t, time.Minute, func(t *testing.T, r *testRig) {
		const each = 5
		r.runBeside("moves", moveOn, 400, 2*each, func(tx *sql.Tx) {
			for i := range each {
				_, err := r.Client.Cancel(t.Context(), tx, prescient.Entity{Name: "nobody", Key: fmt.Sprint(i)})
				r.Must(err)
				if _, err := r.Client.Reschedule(t.Context(), tx, prescient.Entity{Name: "nobody", Key: fmt.Sprint(i)}, "check", "", time.Now()); !errors.Is(err, prescient.ErrNotFound) {
					t.Fatalf("rescheduled nothing: %v", err)
				}
				_, err = r.Client.Insert(t.Context(), tx, prescient.NewJob{Entity: prescient.Entity{Name: "new", Key: fmt.Sprint(i)}, JobExec: "check", DueAt: time.Now().Add(time.Hour)})
				r.Must(err)
			}
		})
	})
}

// Plain SQL may lock an entry in UNIQUE (job_key) and not its row, as a range does with the one after it.
func TestALockThatDoesNotShowByThePrimaryKeyHoldsUpItsRowOnly(t *testing.T) {
	t.Parallel()
	eachServerAt(t, time.Minute, func(t *testing.T, r *testRig) {
		for _, way := range []struct {
			name         string
			fn           prescient.Func
			rows, ranges int
		}{
			{"ends", neverAgain, 400, 20},
			{"ends in all of many batches", neverAgain, beside * batchBeside, 100}, // as many batches as statements may wait
			{"moves", moveOn, 400, 2},
		} {
			r.runBeside(way.name, way.fn, way.rows, 2*way.ranges, func(tx *sql.Tx) {
				for i := range way.ranges {
					first, last := prescient.Entity{Name: "nobody", Key: fmt.Sprint(i)}.KeyRange()
					rows, err := tx.Query("SELECT entity_name, payload FROM p_future_job FORCE INDEX (job_key) WHERE job_key BETWEEN ? AND ? FOR UPDATE", first[:], last[:])
					r.Must(err)
					r.Must(rows.Close())
				}
			})
		}
	})
}

// Nor does it hold up other apps: a table in which little is pending has wide gaps, and a lock on one of those is in the way
// of most others.
func TestAnAppThatHoldsNothingHoldsUpNoOtherApp(t *testing.T) {
	t.Parallel()
	eachServerAt(t, time.Minute, func(t *testing.T, r *testRig) {
		r.InsertDue(10)
		impatient := servertest.Open(t, r.Account("app-reschedule"), "innodb_lock_wait_timeout=1")
		job := func(name string, i int, policy prescient.OnPending) prescient.NewJob {
			return prescient.NewJob{Entity: prescient.Entity{Name: name, Key: fmt.Sprint(i)}, JobExec: "check", DueAt: time.Now().Add(time.Hour), OnPending: policy}
		}
		ways := map[string]func(db prescient.DB, name string, i int) error{
			"cancel": func(db prescient.DB, name string, i int) error {
				_, err := r.Client.Cancel(t.Context(), db, prescient.Entity{Name: name, Key: fmt.Sprint(i)})
				return err
			},
			"reschedule": func(db prescient.DB, name string, i int) error {
				_, err := r.Client.Reschedule(t.Context(), db, prescient.Entity{Name: name, Key: fmt.Sprint(i)}, "check", "", time.Now())
				if errors.Is(err, prescient.ErrNotFound) {
					return nil
				}
				return err
			},
			"keep": func(db prescient.DB, name string, i int) error {
				_, err := r.Client.Insert(t.Context(), db, job(name, i, prescient.Keep))
				return err
			},
			"replace": func(db prescient.DB, name string, i int) error {
				_, err := r.Client.Insert(t.Context(), db, job(name, i, prescient.Replace))
				return err
			},
		}
		for _, level := range []sql.IsolationLevel{sql.LevelRepeatableRead, sql.LevelReadCommitted} {
			for name, way := range ways {
				tx := rig.Begin(t, r.App, level)
				for i := range 5 {
					r.Must(way(tx, "nobody", i))
				}
				for other, do := range ways {
					blocked := 0
					for i := range 15 {
						tx := rig.Begin(t, impatient, level)
						if do(tx, "other", i) != nil {
							blocked++
						}
						_ = tx.Rollback()
					}
					if blocked > 0 {
						t.Errorf("%s, beside %s of what isn't there: %d of 15 times %s had to wait", level, name, blocked, other)
					}
				}
				r.Must(tx.Rollback())
			}
		}
	})
}

// neverAgain is done at once.
func neverAgain(context.Context, prescient.FutureJob) (*time.Time, error) { return nil, nil }
