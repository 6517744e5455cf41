package prescient

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	text "prescient/sql"
)

// order is an entity.
func order(key string) Entity { return Entity{"order", key} }

// rows reads what is pending in the order of the keys, on the rig's own connections.
func (r *rig) rows() []FutureJob {
	r.t.Helper()
	rows, err := r.client.find(context.WithoutCancel(r.t.Context()), r.app, "1 = 1", false)
	r.must(err)
	return rows
}

// one returns the one row that is pending.
func (r *rig) one() FutureJob {
	r.t.Helper()
	rows := r.rows()
	if len(rows) != 1 {
		r.t.Fatalf("%d rows are pending; want 1: %+v", len(rows), rows)
	}
	return rows[0]
}

// none fails where something is pending or in history.
func (r *rig) none() {
	r.t.Helper()
	if pending, ended := r.rows(), r.count(countEnded); len(pending)+ended > 0 {
		r.t.Fatalf("pending: %+v; in history: %d; want nothing", pending, ended)
	}
}

const (
	countPending = "SELECT COUNT(*) FROM p_future_job"
	countEnded   = "SELECT COUNT(*) FROM p_job_history"
)

// put makes a check pending on a pool.
func (r *rig) put(db DB, job NewJob) {
	r.t.Helper()
	if _, err := r.client.Insert(r.t.Context(), db, job); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) exec(query string, args ...any) {
	r.t.Helper()
	_, err := r.root.ExecContext(context.WithoutCancel(r.t.Context()), query, args...)
	r.must(err)
}

// clear empties future_job and job_history between the cases of one test.
func (r *rig) clear() {
	r.t.Helper()
	r.exec("DELETE FROM p_future_job")
	r.exec("DELETE FROM p_job_history")
}

// begin starts a transaction that is rolled back at the end of the test, if it is still open.
func begin(t *testing.T, db *sql.DB, level sql.IsolationLevel) *sql.Tx {
	t.Helper()
	tx, err := db.BeginTx(t.Context(), &sql.TxOptions{Isolation: level})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tx.Rollback() })
	return tx
}

// handle is a way for an app to hold a connection. commit is nil where each statement commits by itself.
type handle struct {
	name     string
	db       DB
	commit   func() error
	rollback func() error
}

func (h handle) done(t *testing.T) {
	t.Helper()
	if h.commit != nil {
		if err := h.commit(); err != nil {
			t.Fatalf("%s: committing: %v", h.name, err)
		}
	}
}

// eachHandle calls a test with every kind of handle on a pool.
func eachHandle(t *testing.T, db *sql.DB, test func(h handle)) {
	t.Helper()
	test(handle{name: "sql.DB", db: db})
	test(handle{name: "sqlx.DB", db: sqlx.NewDb(db, "mysql")})
	conn, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	test(handle{name: "sql.Conn", db: conn})
	if err := conn.Close(); err != nil {
		t.Fatal(err)
	}
	eachTx(t, db, test)
}

// eachTx calls a test with every kind of transaction.
func eachTx(t *testing.T, db *sql.DB, test func(h handle)) {
	t.Helper()
	tx := begin(t, db, sql.LevelDefault)
	test(handle{name: "sql.Tx", db: tx, commit: tx.Commit, rollback: tx.Rollback})
	_ = tx.Rollback()
	txx, err := sqlx.NewDb(db, "mysql").BeginTxx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	test(handle{name: "sqlx.Tx", db: txx, commit: txx.Commit, rollback: txx.Rollback})
	_ = txx.Rollback()
}

func wantErr(t *testing.T, what string, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("%s: error %v; want %v", what, err, want)
	}
}

// sameJSON compares two documents; MySQL stores them in a form of its own.
func sameJSON(t *testing.T, got, want json.RawMessage) {
	t.Helper()
	if (got == nil) != (want == nil) {
		t.Errorf("payload %.80q; want %.80q", got, want)
	}
	if bytes.Equal(got, want) {
		return
	}
	var g, w any
	if err := json.Unmarshal(got, &g); err != nil {
		t.Errorf("payload %.80q: %v", got, err)
	}
	if err := json.Unmarshal(want, &w); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(g, w) {
		t.Errorf("payload %.80q; want %.80q", got, want)
	}
}

// waitForLock returns when a statement that contains some words waits for a row's lock; on TiDB, any statement. The table
// innodb_trx would show less than this: who reads it more often than ten times a second reads the same again.
func (r *rig) waitForLock(words string) {
	r.t.Helper()
	r.eventually("a statement with "+words+" waits for a lock", func() bool {
		if r.server == text.TiDB {
			return r.count("SELECT COUNT(*) FROM information_schema.tidb_trx WHERE state = 'LockWaiting' AND db = ?", r.d.Name) > 0
		}
		var kind, name, status string
		r.must(r.root.QueryRow("SHOW ENGINE INNODB STATUS").Scan(&kind, &name, &status))
		return slices.ContainsFunc(strings.Split(status, "---TRANSACTION"), func(tx string) bool {
			return strings.Contains(tx, "\nLOCK WAIT ") && strings.Contains(tx, words)
		})
	})
}

// neverCalled is a job_exec for tests that run no slot.
func neverCalled(context.Context, FutureJob) (*time.Time, error) {
	return nil, errors.New("nobody should call this")
}
