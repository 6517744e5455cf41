package longrun_test

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"prescient/prescient"
	"prescient/prescient/internal/errno"
	"prescient/prescient/internal/rig"
	"prescient/prescient/internal/store"
	"prescient/prescient/longrun"
)

// putOff sends the UPDATE by which agents put runs off.
func (r *testRig) putOff(db prescient.DB, token uint64, keys ...[]byte) (hit int, err error) {
	var runs []string
	for _, key := range keys {
		runs = append(runs, fmt.Sprintf("job_key = X'%X' AND token = %d AND agent = ''", key, token))
	}
	return store.Affected(r.T.Context(), db, r.Tables().Fill("longrun/put_off", "{runs}", strings.Join(runs, " OR ")), time.Minute.Microseconds())
}

// offered are the keys of the runs that are offered, in order, and their token, which is that of all.
func (r *testRig) offered(n int) (keys [][]byte, token uint64) {
	r.T.Helper()
	r.Must(sqlx.NewDb(r.Root, "mysql").Select(&keys, "SELECT job_key FROM p_long_run WHERE agent = '' AND allocated_until IS NOT NULL ORDER BY job_key"))
	if len(keys) != n {
		r.T.Fatalf("%d runs are offered; want %d", len(keys), n)
	}
	r.Must(r.Root.QueryRow("SELECT MAX(token) FROM p_long_run HAVING MAX(token) = MIN(token)").Scan(&token))
	return keys, token
}

func TestWhoPutsRunsOffLocksThemAlone(t *testing.T) {
	runs(t, func(t *testing.T, r *testRig) {
		for _, id := range []string{"a", "b", "c", "d"} {
			s := heavy(id, longrun.Allow)
			s.Crontabs = []string{"0 12 * * *"}
			r.create("11:59:00", s)
		}
		var c rig.Calls
		r.registry.MustRegister("short", c.Count, prescient.Guards{})
		r.Must(r.runner.RegisterIn("heavy", r.registry, "heavy-export", r.called, prescient.Guards{}))
		r.slot("12:00:00")
		r.at("12:00:02")
		keys, token := r.offered(4)
		db := sqlx.NewDb(sql.OpenDB(driven{r}), "mysql") // the pool of an agent
		defer db.Close()
		tx, err := db.BeginTx(t.Context(), nil)
		r.Must(err)
		defer tx.Rollback()
		if n, err := r.putOff(tx, token, keys[1], keys[2]); n != 2 || err != nil {
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
		if _, err := r.putOff(conn, token, keys[1]); !errno.Is(err, errno.LockWaitTimeout) {
			t.Errorf("of the same run by another: %v; want it to wait", err)
		}
		for _, key := range [][]byte{keys[0], keys[3]} {
			if n, err := r.putOff(conn, token, key); n != 1 || err != nil {
				t.Errorf("of the run beside it: %d, %v", n, err)
			}
		}
		r.insert("12:00:02", "report", "12:00:30")
		r.Put(r.AppAt(rig.At("12:00:02")), prescient.NewJob{Entity: prescient.Entity{Name: "order", Key: "1"}, JobExec: "short", DueAt: rig.At("12:00:30")})
		r.Put(r.AppAt(rig.At("12:00:02")), prescient.NewJob{Entity: prescient.Entity{Name: "report", Key: "pooled"}, JobExec: "heavy-export", DueAt: rig.At("12:00:30")})
		agent := r.serving("agent-4", longrun.Options{Pools: map[string]int{"eu": 1}})
		r.Eventually("another agent looks", func() bool { return agent.Looks() > 1 })
		r.slot("12:00:30") // a short check, a long run that starts, and one that is offered
		c.EachOnce(t, 1)
		r.running("report")
		if n := r.Count("SELECT COUNT(*) FROM p_long_run WHERE pool = 'heavy' AND schedule_id IS NULL AND agent = ''"); n != 1 {
			t.Errorf("%d runs were offered in the pool", n)
		}
	})
}

func TestWhoPutsOffARunThatChangedHoldsNoLock(t *testing.T) {
	runs(t, func(t *testing.T, r *testRig) {
		r.create("11:59:00", heavy("a", longrun.Allow))
		r.slot("12:00:00")
		r.at("12:00:02")
		keys, token := r.offered(1)
		db := sqlx.NewDb(sql.OpenDB(driven{r}), "mysql")
		defer db.Close()
		tx, err := db.BeginTx(t.Context(), nil)
		r.Must(err)
		defer tx.Rollback()
		if n, err := r.putOff(tx, token+1, keys...); n != 0 || err != nil {
			t.Fatalf("%d, %v", n, err)
		}
		if n, err := r.putOff(db, token, keys...); n != 1 || err != nil {
			t.Errorf("%d, %v", n, err)
		}
	})
}

// The runs of a claim have one transaction: what somebody else has locked of one of them costs no other its start.
func TestWhatIsLockedOfOneRunHoldsUpNoOtherOfItsClaim(t *testing.T) {
	runs(t, func(t *testing.T, r *testRig) {
		for _, id := range []string{"a", "b", "c", "d"} {
			s := heavy(id, longrun.Allow)
			s.Crontabs = []string{"0 12 * * *"}
			r.create("11:59:00", s)
		}
		r.slot("12:00:00")
		r.at("12:00:02")
		keys, _ := r.offered(4)
		tx, err := r.Root.BeginTx(t.Context(), nil)
		r.Must(err)
		defer tx.Rollback()
		var held []string
		for i, lock := range []string{"SELECT schedule_id FROM p_long_run WHERE job_key = ? FOR UPDATE", "SELECT entity_key FROM p_future_job WHERE job_key = ? FOR UPDATE"} {
			var id string
			r.Must(tx.QueryRow(lock, keys[i]).Scan(&id))
			held = append(held, id+" 12:00:00")
		}
		r.serving("agent-2", longrun.Options{Pools: map[string]int{"heavy": 9}})
		for _, id := range []string{"a", "b", "c", "d"} {
			if name := id + " 12:00:00"; !slices.Contains(held, name) {
				r.running(name)
			}
		}
		for _, name := range held {
			if r.isRunning(name) {
				t.Errorf("%s runs", name)
			}
		}
		r.Must(tx.Rollback())
		r.at("12:00:04")
		for _, name := range held {
			r.running(name)
		}
	})
}
