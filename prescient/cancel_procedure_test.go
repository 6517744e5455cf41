package prescient

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"prescient/prescient/internal/servertest"
)

// call cancels by plain SQL, on any handle.
func call(ctx context.Context, db DB, args ...any) (cancelled int, err error) {
	err = queryRow(ctx, db, []any{&cancelled}, "CALL p_cancel(?, ?, ?)", args...)
	return cancelled, err
}

func (r *rig) call(db DB, want int, args ...any) {
	r.t.Helper()
	if n, err := call(r.t.Context(), db, args...); err != nil || n != want {
		r.t.Errorf("cancelled %d of %v (%v); want %d", n, args, err, want)
	}
}

// pendingNames is what is pending, in order.
func (r *rig) pendingNames() string {
	r.t.Helper()
	var names []string
	for _, job := range r.pending() {
		names = append(names, job.EntityKey+":"+job.JobExec+":"+job.Tag)
	}
	return strings.Join(names, " ")
}

func TestTheProcedureCancelsAsTheClientDoes(t *testing.T) {
	eachServer(t, func(t *testing.T, r *rig) {
		r.needs(t, storedProcedures)
		keys := []string{"42", "Straße 'ü'", "zz "}
		for _, key := range keys {
			r.insert(at("13:00"), NewJob{Entity: Entity{"order", key}, JobExec: "check", DueAt: at("13:05"), Payload: []byte(`{"a": "ü"}`)})
		}
		r.insert(at("13:00"), NewJob{Entity: Entity{"order", "42"}, JobExec: "check", Tag: "second", DueAt: at("13:20")})
		r.insert(at("13:00"), NewJob{Entity: Entity{"order", "42"}, JobExec: "other", DueAt: at("13:40")})
		r.call(r.app, 0, "order", "43", nil)
		r.call(r.app, 0, "Order", "42", nil)
		r.call(r.app, 0, "order", "zz", nil)
		r.call(r.app, 0, "order", "42", "nothing")
		r.call(r.app, 2, "order", "42", "check")
		if left := r.pendingNames(); strings.Count(left, ":check:") != 2 || !strings.Contains(left, "42:other:") {
			t.Errorf("pending: %s", left)
		}
		r.call(r.app, 1, "order", "42", nil)
		r.call(r.app, 0, "order", "42", nil)
		r.call(r.app, 1, "order", keys[1], nil)
		r.call(r.app, 1, "order", keys[2], "check")

		// The row in history is what the client writes.
		r.insert(at("13:00"), NewJob{Entity: Entity{"order", keys[1]}, JobExec: "check", DueAt: at("13:05"), Payload: []byte(`{"a": "ü"}`)})
		cancels(t, r, Entity{"order", keys[1]})
		same := map[string]int{}
		for _, end := range r.history() {
			if end.EntityKey == keys[1] {
				end.Revision, end.InsertedAt, end.EndedAt = 0, time.Time{}, time.Time{}
				same[fmt.Sprintf("%+v", end)]++
			}
		}
		if len(same) != 1 || len(r.history()) != 6 || len(r.pending()) != 0 {
			t.Errorf("%d in history, %d pending: %v", len(r.history()), len(r.pending()), same)
		}
	})
}

