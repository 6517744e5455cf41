package prescient

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"testing"
	"time"

	"prescient/prescient/internal/servertest"
	text "prescient/sql"
)

// An app that cancels what isn't there, in a transaction that stays open, has no row of another entity: a slot run ends
// them all meanwhile, and waits for none.
func TestACancelOfNothingHoldsNoRowOfOthers(t *testing.T) {
	ways := []struct {
		name   string
		cancel func(r *rig, db DB, e Entity) (int, error)
	}{
		{"client", func(r *rig, db DB, e Entity) (int, error) { return r.client.Cancel(r.t.Context(), db, e) }},
		{"procedure", func(r *rig, db DB, e Entity) (int, error) { return call(r.t.Context(), db, e.Name, e.Key, nil) }},
	}
	eachServerAt(t, time.Minute, func(t *testing.T, r *rig) {
		for _, way := range ways {
			for _, level := range []sql.IsolationLevel{sql.LevelRepeatableRead, sql.LevelReadCommitted} {
				if way.name == "procedure" && r.server == text.TiDB {
					continue // which has none
				}
				const rows, open = 400, 20
				slot := r.insertDue(rows)
				var txs []*sql.Tx
				for i := range open {
					tx := begin(t, r.app, level)
					txs = append(txs, tx)
					if n, err := way.cancel(r, tx, Entity{"nobody", fmt.Sprint(i)}); n != 0 || err != nil {
						t.Fatalf("%s, %s: cancelled %d: %v", way.name, level, n, err)
					}
				}
				w := r.worker(time.Time{}, registry("check", neverAgain, Guards{}), WorkerOptions{Batch: 100})
				figures := <-r.start(w, slot, manner{parallel: 2})
				if figures.Done != rows || figures.Retries > 0 || figures.Locked > 0 {
					t.Errorf("%s, %s: %d of %d rows done, %d commits tried again, %d rows left as locked",
						way.name, level, figures.Done, rows, figures.Retries, figures.Locked)
				}
				for _, tx := range txs {
					r.must(tx.Rollback())
				}
				r.clear()
				r.exec("DELETE FROM p_slot_run")
			}
		}
	})
}

// moveOn moves to a slot an hour later.
func moveOn(context.Context, FutureJob) (*time.Time, error) {
	later := time.Now().Add(time.Hour)
	return &later, nil
}

// beside is how long rows may take that nobody holds, beside an app that holds others: with halving at 2 s a step it was
// more than half a minute.
const beside = 20 * time.Second

// runBeside runs a slot while a transaction of an app is open, which holds some rows at most, and returns how long the others
// took. Then it lets go, and the rest is done.
func (r *rig) runBeside(fn Func, rows, held int, open func(tx *sql.Tx)) time.Duration {
	r.t.Helper()
	slot := r.insertDue(rows)
	tx := begin(r.t, r.app, sql.LevelRepeatableRead)
	open(tx)
	w := r.worker(time.Time{}, registry("check", fn, Guards{}), WorkerOptions{Batch: 100})
	began := time.Now()
	done := r.start(w, slot, manner{parallel: 2, stay: true})
	r.eventually("the others are done", func() bool {
		return r.count("SELECT COUNT(*) FROM p_future_job WHERE next_check_at = ?", slot.Format(secondLayout)) <= held
	})
	took := time.Since(began)
	r.must(tx.Rollback())
	if figures := <-done; figures.Done+figures.Moved != rows || figures.Takeovers > 0 {
		r.t.Errorf("%+v of %d rows, with %d takeovers", figures.Counts, rows, figures.Takeovers)
	}
	if took > beside {
		r.t.Errorf("what nobody held took %s", took)
	}
	r.clear()
	r.exec("DELETE FROM p_slot_run")
	return took
}

