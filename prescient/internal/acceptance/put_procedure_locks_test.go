package acceptance

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"prescient/prescient"
	"prescient/prescient/internal/errno"
	"prescient/prescient/internal/rig"
	"prescient/prescient/worker"
)

// Whatever a procedure refuses, also with an error that MySQL takes for a warning and calls no handler for, leaves no transaction open in which
// what the caller does next would be lost.
func TestAProcedureThatRefusesLeavesNoTransactionOpen(t *testing.T) {
	besideOthers(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.StoredProcedures)
		due := rig.At("14:00")
		for _, mode := range []string{"DEFAULT", "''", "'ANSI'"} {
			conn, err := r.AppAs("app-sql", rig.At("13:00")).Conn(t.Context())
			r.Must(err)
			_, err = conn.ExecContext(t.Context(), "SET sql_mode = "+mode)
			r.Must(err)
			for i, test := range []struct {
				says string
				call string
				args []any
			}{
				{"entity_key", "put(?, ?, ?, ?, ?, ?, ?)", []any{"order", strings.Repeat("k", 129), "check", "", due, nil, "keep"}},
				{"tag", "put(?, ?, ?, ?, ?, ?, ?)", []any{"order", "1", "check", strings.Repeat("t", 65), due, nil, "keep"}},
				{"entity_name", "put(?, ?, ?, ?, ?, ?, ?)", []any{strings.Repeat("n", 65), "1", "check", "", due, nil, "keep"}},
				{"payload", "put(?, ?, ?, ?, ?, ?, ?)", []any{"order", "1", "check", "", due, "{", "keep"}},
				{"due_at", "put(?, ?, ?, ?, ?, ?, ?)", []any{"order", "1", "check", "", "tomorrow", nil, "keep"}},
				{"due_at 9999-12-31", "put(?, ?, ?, ?, ?, ?, ?)", []any{"order", "1", "check", "", "9999-12-31", nil, "keep"}},
				{"on pending 'sometimes in summer': keep", "put(?, ?, ?, ?, ?, ?, ?)", []any{"order", "1", "check", "", due, nil, "sometimes in summer"}},
				{"due_at 9999-12-31", "reschedule(?, ?, ?, ?, ?)", []any{"order", "1", "check", "", "9999-12-31"}},
				{"key and id are needed", "publish(?, ?, ?, ?)", []any{"orders", nil, "id", nil}},
				{"event_key", "publish(?, ?, ?, ?)", []any{"orders", strings.Repeat("k", 129), "id", nil}},
			} {
				_, err := conn.ExecContext(t.Context(), "CALL p_"+test.call, test.args...)
				if err == nil || !strings.Contains(err.Error(), test.says) {
					t.Errorf("sql_mode %s: %s of %.60v: %v; want %q in it", mode, test.call, test.args, err, test.says)
				}
				key := mode + string(rune('a'+i))
				_, err = conn.ExecContext(t.Context(), "INSERT INTO p_future_job (entity_name, entity_key, job_exec, due_at) VALUES ('next', ?, 'check', ?)", key, due)
				r.Must(err)
				_, err = conn.ExecContext(t.Context(), "ROLLBACK")
				r.Must(err)
				if n := r.Count("SELECT COUNT(*) FROM p_future_job WHERE entity_name = 'next' AND entity_key = ?", key); n != 1 {
					t.Errorf("sql_mode %s: %s of %.60v has left a transaction open", mode, test.call, test.args)
				}
			}
			r.Must(conn.Close())
		}
		if n := r.Count("SELECT COUNT(*) FROM p_future_job WHERE entity_name <> 'next'") + r.Count("SELECT COUNT(*) FROM p_event_outbox"); n != 0 {
			t.Errorf("%d of what was refused are there", n)
		}
	})
}