func TestTheProcedureWorksInTheCallersTransaction(t *testing.T) {
	eachServer(t, func(t *testing.T, r *rig) {
		r.needs(t, storedProcedures)
		insert := func(key string) {
			r.insert(at("13:00"), NewJob{Entity: Entity{"order", key}, JobExec: "check", DueAt: at("13:05")})
		}
		insert("42")
		for _, isolation := range []sql.IsolationLevel{sql.LevelRepeatableRead, sql.LevelReadCommitted} {
			tx, err := r.app.BeginTx(t.Context(), &sql.TxOptions{Isolation: isolation})
			r.must(err)
			r.call(tx, 1, "order", "42", nil)
			r.call(tx, 0, "order", "42", nil)
			r.must(tx.Rollback())
			if len(r.history()) != 0 || len(r.pending()) != 1 {
				t.Errorf("after a rollback %d in history, %d pending", len(r.history()), len(r.pending()))
			}
		}
		// With autocommit off there is always a transaction.
		conn, err := r.app.Conn(t.Context())
		r.must(err)
		defer conn.Close()
		for _, statement := range []string{"SET autocommit = 0", "CALL p_cancel('order', '42', NULL)", "ROLLBACK", "SET autocommit = 1"} {
			_, err = conn.ExecContext(t.Context(), statement)
			r.must(err)
		}
		if len(r.pending()) != 1 {
			t.Error("committed what the caller rolled back")
		}
		// A row that came, and one that moved, after the snapshot of the caller's transaction.
		tx, err := r.app.BeginTx(t.Context(), &sql.TxOptions{Isolation: sql.LevelRepeatableRead})
		r.must(err)
		defer tx.Rollback()
		var n int
		r.must(tx.QueryRow("SELECT COUNT(*) FROM p_future_job").Scan(&n))
		insert("43")
		_, err = r.client.Reschedule(t.Context(), r.appAt(at("13:01")), Entity{"order", "42"}, "check", "", at("15:00"))
		r.must(err)
		r.must(r.beginsAgain(r.app, tx, func(tx *sql.Tx) error {
			for _, key := range []string{"42", "43"} {
				if n, err := call(t.Context(), tx, "order", key, nil); err != nil || n != 1 {
					return errors.Join(fmt.Errorf("cancelled %d of %s; want 1", n, key), err)
				}
			}
			return nil
		}))
		if len(r.history()) != 2 || len(r.pending()) != 0 {
			t.Errorf("%d in history, %d pending", len(r.history()), len(r.pending()))
		}
	})
}

func TestAProcedureThatFailsLeavesNothingBehind(t *testing.T) {
	eachServer(t, func(t *testing.T, r *rig) {
		r.needs(t, storedProcedures)
		order := Entity{"order", "42"}
		for _, exec := range []string{"a", "b", "c"} {
			r.insert(at("13:00"), NewJob{Entity: order, JobExec: exec, DueAt: at("13:05")})
		}
		// Somebody holds the row that it comes to last.
		last := Key{}
		for _, job := range r.pending() {
			if key := job.Key(); string(key[:]) > string(last[:]) {
				last = key
			}
		}
		holder, err := r.app.BeginTx(t.Context(), nil)
		r.must(err)
		defer holder.Rollback()
		_, err = holder.Exec("SELECT 1 FROM p_future_job FORCE INDEX (PRIMARY) WHERE next_check_at = '2026-11-20 13:15:00' AND job_key = ? FOR UPDATE", last[:])
		r.must(err)

		impatient := servertest.Open(t, r.account("app-sql"), "innodb_lock_wait_timeout=1")
		if n, err := call(t.Context(), impatient, "order", "42", nil); !isError(err, errLockWaitTimeout) {
			t.Errorf("cancelled %d, %v", n, err)
		}
		tx, err := impatient.BeginTx(t.Context(), nil)
		r.must(err)
		defer tx.Rollback()
		_, err = tx.Exec("INSERT INTO p_future_job (entity_name, entity_key, job_exec, due_at) VALUES ('order', '1', 'own', '2026-11-20 13:05:00')")
		r.must(err)
		if n, err := call(t.Context(), tx, "order", "42", nil); !isError(err, errLockWaitTimeout) {
			t.Errorf("cancelled %d, %v", n, err)
		}
		r.must(tx.Commit())
		if len(r.history()) != 0 || len(r.pending()) != 4 {
			t.Errorf("%d in history, %d pending; want none and the caller's own beside the three", len(r.history()), len(r.pending()))
		}
		r.must(holder.Rollback())
		r.call(r.app, 3, "order", "42", nil)
	})
}

