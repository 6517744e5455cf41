package acceptance

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/jmoiron/sqlx"

	"prescient/prescient"
	"prescient/prescient/connect"
	"prescient/prescient/internal/errno"
	"prescient/prescient/internal/literal"
	"prescient/prescient/internal/rig"
	"prescient/prescient/internal/store"
	"prescient/prescient/localserver/servertest"
	"prescient/prescient/worker"
	"prescient/prescient/worker/books"
	"prescient/scripts/chaos/wire"
)

// silentAt is a pool whose network goes silent for a while at the first statement that contains a text; silent is closed then.
func (r *testRig) silentAt(now time.Time, text string, wait time.Duration) (db *sqlx.DB, silent chan struct{}) {
	r.T.Helper()
	plan, err := wire.NewPlan(`[{"Match": "`+text+`", "Nth": 1, "Do": "split", "Wait": `+literal.Of(literal.AppendInt, int64(wait))+`}]`, 1)
	r.Must(err)
	silent = make(chan struct{})
	plan.Tell = func(string, string, time.Duration) { close(silent) }
	network := r.D.Name
	mysql.RegisterDialContext(network, plan.Dial)
	r.T.Cleanup(func() { mysql.DeregisterDialContext(network) })
	dsn := strings.Replace(servertest.WithParams(r.Account("worker"), rig.FixedClock(now)), "@tcp(", "@"+network+"(", 1)
	db, err = connect.Open(dsn, 0)
	r.Must(err)
	r.T.Cleanup(func() { _ = db.Close() })
	return db, silent
}

// A worker whose network vanishes in the middle of a commit has its rows locked, and nobody tells the server.
func TestAVanishedWorkerDoesNotHoldUpACancel(t *testing.T) {
	const silence, soon = 7 * time.Second, 5 * time.Second
	eachServer(t, func(t *testing.T, r *testRig) {
		const rows = 100
		r.ManyDue(rig.At("13:15"), "check", 0, rows)
		db, silent := r.silentAt(rig.At("13:15"), "DELETE job FROM", silence)
		var c rig.Calls
		w, err := worker.New(t.Context(), db, worker.Options{Prefix: "p_", Dialect: r.Setting, Registry: rig.Registry("check", c.Count, prescient.Guards{}), Load: worker.Load{Buckets: 1}})
		r.Must(err)
		var figures books.Figures
		var running sync.WaitGroup
		running.Go(func() { figures, err = w.Run(t.Context()) })
		<-silent
		began := time.Now()
		for _, key := range []string{"1", "2"} {
			if n, err := r.Client.Cancel(t.Context(), r.App, rig.Order(key)); err != nil {
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
		r.Balanced()
	})
}

// A transaction that a function works in idles for as long as that may take.
func TestAFunctionInATransactionMayTakeItsTime(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		r.ManyDue(rig.At("13:15"), "slow", 0, 3)
		r.ManyDue(rig.At("13:15"), "fast", 10, 300)
		execs := rig.Registry("fast", func(context.Context, prescient.FutureJob) (*time.Time, error) { return nil, nil }, prescient.Guards{})
		r.Must(execs.RegisterTx("slow", func(ctx context.Context, _ *sqlx.Tx, job prescient.FutureJob) (*time.Time, error) {
			if job.EntityKey == "1" {
				return nil, store.Sleep(ctx, store.IdleInCommit+time.Second)
			}
			return nil, nil
		}, prescient.Guards{}))
		figures := r.RunAt(rig.At("13:15"), execs, worker.Options{})
		if figures.Done != 293 || figures.Moved != 0 || figures.Retries != 0 {
			t.Errorf("%+v", figures)
		}
		if figures := r.RunAt(rig.At("13:15"), execs, worker.Options{}); figures.Retries != 0 {
			t.Errorf("%+v", figures)
		}
		r.Balanced()
	})
}

// A handler may begin transactions of its own on the worker's pool: they idle for as long as the pool lets them, also on a
// connection on which a commit was done.
func TestATransactionThatDoesNotAskForItIdlesAsThePoolLetsIt(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		db := r.As("worker", time.Time{})
		db.SetMaxOpenConns(1)
		commit, err := db.BeginTx(store.MayIdle(t.Context(), store.IdleInCommit), nil)
		r.Must(err)
		r.Must(commit.Rollback())
		tx, err := db.Beginx()
		r.Must(err)
		defer func() { _ = tx.Rollback() }()
		for _, setting := range []string{"idle_transaction_timeout", "wait_timeout"} {
			var seconds int
			err := tx.Get(&seconds, "SELECT @@"+setting)
			if errno.Is(err, errno.UnknownVariable) {
				continue
			}
			r.Must(err)
			if seconds != 0 && seconds <= int(store.IdleInCommit/time.Second) {
				t.Errorf("%s is %d s", setting, seconds)
			}
		}
	})
}
