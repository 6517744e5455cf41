package acceptance

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/event"
	"prescient/prescient/internal/errno"
	"prescient/prescient/internal/rig"
	"prescient/prescient/worker"
)

// asked is what put and reschedule answer.
type asked struct {
	did       string
	due, slot sql.NullString
}

// calls has a procedure called on a handle, in the transaction of that or in none.
func (r *testRig) calls(db interface {
	QueryRow(query string, args ...any) *sql.Row
}, procedure string, args ...any) (a asked, err error) {
	r.T.Helper()
	err = db.QueryRow("CALL p_"+procedure+"(?"+strings.Repeat(", ?", len(args)-1)+")", args...).Scan(&a.did, &a.due, &a.slot)
	return a, err
}

// What put does is what the client does, by each of its policies, whatever is pending.
func TestPutDoesWhatAnInsertOfTheClientDoes(t *testing.T) {
	besideOthers(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.StoredProcedures)
		now := rig.At("13:00")
		app := r.AppAs("app-sql", now)
		for _, was := range []string{"", "12:50", "13:10", "13:40"} { // what is pending is due then, or nothing is
			for _, policy := range []prescient.OnPending{prescient.Keep, prescient.Replace, prescient.Earlier, prescient.Later, prescient.OnPendingError} {
				for _, due := range []string{"12:00", "13:20", "13:45", "13:50"} {
					key := strings.Join([]string{was, string(policy), due}, " ")
					by := []prescient.Entity{{Name: "sql", Key: key}, {Name: "go", Key: key}}
					if was != "" {
						for _, e := range by {
							r.Insert(rig.At("12:30"), prescient.NewJob{Entity: e, JobExec: "check", Tag: "ü", DueAt: rig.At(was), Payload: []byte(`{"old": 1}`)})
							r.Exec("UPDATE p_future_job SET check_count = 3 WHERE entity_name = ? AND entity_key = ?", e.Name, e.Key)
						}
					}
					got, failed := r.calls(app, "put", by[0].Name, key, "check", "ü", rig.At(due), `{"new": "ü"}`, string(policy))
					did, err := r.Client.Insert(t.Context(), r.AppAt(now), prescient.NewJob{Entity: by[1], JobExec: "check", Tag: "ü", DueAt: rig.At(due), Payload: []byte(`{"new": "ü"}`), OnPending: policy})
					if (failed == nil) != (err == nil) || err == nil && got.did != string(did.Did) {
						t.Errorf("%s: by SQL %s (%v), by the client %s (%v)", key, got.did, failed, did.Did, err)
						continue
					}
					is, want := r.only(by[0]), r.only(by[1])
					if is != want {
						t.Errorf("%s: by SQL %s, by the client %s", key, is, want)
					}
					if err == nil && !strings.Contains(is, "next "+got.slot.String[:19]) {
						t.Errorf("%s: it answers with the slot %s, and %s is pending", key, got.slot.String, is)
					}
				}
			}
		}
	})
}

// only is the one pending row of an entity, in words.
func (r *testRig) only(e prescient.Entity) string {
	r.T.Helper()
	var row string
	r.Must(r.Root.QueryRow(`SELECT CONCAT_WS(' ', job_exec, tag, 'due', due_at, 'first', first_check_at, 'next', next_check_at, check_count, error_count, COALESCE(payload, 'none'), HEX(RIGHT(job_key, 4)), COALESCE(expires_at, 'never'))
		FROM p_future_job WHERE entity_name = ? AND entity_key = ?`, e.Name, e.Key).Scan(&row))
	return row
}

