package acceptance

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/errno"
	"prescient/prescient/internal/rig"
	"prescient/prescient/localserver/servertest"
	"prescient/prescient/worker"
)

// call cancels by plain SQL, on any handle.

func (r *testRig) call(db prescient.DB, want int, args ...any) {
	r.T.Helper()
	if n, err := rig.Call(r.T.Context(), db, args...); err != nil || n != want {
		r.T.Errorf("cancelled %d of %v (%v); want %d", n, args, err, want)
	}
}

// pendingNames is what is pending, in order.
func (r *testRig) pendingNames() string {
	r.T.Helper()
	var names []string
	for _, job := range r.Pending() {
		names = append(names, job.EntityKey+":"+job.JobExec+":"+job.Tag)
	}
	return strings.Join(names, " ")
}

func TestTheProcedureCancelsAsTheClientDoes(t *testing.T) {
	besideOthers(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.StoredProcedures)
		keys := []string{"42", "Straße 'ü'", "zz "}
		for _, key := range keys {
			r.Insert(rig.At("13:00"), prescient.NewJob{Entity: prescient.Entity{Name: "order", Key: key}, JobExec: "check", DueAt: rig.At("13:05"), Payload: []byte(`{"a": "ü"}`)})
		}
		r.Insert(rig.At("13:00"), prescient.NewJob{Entity: prescient.Entity{Name: "order", Key: "42"}, JobExec: "check", Tag: "second", DueAt: rig.At("13:20")})
		r.Insert(rig.At("13:00"), prescient.NewJob{Entity: prescient.Entity{Name: "order", Key: "42"}, JobExec: "other", DueAt: rig.At("13:40")})
		r.call(r.App, 0, "order", "43", nil)
		r.call(r.App, 0, "Order", "42", nil)
		r.call(r.App, 0, "order", "zz", nil)
		r.call(r.App, 0, "order", "42", "nothing")
		r.call(r.App, 2, "order", "42", "check")
		if left := r.pendingNames(); strings.Count(left, ":check:") != 2 || !strings.Contains(left, "42:other:") {
			t.Errorf("pending: %s", left)
		}
		r.call(r.App, 1, "order", "42", nil)
		r.call(r.App, 0, "order", "42", nil)
		r.call(r.App, 1, "order", keys[1], nil)
		r.call(r.App, 1, "order", keys[2], "check")

		// The row in history is what the client writes.
		r.Insert(rig.At("13:00"), prescient.NewJob{Entity: prescient.Entity{Name: "order", Key: keys[1]}, JobExec: "check", DueAt: rig.At("13:05"), Payload: []byte(`{"a": "ü"}`)})
		r.Cancels(t, prescient.Entity{Name: "order", Key: keys[1]})
		same := map[string]int{}
		for _, end := range r.History() {
			if end.EntityKey == keys[1] {
				end.Revision, end.InsertedAt, end.EndedAt = 0, time.Time{}, time.Time{}
				same[fmt.Sprintf("%+v", end)]++
			}
		}
		if len(same) != 1 || len(r.History()) != 6 || len(r.Pending()) != 0 {
			t.Errorf("%d in history, %d pending: %v", len(r.History()), len(r.Pending()), same)
		}
	})
}

