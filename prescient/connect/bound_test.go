package connect

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"prescient/prescient"
	"prescient/prescient/internal/errno"
	"prescient/prescient/internal/store"
)

// bound is a pool of a worker's account with few connections.
func (r *testRig) bound(lease time.Duration, connections int) *sqlx.DB {
	r.T.Helper()
	db, err := OpenWith(r.Account("worker"), Options{Lease: lease, Connections: connections})
	r.Must(err)
	r.T.Cleanup(func() { _ = db.Close() })
	return db
}

// most samples how many sessions the worker's account has, until it is asked for the most.
func (r *testRig) most() func() int {
	var sampling sync.WaitGroup
	done, most := make(chan struct{}), 0
	sampling.Go(func() {
		for {
			select {
			case <-done:
				return
			case <-time.After(10 * time.Millisecond):
				most = max(most, r.Sessions("user = ?", r.User("worker")))
			}
		}
	})
	return func() int {
		close(done)
		sampling.Wait()
		return most
	}
}

func TestAPoolOfABadNumberOfConnectionsIsRefused(t *testing.T) {
	for _, n := range []int{-1, 1, LeastConnections - 1, MostConnections + 1} {
		if _, err := OpenWith("u@tcp(h:1)/d", Options{Connections: n}); !errors.Is(err, prescient.ErrInvalid) {
			t.Errorf("%d connections: %v", n, err)
		}
	}
}

func TestManyStatementsShareThePoolsConnections(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		db, most := r.bound(0, 12), r.most()
		var all sync.WaitGroup
		for i := range 200 {
			all.Go(func() {
				ctx := t.Context()
				if i%4 == 0 {
					ctx = store.Vital(ctx)
				}
				if _, err := db.ExecContext(ctx, "DO SLEEP(0.02)"); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if n := most(); n > 12 || n < 6 {
			t.Errorf("%d connections; want 12 at most, and most of them used", n)
		}
	})
}

// Whatever else there is much of, leases are renewed.
func TestWhatIsVitalHasConnectionsWhereAllOthersAreInUse(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		db := r.bound(2*time.Second, 20)
		for range 12 { // 8 are kept
			conn, err := db.Conn(t.Context())
			r.Must(err)
			defer conn.Close()
		}
		_, err := db.ExecContext(t.Context(), "DO 1")
		if !errors.Is(err, ErrNoConnection) || !errors.Is(err, context.DeadlineExceeded) || !errno.Passing(err) {
			t.Errorf("one more: %v; want ErrNoConnection", err)
		}
		t.Log(err)
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(50*time.Millisecond, func() { cancel(nil) })
		if _, err := db.ExecContext(ctx, "DO 1"); !errors.Is(err, ErrNoConnection) || !errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("one that is called off: %v", err)
		}
		for range 3 {
			_, err := db.ExecContext(store.Vital(t.Context()), "DO 1")
			r.Must(err)
		}
		// One that has a connection and needs another has it of those that are kept.
		first, err := db.Conn(store.Vital(t.Context()))
		r.Must(err)
		defer first.Close()
		_, err = db.ExecContext(store.Vital(t.Context()), "DO 1")
		r.Must(err)
	})
}

func TestAConnectionIsUsedAgain(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		db := r.bound(0, 12)
		session := func() (id int) {
			t.Helper()
			r.Must(db.GetContext(t.Context(), &id, "SELECT CONNECTION_ID()"))
			return id
		}
		first := session()
		for range 3 {
			if id := session(); id != first {
				t.Errorf("session %d, then %d", first, id)
			}
		}
		conn, err := db.Conn(t.Context())
		r.Must(err)
		store.Drop(conn)
		second := session()
		if second == first {
			t.Error("a connection that was dropped came back")
		}
		r.Exec(fmt.Sprintf("KILL %d", second))
		r.Eventually("it is gone", func() bool { return r.Sessions("id = ?", second) == 0 })
		if third := session(); third == second {
			t.Error("a session that was ended came back")
		}
	})
}

// Nobody finds the connections of a server that went away again one by one.
func TestConnectionsThatWereLostTogetherFailNobody(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		db := r.bound(0, 40)
		hold := make([]*sqlx.Conn, 20)
		for i := range hold {
			var err error
			hold[i], err = db.Connx(t.Context())
			r.Must(err)
		}
		var ids []int
		for _, conn := range hold {
			var id int
			r.Must(conn.GetContext(t.Context(), &id, "SELECT CONNECTION_ID()"))
			ids = append(ids, id)
			r.Must(conn.Close())
		}
		for _, id := range ids {
			r.Exec(fmt.Sprintf("KILL %d", id))
		}
		r.Eventually("all are gone", func() bool { return r.Sessions("user = ?", r.User("worker")) == 0 })
		_, err := db.ExecContext(t.Context(), "DO 1")
		r.Must(err)
	})
}

// MySQL goes on with what a client gave up.
func TestStatementsThatWereGivenUpHaveAPlaceUntilTheyAreOver(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		r.Exec("CREATE TABLE held_up (id INT PRIMARY KEY)")
		r.Also("worker", "INSERT", "held_up")
		db := r.bound(2*time.Second, 12)
		conn, err := r.Root.Conn(t.Context())
		r.Must(err)
		defer conn.Close()
		_, err = conn.ExecContext(t.Context(), "LOCK TABLES held_up WRITE")
		r.Must(err)
		most := r.most()
		var all sync.WaitGroup
		for range 30 {
			all.Go(func() {
				for range 10 {
					ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
					_, err := db.ExecContext(ctx, "INSERT INTO held_up VALUES (1)")
					cancel()
					if !errno.Passing(err) {
						t.Errorf("%v; want an error that passes", err)
					}
				}
			})
		}
		all.Wait()
		if n := most(); n > 12 {
			t.Errorf("%d sessions; want 12 at most", n)
		}
		_, err = conn.ExecContext(t.Context(), "UNLOCK TABLES")
		r.Must(err)
		r.Eventually("all goes on", func() bool {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			_, err := db.ExecContext(ctx, "INSERT INTO held_up VALUES (2)")
			return err == nil || errno.Is(err, errno.DuplicateKey)
		})
	})
}

// The server is the first to give up, so that nothing stays behind.
func TestAStatementThatWaitsForATableEndsByItself(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		r.Exec("CREATE TABLE held_up (id INT PRIMARY KEY)")
		r.Also("worker", "INSERT", "held_up")
		db := r.bound(4*time.Second, 12)
		conn, err := r.Root.Conn(t.Context())
		r.Must(err)
		defer conn.Close()
		_, err = conn.ExecContext(t.Context(), "LOCK TABLES held_up WRITE")
		r.Must(err)
		defer func() { _, _ = conn.ExecContext(context.Background(), "UNLOCK TABLES") }()
		ctx, cancel := context.WithTimeout(t.Context(), store.StatementTime(4*time.Second))
		defer cancel()
		if _, err := db.ExecContext(ctx, "INSERT INTO held_up VALUES (1)"); !errno.Is(err, errno.LockWaitTimeout) {
			t.Errorf("%v; want the server's error, before the deadline", err)
		}
	})
}
