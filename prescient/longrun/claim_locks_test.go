package longrun_test

import (
	"context"
	"database/sql"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"prescient/prescient"
	"prescient/prescient/internal/errno"
	"prescient/prescient/internal/rig"
	"prescient/prescient/internal/store"
	"prescient/prescient/longrun"
)

// claims sends the UPDATE of a claim, as agents do.
func (r *testRig) claims(db prescient.DB, agent string, key []byte) (hit int, err error) {
	var token uint64
	r.Must(r.Root.QueryRow("SELECT token FROM p_schedule_run WHERE job_key = ?", key).Scan(&token))
	return store.Affected(r.T.Context(), db, r.Tables().Stmt.Get("longrun/claim"), agent, token+1, time.Minute.Microseconds(), key, token, "")
}

// offered are the keys of the runs that are offered, in order.
func (r *testRig) offered(n int) (keys [][]byte) {
	r.T.Helper()
	r.Must(sqlx.NewDb(r.Root, "mysql").Select(&keys, "SELECT job_key FROM p_schedule_run WHERE agent = '' AND allocated_until IS NOT NULL ORDER BY job_key"))
	if len(keys) != n {
		r.T.Fatalf("%d runs are offered; want %d", len(keys), n)
	}
	return keys
}

func TestAClaimLocksItsRunAlone(t *testing.T) {
	runs(t, func(t *testing.T, r *testRig) {
		for _, id := range []string{"a", "b", "c"} {
			s := heavy(id, longrun.Allow)
			s.Crontabs = []string{"0 12 * * *"}
			r.create("11:59:00", s)
		}
		var c rig.Calls
		r.registry.MustRegister("short", c.Count, prescient.Guards{})
		r.slot("12:00:00")
		r.at("12:00:02")
		keys := r.offered(3)
		db := sqlx.NewDb(sql.OpenDB(driven{r}), "mysql") // the pool of an agent
		defer db.Close()
		tx, err := db.BeginTx(t.Context(), nil)
		r.Must(err)
		defer tx.Rollback()
		if n, err := r.claims(tx, "agent-2", keys[1]); n != 1 || err != nil {
			t.Fatalf("%d, %v", n, err)
		}
		// The lock is there, and goes no further.
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		conn, err := db.Conn(ctx)
		r.Must(err)
		defer conn.Close()
		_, err = conn.ExecContext(ctx, "SET SESSION innodb_lock_wait_timeout = 1")
		r.Must(err)
		if _, err := r.claims(conn, "agent-3", keys[1]); !errno.Is(err, errno.LockWaitTimeout) {
			t.Errorf("of the same run by another: %v; want it to wait", err)
		}
		for _, key := range [][]byte{keys[0], keys[2]} {
			if n, err := r.claims(conn, "agent-3", key); n != 1 || err != nil {
				t.Errorf("of the run beside it: %d, %v", n, err)
			}
		}
		r.insert("12:00:02", "report", "12:00:30")
		r.Put(r.AppAt(rig.At("12:00:02")), prescient.NewJob{Entity: prescient.Entity{Name: "order", Key: "1"}, JobExec: "short", DueAt: rig.At("12:00:30")})
		another := heavy("d", longrun.Allow)
		another.Crontabs = []string{"1 12 * * *"}
		r.create("12:00:02", another)
		agent := r.serving("agent-4", longrun.Options{Pools: map[string]int{"eu": 1}})
		r.Eventually("another agent looks", func() bool { return agent.Looks() > 1 })
		r.slot("12:00:30") // a short check, and a long run that starts
		c.EachOnce(t, 1)
		r.running("report")
		r.slot("12:01:00")
		if n := r.Count("SELECT COUNT(*) FROM p_schedule_run WHERE pool = 'heavy' AND schedule_id = 'd' AND agent = ''"); n != 1 {
			t.Errorf("%d runs were offered in the pool", n)
		}
	})
}

func TestAClaimOfARunThatChangedHoldsNoLock(t *testing.T) {
	runs(t, func(t *testing.T, r *testRig) {
		r.create("11:59:00", heavy("a", longrun.Allow))
		r.slot("12:00:00")
		r.at("12:00:02")
		key := r.offered(1)[0]
		db := sqlx.NewDb(sql.OpenDB(driven{r}), "mysql")
		defer db.Close()
		tx, err := db.BeginTx(t.Context(), nil)
		r.Must(err)
		defer tx.Rollback()
		n, err := store.Affected(t.Context(), tx, r.Tables().Stmt.Get("longrun/claim"), "agent-2", 7, time.Minute.Microseconds(), key, 6, "")
		if n != 0 || err != nil {
			t.Fatalf("%d, %v", n, err)
		}
		if n, err := r.claims(db, "agent-3", key); n != 1 || err != nil {
			t.Errorf("%d, %v", n, err)
		}
	})
}
