package prescient

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	text "prescient/sql"
)

const snapshot = "WITH CONSISTENT SNAPSHOT"

// aReadView is what MariaDB's InnoDB says of a transaction by whose snapshot purge goes.
var aReadView = regexp.MustCompile(`(?s)thread id (\d+),.*\nTrx read view will not see`)

// snapshots is how many transactions of the worker's account have a snapshot open.
func (r *rig) snapshots() (n int) {
	r.t.Helper()
	if r.server != text.MariaDB {
		return r.count(`SELECT COUNT(*) FROM performance_schema.events_transactions_current trx JOIN performance_schema.threads USING (THREAD_ID)
			WHERE PROCESSLIST_USER = ? AND STATE = 'ACTIVE' AND ISOLATION_LEVEL = 'REPEATABLE READ'`, r.user("worker"))
	}
	var kind, name, status string
	r.must(r.root.QueryRow("SHOW ENGINE INNODB STATUS").Scan(&kind, &name, &status))
	for _, transaction := range strings.Split(status, "\n---TRANSACTION ") {
		if match := aReadView.FindStringSubmatch(transaction); match != nil {
			n += r.count("SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE ID = ? AND USER = ?", match[1], r.user("worker"))
		}
	}
	return n
}

// asOthers fails the test where an idle connection of the pool has a snapshot open, or its next transaction gets one.
func (r *rig) asOthers(db *sqlx.DB) {
	r.t.Helper()
	idle := db.Stats().Idle
	if idle < 2 {
		r.t.Errorf("%d connections came back: the test shows little", idle)
	}
	// A connection that was given up goes with its snapshot once the server has seen it: not before the next statement of ours.
	r.eventually("no connection that came back has a snapshot open", func() bool { return r.snapshots() == 0 })
	for range idle { // each stays taken until the end
		conn, err := db.Conn(r.t.Context())
		r.must(err)
		defer conn.Close()
		tx, err := conn.BeginTx(r.t.Context(), nil)
		r.must(err)
		defer func() { _ = tx.Rollback() }()
		var buckets int
		r.must(tx.QueryRow("SELECT COUNT(*) FROM p_slot_run").Scan(&buckets))
	}
	if n := r.snapshots(); n > 0 {
		r.t.Errorf("the next transactions of %d connections that came back have a snapshot", n)
	}
}

// runSlowly starts the run of a slot of several buckets, whose calls wait; end lets them go on and waits for its end.
func (r *rig) runSlowly(w func(*Registry) *Worker) (end func()) {
	r.t.Helper()
	const rows = 400
	r.manyDue(at("13:15"), "check", 0, rows)
	release := make(chan struct{})
	var ran Figures
	var err error
	var run sync.WaitGroup
	end = sync.OnceFunc(func() {
		close(release)
		run.Wait()
		if err != nil || ran.Done != rows {
			r.t.Errorf("%+v, %v", ran, err)
		}
	})
	r.t.Cleanup(end)
	worker := w(registry("check", func(context.Context, FutureJob) (*time.Time, error) {
		<-release
		return nil, nil
	}, Guards{}))
	run.Go(func() { ran, err = worker.Run(r.t.Context()) })
	return end
}

func TestPurgeWaitsForTheEndOfALargeSlot(t *testing.T) {
	eachServer(t, func(t *testing.T, r *rig) {
		r.needs(t, heldPurge)
		var h hooks
		var w *Worker
		end := r.runSlowly(func(execs *Registry) *Worker {
			w = r.hookedWorker(at("13:15"), &h, execs, WorkerOptions{Batch: 50, PutOffPurge: 10 * time.Second})
			w.db.SetMaxIdleConns(maxIdle)
			return w
		})
		r.eventually("a snapshot is open", func() bool { return r.snapshots() == 1 })
		end()
		r.asOthers(w.db)
	})
}