// Put and reschedule are part of the caller's transaction, whatever its isolation level, and see what others committed after it began.
func TestPutAndRescheduleWorkInTheCallersTransaction(t *testing.T) {
	besideOthers(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.StoredProcedures)
		now := rig.At("13:00")
		app := r.AppAs("app-sql", now)
		for _, level := range []sql.IsolationLevel{sql.LevelReadCommitted, sql.LevelRepeatableRead} {
			key := strings.ReplaceAll(level.String(), " ", "-")
			order := prescient.Entity{Name: "order", Key: key}
			begin := func() *sql.Tx {
				t.Helper()
				tx, err := app.BeginTx(t.Context(), &sql.TxOptions{Isolation: level})
				r.Must(err)
				var n int
				r.Must(tx.QueryRow("SELECT COUNT(*) FROM p_schedule").Scan(&n)) // its snapshot is of now
				return tx
			}
			tx := begin()
			got, err := r.calls(tx, "put", "order", key, "check", "", rig.At("14:00"), nil, "keep")
			r.Must(err)
			r.Must(tx.Rollback())
			if n := r.Count("SELECT COUNT(*) FROM p_future_job WHERE entity_key = ?", key); got.did != "inserted" || n != 0 {
				t.Errorf("%s: %s, and %d rows after the rollback", level, got.did, n)
			}
			// Somebody else inserts after the snapshot, and commits.
			tx = begin()
			r.Insert(now, prescient.NewJob{Entity: order, JobExec: "check", DueAt: rig.At("14:00")})
			got, err = r.calls(tx, "put", "order", key, "check", "", rig.At("15:00"), nil, "replace")
			if errno.Is(err, errno.CheckRead) { // MariaDB from 11.6 on refuses that, and has rolled back
				_ = tx.Rollback()
				tx = begin()
				got, err = r.calls(tx, "put", "order", key, "check", "", rig.At("15:00"), nil, "replace")
			}
			r.Must(err)
			r.Must(tx.Commit())
			if is := r.only(order); got.did != "replaced" || !strings.Contains(is, "next 2026-11-20 15:00:00") {
				t.Errorf("%s: %s: %s", level, got.did, is)
			}
			tx = begin()
			r.Exec("UPDATE p_future_job SET expires_at = due_at + INTERVAL 1 HOUR, check_count = 2, revision = revision + 1 WHERE entity_key = ?", key)
			got, err = r.calls(tx, "reschedule", "order", key, "check", "", rig.At("16:10"))
			if errno.Is(err, errno.CheckRead) {
				_ = tx.Rollback()
				tx = begin()
				got, err = r.calls(tx, "reschedule", "order", key, "check", "", rig.At("16:10"))
			}
			r.Must(err)
			r.Must(tx.Commit())
			if is := r.only(order); got.did != "rescheduled" || !strings.Contains(is, "next 2026-11-20 16:15:00 2 0") || !strings.Contains(is, "2026-11-20 17:10:00") {
				t.Errorf("%s: %s: %s", level, got.did, is)
			}
			if got, err = r.calls(app, "reschedule", "order", key, "other", "", rig.At("16:10")); err != nil || got.did != "absent" || got.slot.Valid {
				t.Errorf("%+v, %v", got, err)
			}
			// What is kept is locked until the caller commits: nobody cancels it meanwhile.
			tx = begin()
			got, err = r.calls(tx, "put", "order", key, "check", "", rig.At("18:00"), nil, "keep")
			r.Must(err)
			var one int
			err = r.Root.QueryRowContext(t.Context(), "SELECT 1 FROM p_future_job WHERE entity_key = ? FOR UPDATE NOWAIT", key).Scan(&one)
			if got.did != "kept" || err == nil {
				t.Errorf("%s: %s, and it is not locked", level, got.did)
			}
			r.Must(tx.Rollback())
		}
	})
}