// KILL QUERY, by which some drivers end a statement that takes too long, calls no handler of a procedure.
func TestAPutThatIsKilledLeavesNoTransactionOpen(t *testing.T) {
	besideOthers(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.StoredProcedures)
		now := rig.At("13:00")
		order := prescient.Entity{Name: "order", Key: "1"}
		r.Insert(now, prescient.NewJob{Entity: order, JobExec: "check", DueAt: rig.At("14:00")})
		holder, _ := r.Hold(fmt.Sprintf("SELECT 1 FROM p_future_job FORCE INDEX (PRIMARY) WHERE next_check_at = '2026-11-20 14:00' AND job_key = X'%s' FOR UPDATE", prescient.KeyOf(order, "check", "")))
		conn, err := r.AppAs("app-sql", now).Conn(t.Context())
		r.Must(err)
		defer conn.Close()
		var id int
		r.Must(conn.QueryRowContext(t.Context(), "SELECT CONNECTION_ID()").Scan(&id))
		for _, call := range []string{"CALL p_put('order', '1', 'check', '', '2026-11-20 15:00', NULL, 'replace')", "CALL p_reschedule('order', '1', 'check', '', '2026-11-20 15:00')"} {
			failed := make(chan error)
			go func() {
				_, err := conn.ExecContext(t.Context(), call)
				failed <- err
			}()
			r.WaitForLock("p_future_job")
			_, err := r.Root.Exec(fmt.Sprintf("KILL QUERY %d", id))
			r.Must(err)
			if err := <-failed; err == nil {
				t.Errorf("%s: it was killed, and says that all is well", call)
			}
			_, err = conn.ExecContext(t.Context(), "INSERT INTO p_future_job (entity_name, entity_key, job_exec, due_at) VALUES ('next', ?, 'check', '2026-11-20 15:00')", call)
			r.Must(err)
			_, err = conn.ExecContext(t.Context(), "ROLLBACK")
			r.Must(err)
			if n := r.Count("SELECT COUNT(*) FROM p_future_job WHERE entity_name = 'next' AND entity_key = ?", call); n != 1 {
				t.Errorf("%s has left a transaction open", call)
			}
		}
		_, err = holder.ExecContext(t.Context(), "ROLLBACK")
		r.Must(err)
	})
}

// In a transaction of the caller, whose snapshot is older than what others did, each policy goes by what is there now.
func TestPutGoesByWhatIsThereNow(t *testing.T) {
	besideOthers(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.StoredProcedures)
		now := rig.At("13:00")
		app := r.AppAs("app-sql", now)
		for _, policy := range []prescient.OnPending{prescient.Keep, prescient.Replace, prescient.Earlier, prescient.Later, prescient.OnPendingError} {
			order := prescient.Entity{Name: "order", Key: string(policy)}
			r.Insert(now, prescient.NewJob{Entity: order, JobExec: "check", DueAt: rig.At("15:00")})
			tx, err := app.BeginTx(t.Context(), &sql.TxOptions{Isolation: sql.LevelRepeatableRead})
			r.Must(err)
			var n int
			r.Must(tx.QueryRow("SELECT COUNT(*) FROM p_schedule").Scan(&n)) // its snapshot is of now
			r.Cancels(t, order)
			got, err := r.calls(tx, "put", "order", order.Key, "check", "", rig.At("15:00"), nil, string(policy))
			if errno.Is(err, errno.CheckRead) { // MariaDB from 11.6 on refuses that
				_ = tx.Rollback()
				tx, err = app.BeginTx(t.Context(), nil)
				r.Must(err)
				got, err = r.calls(tx, "put", "order", order.Key, "check", "", rig.At("15:00"), nil, string(policy))
			}
			r.Must(err)
			r.Must(tx.Commit())
			if is := r.only(order); got.did != "inserted" || !strings.Contains(is, "next 2026-11-20 15:00:00") {
				t.Errorf("%s: %s: %s", policy, got.did, is)
			}
			_, err = r.calls(app, "put", "order", order.Key, "check", "", rig.At("15:00"), nil, "error")
			var refused *mysql.MySQLError
			if !errors.As(err, &refused) || refused.Message != "put: it is pending already, due at 2026-11-20 15:00:00.000000: check of order/"+order.Key {
				t.Errorf("%s: %v", policy, err)
			}
		}
	})
}