// A move writes the row's key anew in UNIQUE (job_key), for which MariaDB locks the row after it there, too. So a row that
// moves waits where that is an app's, or the gap before it; no other does.
func TestRowsThatMoveBesideWhatAnAppHoldsAreAllThatWait(t *testing.T) {
	eachServerAt(t, time.Minute, func(t *testing.T, r *rig) {
		const each = 5
		took := r.runBeside(moveOn, 400, 2*each, func(tx *sql.Tx) {
			for i := range each {
				_, err := r.client.Cancel(t.Context(), tx, Entity{"nobody", fmt.Sprint(i)})
				r.must(err)
				if _, err := r.client.Reschedule(t.Context(), tx, Entity{"nobody", fmt.Sprint(i)}, "check", "", time.Now()); !errors.Is(err, ErrNotFound) {
					t.Fatalf("rescheduled nothing: %v", err)
				}
				_, err = r.client.Insert(t.Context(), tx, NewJob{Entity: Entity{"new", fmt.Sprint(i)}, JobExec: "check", DueAt: time.Now().Add(time.Hour)})
				r.must(err)
			}
		})
		t.Logf("%s", took.Round(time.Millisecond))
	})
}

// Plain SQL may lock an entry in UNIQUE (job_key) and not its row, as a range does with the one after it.
func TestALockThatDoesNotShowByThePrimaryKeyHoldsUpItsRowOnly(t *testing.T) {
	eachServerAt(t, time.Minute, func(t *testing.T, r *rig) {
		for _, way := range []struct {
			name   string
			fn     Func
			ranges int
		}{{"ends", neverAgain, 20}, {"moves", moveOn, 2}} {
			took := r.runBeside(way.fn, 400, 2*way.ranges, func(tx *sql.Tx) {
				for i := range way.ranges {
					first, last := entityRange(Entity{"nobody", fmt.Sprint(i)})
					rows, err := tx.Query("SELECT entity_name, payload FROM p_future_job FORCE INDEX (job_key) WHERE job_key BETWEEN ? AND ? FOR UPDATE", first[:], last[:])
					r.must(err)
					r.must(rows.Close())
				}
			})
			t.Logf("%s: %s", way.name, took.Round(time.Millisecond))
		}
	})
}

// Nor does it hold up other apps: a table in which little is pending has wide gaps, and a lock on one of those is in the way
// of most others.
func TestAnAppThatHoldsNothingHoldsUpNoOtherApp(t *testing.T) {
	eachServerAt(t, time.Minute, func(t *testing.T, r *rig) {
		r.insertDue(10)
		impatient := servertest.Open(t, r.account("app-reschedule"), "innodb_lock_wait_timeout=1")
		job := func(name string, i int, policy OnPending) NewJob {
			return NewJob{Entity: Entity{name, fmt.Sprint(i)}, JobExec: "check", DueAt: time.Now().Add(time.Hour), OnPending: policy}
		}
		ways := map[string]func(db DB, name string, i int) error{
			"cancel": func(db DB, name string, i int) error {
				_, err := r.client.Cancel(t.Context(), db, Entity{name, fmt.Sprint(i)})
				return err
			},
			"reschedule": func(db DB, name string, i int) error {
				_, err := r.client.Reschedule(t.Context(), db, Entity{name, fmt.Sprint(i)}, "check", "", time.Now())
				if errors.Is(err, ErrNotFound) {
					return nil
				}
				return err
			},
			"keep": func(db DB, name string, i int) error {
				_, err := r.client.Insert(t.Context(), db, job(name, i, Keep))
				return err
			},
			"replace": func(db DB, name string, i int) error {
				_, err := r.client.Insert(t.Context(), db, job(name, i, Replace))
				return err
			},
		}
		for _, level := range []sql.IsolationLevel{sql.LevelRepeatableRead, sql.LevelReadCommitted} {
			for name, way := range ways {
				tx := begin(t, r.app, level)
				for i := range 5 {
					r.must(way(tx, "nobody", i))
				}
				for other, do := range ways {
					blocked := 0
					for i := range 15 {
						tx := begin(t, impatient, level)
						if do(tx, "other", i) != nil {
							blocked++
						}
						_ = tx.Rollback()
					}
					if blocked > 0 {
						t.Errorf("%s, beside %s of what isn't there: %d of 15 times %s had to wait", level, name, blocked, other)
					}
				}
				r.must(tx.Rollback())
			}
		}
	})
}

// neverAgain is done at once.
func neverAgain(context.Context, FutureJob) (*time.Time, error) { return nil, nil }