// What no check can be is refused, and leaves the caller's transaction as it was.
func TestPutRefusesWhatNoCheckCanBe(t *testing.T) {
	besideOthers(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.StoredProcedures)
		app := r.AppAs("app-sql", rig.At("13:00"))
		due := rig.At("14:00")
		for what, args := range map[string][]any{
			"reserved for schedules":  {"schedule", "1", "check", "", due, nil, "keep"},
			"are needed":              {"order", nil, "check", "", due, nil, "keep"},
			"keep, replace, earlier":  {"order", "1", "check", "", due, nil, "sometimes"},
			"p_future_job_identified": {"order", "1", "che ck", "", due, nil, "keep"},
			"p_future_job_named":      {"", "1", "check", "", due, nil, "keep"},
			"p_future_job_seen":       {"order", "1\u200b", "check", "", due, nil, "keep"},
			"on pending NULL":         {"order", "1", "check", "", due, nil, nil},
		} {
			tx, err := app.BeginTx(t.Context(), nil)
			r.Must(err)
			_, err = tx.Exec("CALL p_publish('orders', 'order/1', 'before', 'x')")
			r.Must(err)
			if _, err := r.calls(tx, "put", args...); err == nil || !strings.Contains(err.Error(), what) {
				t.Errorf("%v: %v; want %s", args, err, what)
			}
			if n := 0; tx.QueryRow("SELECT COUNT(*) FROM p_schedule").Scan(&n) != nil {
				t.Errorf("%v: the transaction is over", args)
			}
			r.Must(tx.Commit())
		}
		if len(r.Pending()) != 0 {
			t.Errorf("%+v", r.Pending())
		}
		if _, err := r.calls(app, "put", "order", strings.Repeat("k", 129), "check", "", due, nil, "keep"); err == nil {
			t.Error("a key of 129 characters was taken")
		}
	})
}

// Many who put the same checks at once, beside a worker that ends them, lose none, and none twice.
func TestPutsAtOnceMeetAWorker(t *testing.T) {
	besideOthers(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.StoredProcedures)
		registry := rig.Registry("check", func(context.Context, prescient.FutureJob) (*time.Time, error) { return nil, nil }, prescient.Guards{})
		app := r.AppAs("app-sql", rig.At("13:00"))
		var all sync.WaitGroup
		for i := range 4 {
			all.Go(func() {
				for k := range 25 {
					policy := []string{"keep", "replace", "earlier", "later"}[(i+k)%4]
					if _, err := r.calls(app, "put", "order", fmt.Sprint(k), "check", "", rig.At("13:50"), nil, policy); err != nil {
						t.Errorf("%s: %v", policy, err)
					}
				}
			})
		}
		all.Wait()
		if n := r.Count("SELECT COUNT(*) FROM p_future_job"); n != 25 {
			t.Errorf("%d are pending", n)
		}
		r.RunAt(rig.At("14:00"), registry, worker.Options{})
		if n := r.Count("SELECT COUNT(*) FROM p_job_history WHERE outcome = 'done'"); n != 25 {
			t.Errorf("%d are done", n)
		}
		rows, err := r.AppAs("app-sql", rig.At("14:01")).Query("CALL p_ended('order', '7')")
		r.Must(err)
		defer rows.Close()
		ended := 0
		for rows.Next() {
			ended++
		}
		if r.Must(rows.Err()); ended != 1 {
			t.Errorf("order 7 has %d ends", ended)
		}
	})
}

// What is published by SQL is what the library publishes.
func TestPublishPutsAnEventWhereTheLibraryDoes(t *testing.T) {
	besideOthers(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.StoredProcedures)
		for i := range 20 {
			key := fmt.Sprintf("order/%dü", i)
			_, err := r.AppAs("app-sql", rig.At("13:00")).Exec("CALL p_publish('orders', ?, ?, ?)", key, "sql-"+key, []byte{0, 255})
			r.Must(err)
			r.Must(event.New(r.Client).Publish(t.Context(), r.AppAt(rig.At("13:00")), event.Event{ID: "go-" + key, Topic: "orders", Key: key, Payload: []byte{0, 255}}))
		}
		if n := r.Count("SELECT COUNT(*) FROM (SELECT event_key FROM p_event_outbox GROUP BY event_key, shard, topic, payload, generated_at, inserted_at HAVING COUNT(*) = 2) same"); n != 20 {
			t.Errorf("%d of 20 are the same", n)
		}
		if _, err := r.AppAs("app-sql", rig.At("13:00")).Exec("CALL p_publish('or ders', 'k', 'i', NULL)"); err == nil {
			t.Error("a topic with a blank was taken")
		}
	})
}