// A reschedule of what is not pending keeps nobody else waiting, however long the caller's transaction is open.
func TestARescheduleOfNothingLocksNoGap(t *testing.T) {
	besideOthers(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.StoredProcedures)
		now := rig.At("13:00")
		r.Insert(now, prescient.NewJob{Entity: prescient.Entity{Name: "order", Key: "there"}, JobExec: "check", DueAt: rig.At("14:00")})
		tx, err := r.AppAs("app-sql", now).BeginTx(t.Context(), &sql.TxOptions{Isolation: sql.LevelRepeatableRead})
		r.Must(err)
		got, err := r.calls(tx, "reschedule", "order", "not there", "check", "", rig.At("15:00"))
		if err != nil || got.did != "absent" {
			t.Fatalf("%+v, %v", got, err)
		}
		other, err := r.AppAt(now).Conn(t.Context())
		r.Must(err)
		defer other.Close()
		_, err = other.ExecContext(t.Context(), "SET innodb_lock_wait_timeout = 1")
		r.Must(err)
		for _, key := range []string{"a", "b", "c", "d", "e"} { // on either side of it
			if _, err := r.Client.Insert(t.Context(), other, prescient.NewJob{Entity: prescient.Entity{Name: "order", Key: key}, JobExec: "check", DueAt: rig.At("14:00")}); err != nil {
				t.Errorf("%s: %v", key, err)
			}
		}
		if _, err := r.Client.Reschedule(t.Context(), other, prescient.Entity{Name: "order", Key: "there"}, "check", "", rig.At("16:00")); err != nil {
			t.Error(err)
		}
		if _, err := other.ExecContext(t.Context(), "INSERT INTO p_future_job (entity_name, entity_key, job_exec, due_at) VALUES ('order', 'not there', 'check', '2026-11-20 14:00')"); !errno.Is(err, errno.LockWaitTimeout) {
			t.Errorf("what was absent is inserted before the caller has committed: %v", err)
		}
		r.Must(tx.Commit())
		if n := len(r.Pending()); n != 6 {
			t.Errorf("%d are pending", n)
		}
	})
}

// What somebody has inserted and not committed is not kept, whatever the isolation level of the caller, who keeps that.
func TestPutKeepsNothingThatNobodyHasCommitted(t *testing.T) {
	besideOthers(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.StoredProcedures)
		holder, _ := r.Hold("INSERT INTO p_future_job (entity_name, entity_key, job_exec, due_at) VALUES ('order', '1', 'check', '2026-11-20 15:00')")
		conn, err := r.AppAs("app-sql", rig.At("13:00")).Conn(t.Context())
		r.Must(err)
		defer conn.Close()
		_, err = conn.ExecContext(t.Context(), "SET SESSION TRANSACTION ISOLATION LEVEL READ UNCOMMITTED")
		r.Must(err)
		did := make(chan string)
		go func() {
			var a asked
			err := conn.QueryRowContext(t.Context(), "CALL p_put('order', '1', 'check', '', '2026-11-20 14:00', NULL, 'keep')").Scan(&a.did, &a.due, &a.slot)
			did <- fmt.Sprintf("%s %v", a.did, err)
		}()
		r.WaitForLock("p_future_job")
		_, err = holder.ExecContext(t.Context(), "ROLLBACK")
		r.Must(err)
		if got := <-did; got != "inserted <nil>" || len(r.Pending()) != 1 {
			t.Errorf("%s; %d are pending", got, len(r.Pending()))
		}
		var name, level string
		if err := conn.QueryRowContext(t.Context(), "SHOW SESSION VARIABLES WHERE Variable_name IN ('tx_isolation', 'transaction_isolation')").Scan(&name, &level); err != nil || level != "READ-UNCOMMITTED" {
			t.Errorf("%s is %s, %v", name, level, err)
		}
	})
}

// A put that commits while the job_exec runs is never settled by the answer of that call: whatever its policy, what it asks for is pending.
func TestAPutWinsOverARunningJobExec(t *testing.T) {
	besideOthers(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.StoredProcedures)
		for _, policy := range []string{"keep", "earlier", "later", "replace"} {
			order := prescient.Entity{Name: "order", Key: policy}
			r.Insert(rig.At("13:00"), prescient.NewJob{Entity: order, JobExec: "check", DueAt: rig.At("14:00")})
		}
		app := r.AppAs("app-sql", rig.At("14:00:01"))
		registry := rig.Registry("check", func(_ context.Context, job prescient.FutureJob) (*time.Time, error) {
			if got, err := r.calls(app, "put", "order", job.EntityKey, "check", "", rig.At("14:30"), nil, job.EntityKey); err != nil || got.did != "replaced" {
				t.Errorf("%s: %+v, %v", job.EntityKey, got, err)
			}
			return nil, nil
		}, prescient.Guards{})
		r.RunAt(rig.At("14:00:01"), registry, worker.Options{})
		for _, job := range r.Pending() {
			if !job.NextCheckAt.Equal(rig.At("14:30")) {
				t.Errorf("%+v", job)
			}
		}
		if len(r.Pending()) != 4 || len(r.History()) != 0 {
			t.Errorf("%d are pending, %d ended", len(r.Pending()), len(r.History()))
		}
	})
}