func TestTheProcedureWorksInTheCallersTransaction(t *testing.T) {
	besideOthers(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.StoredProcedures)
		insert := func(key string) {
			r.Insert(rig.At("13:00"), prescient.NewJob{Entity: prescient.Entity{Name: "order", Key: key}, JobExec: "check", DueAt: rig.At("13:05")})
		}
		insert("42")
		for _, isolation := range []sql.IsolationLevel{sql.LevelRepeatableRead, sql.LevelReadCommitted} {
			tx, err := r.App.BeginTx(t.Context(), &sql.TxOptions{Isolation: isolation})
			r.Must(err)
			r.call(tx, 1, "order", "42", nil)
			r.call(tx, 0, "order", "42", nil)
			r.Must(tx.Rollback())
			if len(r.History()) != 0 || len(r.Pending()) != 1 {
				t.Errorf("after a rollback %d in history, %d pending", len(r.History()), len(r.Pending()))
			}
		}
		// With autocommit off there is always a transaction.
		conn, err := r.App.Conn(t.Context())
		r.Must(err)
		defer conn.Close()
		for _, statement := range []string{"SET autocommit = 0", "CALL p_cancel('order', '42', NULL)", "ROLLBACK", "SET autocommit = 1"} {
			_, err = conn.ExecContext(t.Context(), statement)
			r.Must(err)
		}
		if len(r.Pending()) != 1 {
			t.Error("committed what the caller rolled back")
		}
		// A row that came, and one that moved, after the snapshot of the caller's transaction.
		tx, err := r.App.BeginTx(t.Context(), &sql.TxOptions{Isolation: sql.LevelRepeatableRead})
		r.Must(err)
		defer tx.Rollback()
		var n int
		r.Must(tx.QueryRow("SELECT COUNT(*) FROM p_future_job").Scan(&n))
		insert("43")
		_, err = r.Client.Reschedule(t.Context(), r.AppAt(rig.At("13:01")), prescient.Entity{Name: "order", Key: "42"}, "check", "", rig.At("15:00"))
		r.Must(err)
		r.Must(r.beginsAgain(r.App, tx, func(tx *sql.Tx) error {
			for _, key := range []string{"42", "43"} {
				if n, err := rig.Call(t.Context(), tx, "order", key, nil); err != nil || n != 1 {
					return errors.Join(fmt.Errorf("cancelled %d of %s; want 1", n, key), err)
				}
			}
			return nil
		}))
		if len(r.History()) != 2 || len(r.Pending()) != 0 {
			t.Errorf("%d in history, %d pending", len(r.History()), len(r.Pending()))
		}
	})
}

func TestAProcedureThatFailsLeavesNothingBehind(t *testing.T) {
	besideOthers(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.StoredProcedures)
		order := prescient.Entity{Name: "order", Key: "42"}
		for _, exec := range []string{"a", "b", "c"} {
			r.Insert(rig.At("13:00"), prescient.NewJob{Entity: order, JobExec: exec, DueAt: rig.At("13:05")})
		}
		// Somebody holds the row that it comes to last.
		last := prescient.Key{}
		for _, job := range r.Pending() {
			if key := job.Key(); string(key[:]) > string(last[:]) {
				last = key
			}
		}
		holder, err := r.App.BeginTx(t.Context(), nil)
		r.Must(err)
		defer holder.Rollback()
		_, err = holder.Exec("SELECT 1 FROM p_future_job FORCE INDEX (PRIMARY) WHERE next_check_at = '2026-11-20 13:15:00' AND job_key = ? FOR UPDATE", last[:])
		r.Must(err)

		impatient := servertest.Open(t, r.Account("app-sql"), "innodb_lock_wait_timeout=1")
		if n, err := rig.Call(t.Context(), impatient, "order", "42", nil); !errno.Is(err, errno.LockWaitTimeout) {
			t.Errorf("cancelled %d, %v", n, err)
		}
		tx, err := impatient.BeginTx(t.Context(), nil)
		r.Must(err)
		defer tx.Rollback()
		_, err = tx.Exec("INSERT INTO p_future_job (entity_name, entity_key, job_exec, due_at) VALUES ('order', '1', 'own', '2026-11-20 13:05:00')")
		r.Must(err)
		if n, err := rig.Call(t.Context(), tx, "order", "42", nil); !errno.Is(err, errno.LockWaitTimeout) {
			t.Errorf("cancelled %d, %v", n, err)
		}
		r.Must(tx.Commit())
		if len(r.History()) != 0 || len(r.Pending()) != 4 {
			t.Errorf("%d in history, %d pending; want none and the caller's own beside the three", len(r.History()), len(r.Pending()))
		}
		r.Must(holder.Rollback())
		r.call(r.App, 3, "order", "42", nil)
	})
}

