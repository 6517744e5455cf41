package worker

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"prescient/prescient"
	"prescient/prescient/internal/rig"
	"prescient/prescient/localserver"
	"prescient/prescient/localserver/servertest"
	"prescient/prescient/worker/books"
	text "prescient/sql"
)

const snapshot = "WITH CONSISTENT SNAPSHOT"

// aReadView is what MariaDB's InnoDB says of a transaction by whose snapshot purge goes.
var aReadView = regexp.MustCompile(`(?s)thread id (\d+),.*\nTrx read view will not see`)

// snapshots is how many transactions of the worker's account have a snapshot open.
func (r *testRig) snapshots() (n int) {
	r.T.Helper()
	if r.Server != text.MariaDB {
		return r.Count(`SELECT COUNT(*) FROM performance_schema.events_transactions_current trx JOIN performance_schema.threads USING (THREAD_ID)
			WHERE PROCESSLIST_USER = ? AND STATE = 'ACTIVE' AND ISOLATION_LEVEL = 'REPEATABLE READ'`, r.User("worker"))
	}
	var kind, name, status string
	r.Must(r.Root.QueryRow("SHOW ENGINE INNODB STATUS").Scan(&kind, &name, &status))
	for _, transaction := range strings.Split(status, "\n---TRANSACTION ") {
		if match := aReadView.FindStringSubmatch(transaction); match != nil {
			n += r.Sessions("id = ? AND user = ?", match[1], r.User("worker"))
		}
	}
	return n
}

// asOthers fails the test where an idle connection of the pool has a snapshot open, or its next transaction gets one.
func (r *testRig) asOthers(db *sqlx.DB) {
	r.T.Helper()
	idle := r.Sessions("user = ?", r.User("worker"))
	if idle < 2 {
		r.T.Errorf("%d connections came back: the test shows little", idle)
	}
	// A connection that was given up goes with its snapshot once the server has seen it: not before the next statement of ours.
	r.Eventually("no connection that came back has a snapshot open", func() bool { return r.snapshots() == 0 })
	for range idle { // each stays taken until the end
		conn, err := db.Conn(r.T.Context())
		r.Must(err)
		defer conn.Close()
		tx, err := conn.BeginTx(r.T.Context(), nil)
		r.Must(err)
		defer func() { _ = tx.Rollback() }()
		var buckets int
		r.Must(tx.QueryRow("SELECT COUNT(*) FROM p_slot_run").Scan(&buckets))
	}
	if n := r.snapshots(); n > 0 {
		r.T.Errorf("the next transactions of %d connections that came back have a snapshot", n)
	}
}

// runSlowly starts the run of a slot of several buckets, whose calls wait; end lets them go on and waits for its end.
func (r *testRig) runSlowly(w func(*prescient.Registry) *Worker) (end func()) {
	r.T.Helper()
	const rows = 400
	r.ManyDue(rig.At("13:15"), "check", 0, rows)
	release := make(chan struct{})
	var ran books.Figures
	var err error
	var run sync.WaitGroup
	end = sync.OnceFunc(func() {
		close(release)
		run.Wait()
		if err != nil || ran.Done != rows {
			r.T.Errorf("%+v, %v", ran, err)
		}
	})
	r.T.Cleanup(end)
	worker := w(rig.Registry("check", func(context.Context, prescient.FutureJob) (*time.Time, error) {
		<-release
		return nil, nil
	}, prescient.Guards{}))
	run.Go(func() { ran, err = worker.Run(r.T.Context()) })
	return end
}

// opensSnapshot tells when a worker with these hooks has its snapshot open, and fails the test unless the server shows it
// then: the worker goes on when that was looked at.
func (r *testRig) opensSnapshot(h *rig.Hooks) (opened chan struct{}) {
	opened = make(chan struct{})
	h.OnAnswer(func(statement string) error {
		if strings.Contains(statement, snapshot) {
			n := 0
			for end := time.Now().Add(10 * time.Second); n != 1 && time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
				n = r.snapshots() // a statement of another transaction may have one, too, for as long as it takes
			}
			if n != 1 {
				r.T.Errorf("%d snapshots are open; want 1", n)
			}
			close(opened)
		}
		return nil
	})
	return opened
}

// TestPurgeIsPutOff has servers for itself, on which nobody else has a transaction open or leaves much to be purged: by both of
// these a worker goes. Its account may look at them.
func TestPurgeIsPutOff(t *testing.T) {
	t.Parallel()
	servertest.EachFlavour(t, func(t *testing.T, flavour localserver.Flavour) {
		server := servertest.Private(t, flavour)
		for _, c := range []struct {
			name string
			test func(t *testing.T, r *testRig)
		}{
			{"until the end of a large slot", purgeWaitsForTheEndOfALargeSlot},
			{"for a bounded time", purgeWaitsForABoundedTime},
			{"only where that pays", purgeIsPutOffOnlyWhereThatPays},
			{"and where it cannot be the slot is run", aSlotIsRunWherePurgeCannotBePutOff},
			{"by nobody who may not look", purgeIsPutOffByNobodyWhoMayNotLook},
			{"never while a transaction is long", purgeIsNotPutOffWhileATransactionIsLong},
			{"until others leave much to it", purgeIsPutOffUntilOthersLeaveMuchToIt},
		} {
			t.Run(c.name, func(t *testing.T) {
				r := newRig(t, servertest.On(t, server), 15*time.Minute)
				r.Needs(t, rig.HeldPurge)
				r.mayLook()
				c.test(t, r)
			})
		}
	})
}

// mayLook lets workers that connect from now on see other accounts' transactions.
func (r *testRig) mayLook() {
	r.T.Helper()
	r.Account("worker")
	r.Exec("GRANT PROCESS ON *.* TO '" + r.User("worker") + "'@'%'")
}

