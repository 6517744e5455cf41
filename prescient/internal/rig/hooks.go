package rig

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"strings"
	"sync"
	"time"

	"github.com/jmoiron/sqlx"

	"prescient/prescient/internal/errno"
	"prescient/prescient/localserver/servertest"
)

// Hooks stand between a worker and the real server: a test sees each statement before it goes out, may hold it up,
// fail it, or let it through and fail its answer.
type Hooks struct {
	Mu     sync.Mutex
	before func(statement string) error
	after  func(statement string) error
	Log    []string
	waits  int
}

// OnStatement sets what is called before each statement; BEGIN, COMMIT and ROLLBACK are statements here.
func (h *Hooks) OnStatement(before func(statement string) error) {
	h.Mu.Lock()
	defer h.Mu.Unlock()
	h.before = before
}

// OnAnswer sets what is called when the server has answered.
func (h *Hooks) OnAnswer(after func(statement string) error) {
	h.Mu.Lock()
	defer h.Mu.Unlock()
	h.after = after
}

// Once calls do before the first statement that contains the text, and never again.
func (h *Hooks) Once(text string, do func()) {
	var first sync.Once
	h.OnStatement(func(statement string) error {
		if strings.Contains(statement, text) {
			first.Do(do)
		}
		return nil
	})
}

func (h *Hooks) run(statement string, send func() error) error {
	h.Mu.Lock()
	before, after := h.before, h.after
	h.Log = append(h.Log, statement)
	h.Mu.Unlock()
	if before != nil {
		if err := before(statement); err != nil {
			return err
		}
	}
	sent := time.Now()
	err := send()
	if errno.Is(err, errno.LockWaitTimeout) && time.Since(sent) > time.Second/2 {
		h.Mu.Lock()
		h.waits++
		h.Mu.Unlock()
	}
	if err == nil && after != nil {
		err = after(statement)
	}
	return err
}

// LockWaits is how many statements waited for a lock, half a second or longer, in vain. MariaDB refuses a NOWAIT with the same
// error, at once.
func (h *Hooks) LockWaits() int {
	h.Mu.Lock()
	defer h.Mu.Unlock()
	return h.waits
}

// Count is how many statements contained a text.
func (h *Hooks) Count(text string) (n int) {
	h.Mu.Lock()
	defer h.Mu.Unlock()
	for _, statement := range h.Log {
		if strings.Contains(statement, text) {
			n++
		}
	}
	return n
}

// HookedPool is a worker's pool with hooks; a DSN parameter or two may be added.
func (r *Rig) HookedPool(now time.Time, h *Hooks, params ...string) *sqlx.DB {
	r.T.Helper()
	return r.HookedAs("worker", now, h, params...)
}

// HookedAs is rig.as with hooks.
func (r *Rig) HookedAs(role string, now time.Time, h *Hooks, params ...string) *sqlx.DB {
	r.T.Helper()
	db := sqlx.NewDb(sql.OpenDB(around{r.Connector(role, now, params...), func(c passing) driver.Conn { return &hookedConn{c, h} }}), "mysql")
	r.T.Cleanup(func() { _ = db.Close() })
	return db
}

// Connector makes the connections of Open for a role, with its clock at a time, or running where that is zero.
func (r *Rig) Connector(role string, now time.Time, params ...string) driver.Connector {
	r.T.Helper()
	dsn := r.clocked(r.Account(role), now)
	for _, p := range params {
		dsn = servertest.WithParams(dsn, p)
	}
	connector, err := r.opener.Connector(dsn, 0)
	r.Must(err)
	if r.stops(now) {
		return stoppedAt(connector, now)
	}
	return connector
}

type hookedConn struct {
	passing
	hooks *Hooks
}

func (c *hookedConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (result driver.Result, err error) {
	err = c.hooks.run(query, func() error {
		result, err = c.passing.ExecContext(ctx, query, args)
		return err
	})
	return result, err
}

func (c *hookedConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (rows driver.Rows, err error) {
	err = c.hooks.run(query, func() error {
		rows, err = c.passing.QueryContext(ctx, query, args)
		return err
	})
	return rows, err
}

func (c *hookedConn) BeginTx(ctx context.Context, options driver.TxOptions) (tx driver.Tx, err error) {
	err = c.hooks.run("BEGIN", func() error {
		tx, err = c.passing.BeginTx(ctx, options)
		return err
	})
	if err != nil {
		return nil, err
	}
	return hookedTx{tx, c.hooks}, nil
}

func (c *hookedConn) Ping(ctx context.Context) error {
	return c.hooks.run("PING", func() error { return c.passing.Ping(ctx) })
}

// Close is not for tests to refuse: it is only counted.
func (c *hookedConn) Close() error {
	c.hooks.Mu.Lock()
	c.hooks.Log = append(c.hooks.Log, "CLOSE")
	c.hooks.Mu.Unlock()
	return c.Conn.Close()
}

type hookedTx struct {
	driver.Tx
	hooks *Hooks
}

func (t hookedTx) Commit() error   { return t.hooks.run("COMMIT", t.Tx.Commit) }
func (t hookedTx) Rollback() error { return t.hooks.run("ROLLBACK", t.Tx.Rollback) }

// FirstTime fails the first statement that contains the text.
func FirstTime(text string, err error) func(statement string) error {
	var done sync.Once
	return func(statement string) (failure error) {
		if strings.Contains(statement, text) {
			done.Do(func() { failure = err })
		}
		return failure
	}
}

// ErrConnection is what a statement gets whose connection broke; the pool then drops the connection.
var ErrConnection = driver.ErrBadConn
