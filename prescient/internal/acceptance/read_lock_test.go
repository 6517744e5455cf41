package acceptance

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"prescient/prescient"
	"prescient/prescient/agent"
	"prescient/prescient/connect"
	"prescient/prescient/event"
	"prescient/prescient/event/broker"
	"prescient/prescient/event/broker/log"
	"prescient/prescient/event/forward"
	"prescient/prescient/internal/rig"
	"prescient/prescient/localserver/servertest"
	"prescient/prescient/worker"
)

// A server that nobody may write to for a while, as for a backup, executes what its clients gave up. Each try that left a session behind would
// take one more of its connections, until it refuses everybody.
func TestWorkersLeaveNoSessionsBehindOnAServerThatTakesNoWritesForAWhile(t *testing.T) {
	t.Parallel()
	servertest.EachKind(t, func(t *testing.T, kind servertest.Kind) {
		const slot = 5 * time.Second
		r := newRig(t, servertest.On(t, kind.Private(t)), slot)
		lines, err := log.Open(t.Context(), broker.Options{URL: "log:", Log: zerolog.New(io.Discard)})
		r.Must(err)
		const lease, bound, workers = 4 * time.Second, 16, 2
		ctx, stop := context.WithCancel(context.Background())
		var working sync.WaitGroup
		var pools []*sql.DB
		defer func() { stop(); working.Wait() }()
		for range workers {
			db, err := connect.OpenWith(r.Account("worker"), connect.Options{Lease: lease, Connections: bound})
			r.Must(err)
			defer db.Close()
			pools = append(pools, db.DB)
			settled := rig.Registry("check", func(context.Context, prescient.FutureJob) (*time.Time, error) { return nil, nil }, prescient.Guards{})
			w, err := worker.New(ctx, db, worker.Options{Prefix: "p_", Dialect: r.Setting, Registry: settled, Times: worker.Times{Lease: lease, Patience: time.Minute}})
			r.Must(err)
			a, err := agent.New(ctx, db, agent.Options{Prefix: "p_", Dialect: r.Setting, Name: w.Name(), Connections: bound})
			r.Must(err)
			f, err := forward.New(ctx, db, forward.Options{Prefix: "p_", Dialect: r.Setting, Lease: lease, Routes: []forward.Route{{Topics: "*", Broker: lines}}})
			r.Must(err)
			working.Go(func() { _ = w.Work(ctx) })
			working.Go(func() { a.Run(ctx) })
			working.Go(func() { _ = f.Run(ctx) })
		}
		outbox := event.New(r.Client)
		goes := func(when, key string) {
			t.Helper()
			now := time.Now().UTC()
			_, err := r.Client.Insert(t.Context(), r.App, prescient.NewJob{Entity: rig.Order(key), JobExec: "check", DueAt: now})
			r.Must(err)
			r.Must(outbox.Publish(t.Context(), r.App, event.Event{ID: key, Topic: "t", Key: key}))
			r.Eventually(when+" checks are called", func() bool { return r.Count("SELECT COUNT(*) FROM p_future_job") == 0 })
			r.Eventually(when+" events go out", func() bool { return r.Count("SELECT COUNT(*) FROM p_event_outbox") == 0 })
		}
		goes("before", "1")
		due := time.Now().UTC()
		for i := range 4 { // slots that pass while nobody may write
			_, err := r.Client.Insert(t.Context(), r.App, prescient.NewJob{Entity: rig.Order(fmt.Sprintf("late-%d", i)), JobExec: "check",
				DueAt: due.Add(time.Duration(i+1) * slot)})
			r.Must(err)
		}
		conn, err := r.Root.Conn(t.Context())
		r.Must(err)
		defer conn.Close()
		_, err = conn.ExecContext(t.Context(), "FLUSH TABLES WITH READ LOCK")
		r.Must(err)
		most := 0
		for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
			most = max(most, r.Sessions("user = ?", r.User("worker")))
		}
		_, err = conn.ExecContext(t.Context(), "UNLOCK TABLES")
		r.Must(err)
		unlocked := time.Now()
		if late := r.Count("SELECT COUNT(*) FROM p_future_job WHERE next_check_at < UTC_TIMESTAMP()"); late < 2 {
			t.Errorf("%d checks are late; want 2 at least", late)
		}
		r.Eventually("what is late is called", func() bool {
			return r.Count("SELECT COUNT(*) FROM p_future_job WHERE next_check_at < ?", due.Add(4*slot)) == 0
		})
		late := time.Since(unlocked)
		t.Logf("%d sessions; what was late was called %s after the lock", most, late)
		if late > slot {
			t.Errorf("what was late was called %s after the lock; want %s at most", late, slot)
		}
		goes("after", "2")
		stop()
		working.Wait()
		for _, pool := range pools {
			r.Must(pool.Close())
		}
		r.Eventually("no session is left of workers that ended", func() bool { return r.Sessions("user = ?", r.User("worker")) == 0 })
	})
}
