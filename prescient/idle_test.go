package prescient

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/jmoiron/sqlx"

	"prescient/prescient/internal/chaos/wire"
	"prescient/prescient/internal/servertest"
)

// silentAt is a pool whose network goes silent for a while at the first statement that contains a text; silent is closed then.
func (r *rig) silentAt(now time.Time, text string, wait time.Duration) (db *sqlx.DB, silent chan struct{}) {
	r.t.Helper()
	plan, err := wire.NewPlan(`[{"Match": "`+text+`", "Nth": 1, "Do": "split", "Wait": `+literal(appendInt, int64(wait))+`}]`, 1)
	r.must(err)
	silent = make(chan struct{})
	plan.Tell = func(string, string, time.Duration) { close(silent) }
	mysql.RegisterDialContext(wire.Network, plan.Dial)
	r.t.Cleanup(func() { mysql.DeregisterDialContext(wire.Network) })
	dsn := strings.Replace(servertest.WithParams(r.account("worker"), fixedClock(now)), "@tcp(", "@"+wire.Network+"(", 1)
	db, err = Open(dsn, 0)
	r.must(err)
	r.t.Cleanup(func() { _ = db.Close() })
	return db, silent
}

// A worker whose network vanishes in the middle of a commit has its rows locked, and nobody tells the server.
func TestAVanishedWorkerDoesNotHoldUpACancel(t *testing.T) {
	const silence, soon = 7 * time.Second, 5 * time.Second
	eachServer(t, func(t *testing.T, r *rig) {
		const rows = 100
		r.manyDue(at("13:15"), "check", 0, rows)
		db, silent := r.silentAt(at("13:15"), "DELETE job FROM", silence)
		var c calls
		w, err := NewWorker(t.Context(), db, WorkerOptions{Prefix: "p_", Registry: registry("check", c.count, Guards{}), Buckets: 1})
		r.must(err)
		var figures Figures
		var running sync.WaitGroup
		running.Go(func() { figures, err = w.Run(t.Context()) })
		<-silent
		began := time.Now()
		for _, key := range []string{"1", "2"} {
			if n, err := r.client.Cancel(t.Context(), r.app, order(key)); err != nil {
				t.Error(n, err)
			}
		}
		if took := time.Since(began); took > soon {
			t.Errorf("the cancels took %s", took)
		}
		running.Wait()
		if err != nil || figures.Done+figures.Dropped != rows {
			t.Errorf("%+v, %v", figures, err)
		}
		r.balanced()
	})
}

// A transaction that a function works in idles for as long as that may take.
func TestAFunctionInATransactionMayTakeItsTime(t *testing.T) {
	eachServer(t, func(t *testing.T, r *rig) {
		r.manyDue(at("13:15"), "slow", 0, 3)
		r.manyDue(at("13:15"), "fast", 10, 300)
		execs := registry("fast", func(context.Context, FutureJob) (*time.Time, error) { return nil, nil }, Guards{})
		r.must(execs.RegisterTx("slow", func(ctx context.Context, _ *sqlx.Tx, job FutureJob) (*time.Time, error) {
			if job.EntityKey == "1" {
				return nil, sleep(ctx, idleInCommit+time.Second)
			}
			return nil, nil
		}, Guards{}))
		figures := r.runAt(at("13:15"), execs, WorkerOptions{})
		if figures.Done != 293 || figures.Moved != 0 || figures.Retries != 0 {
			t.Errorf("%+v", figures)
		}
		if figures := r.runAt(at("13:15"), execs, WorkerOptions{}); figures.Retries != 0 {
			t.Errorf("%+v", figures)
		}
		r.balanced()
	})
}

// A handler may begin transactions of its own on the worker's pool: they idle for as long as the pool lets them, also on a
// connection on which a commit was done.
func TestATransactionThatDoesNotAskForItIdlesAsThePoolLetsIt(t *testing.T) {
	eachServer(t, func(t *testing.T, r *rig) {
		db := r.as("worker", time.Time{})
		db.SetMaxOpenConns(1)
		commit, err := db.BeginTx(mayIdle(t.Context(), idleInCommit), nil)
		r.must(err)
		r.must(commit.Rollback())
		tx, err := db.Beginx()
		r.must(err)
		defer func() { _ = tx.Rollback() }()
		for _, setting := range idleSettings {
			var seconds int
			err := tx.Get(&seconds, "SELECT @@"+setting)
			if isError(err, errUnknownVariable) {
				continue
			}
			r.must(err)
			if seconds != 0 && seconds <= int(idleInCommit/time.Second) {
				t.Errorf("%s is %d s", setting, seconds)
			}
		}
	})
}