// Purge is put off for the whole server: not for as long as a slot run takes whose calls are slow.
func TestPurgeWaitsForABoundedTime(t *testing.T) {
	for _, c := range []struct{ lease, given, want time.Duration }{
		{2 * time.Second, 10 * time.Second, 2 * time.Second / 3},
		{time.Minute, 0, 0},
		{time.Hour, 10 * time.Second, 10 * time.Second},
		{time.Minute, 15 * time.Second, 15 * time.Second},
		{time.Minute, 25 * time.Second, 20 * time.Second},
		{time.Minute, time.Millisecond, time.Millisecond},
	} {
		o := WorkerOptions{Lease: c.lease, PutOffPurge: c.given}
		if err := o.complete(); err != nil {
			t.Fatal(err)
		}
		if got := o.putOff(); got != c.want {
			t.Errorf("with a lease of %s, and %s given: %s; want %s", c.lease, c.given, got, c.want)
		}
	}
	eachServer(t, func(t *testing.T, r *rig) {
		r.needs(t, heldPurge)
		end := r.runSlowly(func(execs *Registry) *Worker {
			return r.worker(at("13:15"), execs, WorkerOptions{Batch: 50, Lease: 2 * time.Second, PutOffPurge: 10 * time.Second})
		})
		r.eventually("a snapshot is open", func() bool { return r.snapshots() == 1 })
		r.eventually("it ends while the calls go on", func() bool { return r.snapshots() == 0 })
		end()
	})
}

func TestPurgeIsPutOffOnlyWhereThatPays(t *testing.T) {
	eachServer(t, func(t *testing.T, r *rig) {
		r.needs(t, heldPurge)
		for i, c := range []struct {
			name      string
			rows      int
			limit     int // of connections
			putOff    time.Duration
			sweeps    bool
			snapshots int
		}{
			{"a slot of several buckets", 400, 0, 10 * time.Second, false, 1},
			{"a slot of one bucket", 10, 0, 10 * time.Second, false, 0},
			{"no connection to spare", 400, 20, 10 * time.Second, false, 0},
			{"nobody asked for it", 400, 0, 0, false, 0},
			{"a sweep, which has time", 400, 0, 10 * time.Second, true, 0},
		} {
			slot := at("13:15").Add(time.Duration(i) * time.Hour)
			r.manyDue(slot, "check", i*1000, i*1000+c.rows)
			var h hooks
			now := slot
			if c.sweeps {
				now = slot.Add(time.Hour)
			}
			reached := make(chan struct{})
			reach := sync.OnceFunc(func() { close(reached) })
			h.once(snapshot, reach)
			if c.snapshots == 0 {
				reach()
			}
			w := r.hookedWorker(now, &h, registry("check", func(context.Context, FutureJob) (*time.Time, error) {
				<-reached
				return nil, nil
			}, Guards{}), WorkerOptions{Batch: 50, PutOffPurge: c.putOff})
			w.db.SetMaxOpenConns(c.limit)
			var err error
			if c.sweeps {
				_, err = w.Sweep(t.Context())
			} else {
				_, err = w.Run(t.Context())
			}
			r.must(err)
			if n := h.count(snapshot); n != c.snapshots {
				t.Errorf("%s: %d snapshots; want %d", c.name, n, c.snapshots)
			}
		}
		if n := len(r.pending()); n > 0 {
			t.Errorf("%d are pending", n)
		}
	})
}

// What goes wrong with it is no trouble of the run's, and leaves no connection behind that differs from the others.
func TestASlotIsRunWherePurgeCannotBePutOff(t *testing.T) {
	eachServer(t, func(t *testing.T, r *rig) {
		r.needs(t, heldPurge)
		for i, refused := range []string{"SET TRANSACTION", snapshot, "ROLLBACK"} {
			const rows = 400
			slot := at("13:15").Add(time.Duration(i) * time.Hour)
			r.manyDue(slot, "check", i*rows, (i+1)*rows)
			var h hooks
			refusals := 0
			reached := make(chan struct{}) // the refusal, or what comes before it
			reach := sync.OnceFunc(func() { close(reached) })
			h.onStatement(func(statement string) error {
				if strings.Contains(statement, refused) {
					refusals++
					reach()
					return errors.New("refused")
				}
				return nil
			})
			h.onAnswer(func(statement string) error {
				if strings.Contains(statement, snapshot) {
					reach()
				}
				return nil
			})
			w := r.hookedWorker(slot, &h, registry("check", func(context.Context, FutureJob) (*time.Time, error) {
				<-reached
				return nil, nil
			}, Guards{}), WorkerOptions{Batch: 50, PutOffPurge: 10 * time.Second})
			w.db.SetMaxIdleConns(maxIdle)
			figures, err := w.Run(t.Context())
			if err != nil || figures.Done != rows || refusals != 1 {
				t.Errorf("%s is refused %d times: %+v, %v", refused, refusals, figures, err)
			}
			if n := h.count("CLOSE"); n != 1 {
				t.Errorf("%s is refused: %d connections are given up; want 1", refused, n)
			}
			h.onStatement(nil)
			r.asOthers(w.db)
		}
	})
}
