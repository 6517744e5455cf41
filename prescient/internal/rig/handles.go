package rig

import (
	"database/sql"
	"errors"
	"testing"

	"github.com/jmoiron/sqlx"

	"prescient/prescient"
)

// Begin starts a transaction that is rolled back at the end of the test, if it is still open.
func Begin(t *testing.T, db *sql.DB, level sql.IsolationLevel) *sql.Tx {
	t.Helper()
	tx, err := db.BeginTx(t.Context(), &sql.TxOptions{Isolation: level})
	Fatal(t, err)
	t.Cleanup(func() { _ = tx.Rollback() })
	return tx
}

// Hold has a connection of its own send a statement in a transaction that it leaves open, until the test ends it or ends. It returns the
// number by which the server knows that connection.
func (r *Rig) Hold(statement string) (holder *sql.Conn, id int) {
	r.T.Helper()
	holder, err := r.Root.Conn(r.T.Context())
	r.Must(err)
	r.T.Cleanup(func() { _ = holder.Close() })
	r.Must(holder.QueryRowContext(r.T.Context(), "SELECT CONNECTION_ID()").Scan(&id))
	for _, each := range []string{"BEGIN", statement} {
		_, err = holder.ExecContext(r.T.Context(), each)
		r.Must(err)
	}
	return holder, id
}

// Handle is a way for an app to hold a connection. commit is nil where each statement commits by itself.
type Handle struct {
	Name     string
	Db       prescient.DB
	Commit   func() error
	Rollback func() error
}

func (h Handle) Done(t *testing.T) {
	t.Helper()
	if h.Commit != nil {
		if err := h.Commit(); err != nil {
			t.Fatalf("%s: committing: %v", h.Name, err)
		}
	}
}

// EachHandle calls a test with every kind of handle on a pool.
func EachHandle(t *testing.T, db *sql.DB, test func(h Handle)) {
	t.Helper()
	test(Handle{Name: "sql.DB", Db: db})
	test(Handle{Name: "sqlx.DB", Db: sqlx.NewDb(db, "mysql")})
	conn, err := db.Conn(t.Context())
	Fatal(t, err)
	test(Handle{Name: "sql.Conn", Db: conn})
	Fatal(t, conn.Close())
	EachTx(t, db, test)
}

// EachTx calls a test with every kind of transaction.
func EachTx(t *testing.T, db *sql.DB, test func(h Handle)) {
	t.Helper()
	tx := Begin(t, db, sql.LevelDefault)
	test(Handle{Name: "sql.Tx", Db: tx, Commit: tx.Commit, Rollback: tx.Rollback})
	_ = tx.Rollback()
	txx, err := sqlx.NewDb(db, "mysql").BeginTxx(t.Context(), nil)
	Fatal(t, err)
	test(Handle{Name: "sqlx.Tx", Db: txx, Commit: txx.Commit, Rollback: txx.Rollback})
	_ = txx.Rollback()
}

// Unchecked has tables be as they were before they had their CHECKs, for rows that plain SQL wrote then.
func (r *Rig) Unchecked(tables ...string) {
	r.T.Helper()
	for _, table := range tables {
		rows, err := r.Root.QueryContext(r.T.Context(), "SELECT CONSTRAINT_NAME FROM information_schema.TABLE_CONSTRAINTS WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = ? AND CONSTRAINT_TYPE = 'CHECK' AND CONSTRAINT_NAME LIKE CONCAT(?, '%')", table, table)
		r.Must(err)
		var names []string
		for rows.Next() {
			var name string
			r.Must(rows.Scan(&name))
			names = append(names, name)
		}
		r.Must(errors.Join(rows.Err(), rows.Close()))
		for _, name := range names {
			r.Exec("ALTER TABLE " + table + " DROP CONSTRAINT " + name)
		}
	}
}
