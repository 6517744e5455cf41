package worker

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"prescient/prescient"
	"prescient/prescient/internal/rig"
	text "prescient/sql"
)

func purgeIsPutOffByNobodyWhoMayNotLook(t *testing.T, r *testRig) {
	r.Exec("REVOKE PROCESS ON *.* FROM '" + r.User("worker") + "'@'%'")
	var h rig.Hooks
	var log lines
	looks := make(chan struct{}, 2)
	h.OnStatement(func(statement string) error {
		if strings.Contains(statement, "INNODB_TRX") {
			looks <- struct{}{}
		}
		return nil
	})
	w := r.hookedWorker(rig.At("13:15"), &h, rig.Registry("check", func(context.Context, prescient.FutureJob) (*time.Time, error) {
		<-looks // the run goes on once the worker has looked
		looks <- struct{}{}
		return nil, nil
	}, prescient.Guards{}), Options{Load: Load{Batch: 50, PutOffPurge: 10 * time.Second}, Log: zerolog.New(&log)})
	for i := range 2 {
		r.ManyDue(rig.At("13:15"), "check", i*1000, i*1000+400)
		figures, err := w.Run(t.Context())
		if err != nil || figures.Done != 400 {
			t.Errorf("%+v, %v", figures, err)
		}
		<-looks
	}
	// The second run has late rows in the buckets of the first.
	if n := h.Count("INNODB_TRX"); n != 2 {
		t.Errorf("it looked %d times; want 2", n)
	}
	if n := h.Count(snapshot); n != 0 {
		t.Errorf("%d snapshots; want none", n)
	}
	if n := log.count("GRANT PROCESS ON *.*"); n != 1 {
		t.Errorf("the log says %d times which right is missing; want once", n)
	}
}

func purgeIsNotPutOffWhileATransactionIsLong(t *testing.T, r *testRig) {
	conn, err := r.Root.Conn(t.Context())
	r.Must(err)
	defer conn.Close()
	_, err = conn.ExecContext(t.Context(), "START TRANSACTION WITH CONSISTENT SNAPSHOT")
	r.Must(err)
	var id int
	r.Must(conn.QueryRowContext(t.Context(), "SELECT CONNECTION_ID()").Scan(&id))
	var h rig.Hooks
	var log lines
	end := r.runSlowly(func(execs *prescient.Registry) *Worker {
		w := r.hookedWorker(rig.At("13:15"), &h, execs, Options{Load: Load{Batch: 50, PutOffPurge: time.Second}, Log: zerolog.New(&log).Level(zerolog.DebugLevel)})
		r.Eventually("the transaction is older than what the run asks for", func() bool {
			seen, err := w.purge.Look(t.Context(), r.Root, 0, rig.At("13:15"))
			r.Must(err)
			return seen.Oldest > 2*time.Second
		})
		return w
	})
	r.Eventually("the worker leaves purge alone", func() bool { return log.count("purge is not put off") == 1 })
	if log.count("a transaction of somebody else is open for") != 1 || h.Count(snapshot) > 0 {
		t.Errorf("%d snapshots: %s", h.Count(snapshot), log.all())
	}
	end()
	_, err = conn.ExecContext(t.Context(), "ROLLBACK")
	r.Must(err)
	r.Eventually("it is gone", func() bool {
		return r.Count("SELECT COUNT(*) FROM information_schema.INNODB_TRX WHERE trx_mysql_thread_id = ?", id) == 0
	})
}

// It ends by what others commit, and by nothing that the workers of the slot do.
func purgeIsPutOffUntilOthersLeaveMuchToIt(t *testing.T, r *testRig) {
	// The test's own server waits for no disk.
	r.Exec("SET GLOBAL innodb_flush_log_at_trx_commit = 0")
	r.Exec("SET GLOBAL sync_binlog = 0")
	slot := rig.At("13:15")
	const mostOthers, rows = 100, 300
	r.ManyDue(slot, "check", 0, rows)
	settled := rig.Registry("check", func(context.Context, prescient.FutureJob) (*time.Time, error) { return nil, nil }, prescient.Guards{})
	var h rig.Hooks
	var log lines
	opened := r.opensSnapshot(&h)
	w := r.hookedWorker(slot, &h, settled, Options{Times: Times{Lease: 10 * time.Minute}, Load: Load{PutOffPurge: time.Minute}, Log: zerolog.New(&log).Level(zerolog.DebugLevel)})
	w.purge.MostOthers = mostOthers
	if r.Server != text.MariaDB { // which takes what is purged from its list when there is much of it, in the middle of what follows
		r.Exec("SET GLOBAL innodb_purge_rseg_truncate_frequency = 1")
	}
	r.Eventually("what was there before is purged", func() bool {
		seen, err := w.purge.Look(t.Context(), r.Root, 0, slot)
		r.Must(err)
		return seen.Behind < mostOthers/2
	})
	var holding sync.WaitGroup
	defer holding.Wait()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	holding.Go(func() { w.purge.PutOff(ctx, slot) })
	<-opened
	looksAgain := func() {
		t.Helper()
		looks := h.Count("INNODB_TRX")
		r.Eventually("it looks again", func() bool { return h.Count("INNODB_TRX") > looks+1 })
	}
	before, err := w.purge.Look(ctx, r.Root, 0, slot)
	r.Must(err)
	figures := r.runAt(slot, settled, Options{Load: Load{Batch: 2}})
	if figures.Done != rows {
		t.Errorf("%+v", figures)
	}
	after, err := w.purge.Look(ctx, r.Root, 0, slot)
	r.Must(err)
	if own, list := after.Own-before.Own, after.Behind-before.Behind; own <= mostOthers || list <= mostOthers || list-own > mostOthers/2 {
		t.Errorf("the slot has %d commits, and the list has grown by %d", own, list)
	}
	looksAgain()
	if n := r.snapshots(); n != 1 {
		t.Errorf("%d snapshots are open after the slot's own commits; want 1: %s", n, log.all())
	}
	r.Exec("CREATE TABLE p_orders (id INT PRIMARY KEY, n INT NOT NULL)")
	r.Exec("INSERT INTO p_orders VALUES (1, 0)")
	for range mostOthers + 100 {
		r.Exec("UPDATE p_orders SET n = n + 1 WHERE id = 1")
	}
	holding.Wait()
	if log.count("the history list has grown by") != 1 || ctx.Err() != nil {
		t.Errorf("it ended for another reason: %s", log.all())
	}
	r.Eventually("the snapshot is gone", func() bool { return r.snapshots() == 0 })
}