// Calls race with slot runs that end and move the same rows: every row has one end, and nobody deadlocks.
func TestTheProcedureRacesSlotRuns(t *testing.T) {
	eachServer(t, func(t *testing.T, r *rig) {
		r.needs(t, storedProcedures)
		const rows = 2000
		var jobs []NewJob
		for i := range rows {
			jobs = append(jobs, NewJob{Entity: Entity{"order", fmt.Sprint(i)}, JobExec: "check", DueAt: at("13:15")})
		}
		_, err := r.client.InsertMany(t.Context(), r.appAt(at("13:00")), jobs)
		r.must(err)
		started := make(chan struct{})
		var once sync.Once
		execs := registry("check", func(_ context.Context, job FutureJob) (*time.Time, error) {
			once.Do(func() { close(started) })
			if job.Key()[0]%2 == 0 && job.CheckCount == 0 {
				return At(at("13:30")), nil
			}
			return nil, nil
		}, Guards{})
		var callers sync.WaitGroup
		cancelled := make([]int, 2)
		for c := range cancelled {
			callers.Go(func() {
				<-started
				for i := c; i < rows; i += 2 * len(cancelled) {
					n, err := call(context.WithoutCancel(t.Context()), r.app, "order", fmt.Sprint(i), nil)
					if err != nil {
						t.Errorf("order %d: %v", i, err)
					}
					cancelled[c] += n
				}
			})
		}
		r.runAt(at("13:15:01"), execs, WorkerOptions{Batch: 50})
		r.runAt(at("13:30:01"), execs, WorkerOptions{Batch: 50})
		callers.Wait()
		r.runAt(at("13:30:02"), execs, WorkerOptions{Batch: 50})
		n := r.count("SELECT COUNT(*) FROM p_job_history WHERE outcome = 'cancelled'")
		t.Logf("%d calls met a pending row", n)
		if n != cancelled[0]+cancelled[1] || n == 0 {
			t.Errorf("cancelled %v, but history has %d", cancelled, n)
		}
		if ends, each := r.count("SELECT COUNT(*) FROM p_job_history"), r.count("SELECT COUNT(DISTINCT job_key) FROM p_job_history"); ends != rows || each != rows || len(r.pending()) != 0 {
			t.Errorf("%d ends of %d rows, %d pending; want %d", ends, each, len(r.pending()), rows)
		}
		r.balanced()
	})
}

// A call that commits while the job_exec runs wins over its answer.
func TestTheProcedureWinsOverARunningJobExec(t *testing.T) {
	eachServer(t, func(t *testing.T, r *rig) {
		r.needs(t, storedProcedures)
		r.insert(at("13:00"), NewJob{Entity: Entity{"order", "42"}, JobExec: "check", DueAt: at("13:15")})
		execs := registry("check", func(ctx context.Context, _ FutureJob) (*time.Time, error) {
			r.call(r.app, 1, "order", "42", "check")
			return At(at("14:00")), nil
		}, Guards{})
		if figures := r.runAt(at("13:15:01"), execs, WorkerOptions{}); figures.Dropped != 1 || figures.Rows() != 0 {
			t.Errorf("%+v", figures)
		}
		if ends := r.history(); len(ends) != 1 || ends[0].Outcome != Cancelled || len(r.pending()) != 0 {
			t.Errorf("%+v", ends)
		}
	})
}

// A call reads the rows of its entity, by their keys, however many others there are.
func TestTheProcedureReadsOnlyTheRowsOfItsEntity(t *testing.T) {
	eachServer(t, func(t *testing.T, r *rig) {
		r.needs(t, storedProcedures)
		f := fill(t, r)
		entity := f.some(bigSlot, 1)[0].Entity()
		for _, isolation := range []sql.IsolationLevel{sql.LevelRepeatableRead, sql.LevelReadCommitted} {
			conn, err := r.app.Conn(t.Context())
			r.must(err)
			defer conn.Close()
			tx, err := conn.BeginTx(t.Context(), &sql.TxOptions{Isolation: isolation})
			r.must(err)
			reads := func() (n int) {
				rows, err := tx.Query("SHOW SESSION STATUS LIKE 'Handler_read%'")
				r.must(err)
				defer rows.Close()
				for rows.Next() {
					var name string
					var count int
					r.must(rows.Scan(&name, &count))
					n += count
				}
				return n
			}
			before := reads()
			r.call(tx, 1, entity.Name, entity.Key, nil)
			full := reads() - before
			r.must(tx.Rollback())
			if full > 2000 { // most of them those of SHOW itself
				t.Errorf("%d reads for one row of %d", full, filledRows)
			}
		}
	})
}