// Calls race with slot runs that end and move the same rows: every row has one end, and nobody deadlocks.
func TestTheProcedureRacesSlotRuns(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.StoredProcedures)
		const rows = 1000
		var jobs []prescient.NewJob
		for i := range rows {
			jobs = append(jobs, prescient.NewJob{Entity: prescient.Entity{Name: "order", Key: fmt.Sprint(i)}, JobExec: "check", DueAt: rig.At("13:15")})
		}
		_, err := r.Client.InsertMany(t.Context(), r.AppAt(rig.At("13:00")), jobs)
		r.Must(err)
		started := make(chan struct{})
		var once sync.Once
		execs := rig.Registry("check", func(_ context.Context, job prescient.FutureJob) (*time.Time, error) {
			once.Do(func() { close(started) })
			if job.Key()[0]%2 == 0 && job.CheckCount == 0 {
				return prescient.At(rig.At("13:30")), nil
			}
			return nil, nil
		}, prescient.Guards{})
		var callers sync.WaitGroup
		cancelled := make([]int, 2)
		for c := range cancelled {
			callers.Go(func() {
				<-started
				for i := c; i < rows; i += 2 * len(cancelled) {
					n, err := rig.Call(context.WithoutCancel(t.Context()), r.App, "order", fmt.Sprint(i), nil)
					if err != nil {
						t.Errorf("order %d: %v", i, err)
					}
					cancelled[c] += n
				}
			})
		}
		r.RunAt(rig.At("13:15:01"), execs, worker.Options{Load: worker.Load{Batch: 50}})
		r.RunAt(rig.At("13:30:01"), execs, worker.Options{Load: worker.Load{Batch: 50}})
		callers.Wait()
		r.RunAt(rig.At("13:30:02"), execs, worker.Options{Load: worker.Load{Batch: 50}})
		n := r.Count("SELECT COUNT(*) FROM p_job_history WHERE outcome = 'cancelled'")
		t.Logf("%d calls met a pending row", n)
		if n != cancelled[0]+cancelled[1] || n == 0 {
			t.Errorf("cancelled %v, but history has %d", cancelled, n)
		}
		if ends, each := r.Count("SELECT COUNT(*) FROM p_job_history"), r.Count("SELECT COUNT(DISTINCT job_key) FROM p_job_history"); ends != rows || each != rows || len(r.Pending()) != 0 {
			t.Errorf("%d ends of %d rows, %d pending; want %d", ends, each, len(r.Pending()), rows)
		}
		r.Balanced()
	})
}

// A call that commits while the job_exec runs wins over its answer.
func TestTheProcedureWinsOverARunningJobExec(t *testing.T) {
	besideOthers(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.StoredProcedures)
		r.Insert(rig.At("13:00"), prescient.NewJob{Entity: prescient.Entity{Name: "order", Key: "42"}, JobExec: "check", DueAt: rig.At("13:15")})
		execs := rig.Registry("check", func(ctx context.Context, _ prescient.FutureJob) (*time.Time, error) {
			r.call(r.App, 1, "order", "42", "check")
			return prescient.At(rig.At("14:00")), nil
		}, prescient.Guards{})
		if figures := r.RunAt(rig.At("13:15:01"), execs, worker.Options{}); figures.Dropped != 1 || figures.Rows() != 0 {
			t.Errorf("%+v", figures)
		}
		if ends := r.History(); len(ends) != 1 || ends[0].Outcome != prescient.Cancelled || len(r.Pending()) != 0 {
			t.Errorf("%+v", ends)
		}
	})
}

// A call reads the rows of its entity, by their keys, however many others there are.
func TestTheProcedureReadsOnlyTheRowsOfItsEntity(t *testing.T) {
	besideOthers(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.StoredProcedures)
		f := r.Fill()
		entity := f.Some(rig.BigSlot, 1)[0].Entity()
		for _, isolation := range []sql.IsolationLevel{sql.LevelRepeatableRead, sql.LevelReadCommitted} {
			conn, err := r.App.Conn(t.Context())
			r.Must(err)
			defer conn.Close()
			tx, err := conn.BeginTx(t.Context(), &sql.TxOptions{Isolation: isolation})
			r.Must(err)
			reads := func() (n int) {
				rows, err := tx.Query("SHOW SESSION STATUS LIKE 'Handler_read%'")
				r.Must(err)
				defer rows.Close()
				for rows.Next() {
					var name string
					var count int
					r.Must(rows.Scan(&name, &count))
					n += count
				}
				return n
			}
			before := reads()
			r.call(tx, 1, entity.Name, entity.Key, nil)
			full := reads() - before
			r.Must(tx.Rollback())
			if full > 2000 { // most of them those of SHOW itself
				t.Errorf("%d reads for one row of %d", full, rig.FilledRows)
			}
		}
	})
}