func purgeWaitsForTheEndOfALargeSlot(t *testing.T, r *testRig) {
	var h rig.Hooks
	opened := r.opensSnapshot(&h)
	var w *Worker
	end := r.runSlowly(func(execs *prescient.Registry) *Worker {
		w = r.hookedWorker(rig.At("13:15"), &h, execs, Options{Load: Load{Batch: 50, PutOffPurge: 10 * time.Second}})
		w.send.DB.SetMaxIdleConns(64)
		return w
	})
	<-opened
	end()
	r.asOthers(w.send.DB)
}

// Purge is put off for the whole server: not for as long as a slot run takes whose calls are slow.
func TestPurgeWaitsForAThirdOfALeaseAtMost(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ lease, given, want time.Duration }{
		{2 * time.Second, 10 * time.Second, 2 * time.Second / 3},
		{time.Minute, 0, 0},
		{time.Hour, 10 * time.Second, 10 * time.Second},
		{time.Minute, 15 * time.Second, 15 * time.Second},
		{time.Minute, 25 * time.Second, 20 * time.Second},
		{time.Minute, time.Millisecond, time.Millisecond},
	} {
		o := Options{Times: Times{Lease: c.lease}, Load: Load{PutOffPurge: c.given}}
		if err := o.complete(); err != nil {
			t.Fatal(err)
		}
		if got := o.putOff(); got != c.want {
			t.Errorf("with a lease of %s, and %s given: %s; want %s", c.lease, c.given, got, c.want)
		}
	}
}

func purgeWaitsForABoundedTime(t *testing.T, r *testRig) {
	var h rig.Hooks
	opened := r.opensSnapshot(&h)
	var w *Worker
	end := r.runSlowly(func(execs *prescient.Registry) *Worker {
		w = r.hookedWorker(rig.At("13:15"), &h, execs, Options{Load: Load{Batch: 50, PutOffPurge: 10 * time.Second}, Times: Times{Lease: 2 * time.Second}})
		return w
	})
	<-opened
	r.Eventually("it ends while the calls go on", func() bool { return r.snapshots() == 0 })
	end()
	// And of itself, where nobody ends it.
	h.OnAnswer(nil)
	w.purge.PutOff(t.Context(), rig.At("13:15"))
	if n := h.Count(snapshot); n != 2 {
		t.Errorf("%d snapshots were opened; want 2", n)
	}
}

func purgeIsPutOffOnlyWhereThatPays(t *testing.T, r *testRig) {
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
		slot := rig.At("13:15").Add(time.Duration(i) * time.Hour)
		r.ManyDue(slot, "check", i*1000, i*1000+c.rows)
		var h rig.Hooks
		now := slot
		if c.sweeps {
			now = slot.Add(time.Hour)
		}
		reached := make(chan struct{})
		reach := sync.OnceFunc(func() { close(reached) })
		h.Once(snapshot, reach)
		if c.snapshots == 0 {
			reach()
		}
		w := r.hookedWorker(now, &h, rig.Registry("check", func(context.Context, prescient.FutureJob) (*time.Time, error) {
			<-reached
			return nil, nil
		}, prescient.Guards{}), Options{Load: Load{Batch: 50, PutOffPurge: c.putOff}})
		w.send.DB.SetMaxOpenConns(c.limit)
		var err error
		if c.sweeps {
			_, err = w.Sweep(t.Context())
		} else {
			_, err = w.Run(t.Context())
		}
		r.Must(err)
		if n := h.Count(snapshot); n != c.snapshots {
			t.Errorf("%s: %d snapshots; want %d", c.name, n, c.snapshots)
		}
	}
	if n := len(r.Pending()); n > 0 {
		t.Errorf("%d are pending", n)
	}
}

// What goes wrong with it is no trouble of the run's, and leaves no connection behind that differs from the others.
func aSlotIsRunWherePurgeCannotBePutOff(t *testing.T, r *testRig) {
	for i, c := range []struct {
		refused string
		givenUp int // connections
	}{
		{"INNODB_TRX", 0}, // the look, before anything is set
		{"SET TRANSACTION", 1},
		{snapshot, 1},
		{"ROLLBACK", 1},
	} {
		const rows = 400
		refused := c.refused
		slot := rig.At("13:15").Add(time.Duration(i) * time.Hour)
		r.ManyDue(slot, "check", i*rows, (i+1)*rows)
		var h rig.Hooks
		refusals := 0
		reached := make(chan struct{}) // the refusal, or what comes before it
		reach := sync.OnceFunc(func() { close(reached) })
		h.OnStatement(func(statement string) error {
			if strings.Contains(statement, refused) {
				refusals++
				reach()
				return errors.New("refused")
			}
			return nil
		})
		h.OnAnswer(func(statement string) error {
			if strings.Contains(statement, snapshot) {
				reach()
			}
			return nil
		})
		w := r.hookedWorker(slot, &h, rig.Registry("check", func(context.Context, prescient.FutureJob) (*time.Time, error) {
			<-reached
			return nil, nil
		}, prescient.Guards{}), Options{Load: Load{Batch: 50, PutOffPurge: 10 * time.Second}})
		w.send.DB.SetMaxIdleConns(64)
		figures, err := w.Run(t.Context())
		if err != nil || figures.Done != rows || refusals != 1 {
			t.Errorf("%s is refused %d times: %+v, %v", refused, refusals, figures, err)
		}
		if n := h.Count("CLOSE"); n != c.givenUp {
			t.Errorf("%s is refused: %d connections are given up; want %d", refused, n, c.givenUp)
		}
		h.OnStatement(nil)
		r.asOthers(w.send.DB)
	}
}
