package prescient

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"strings"
	"sync"
	"time"

	"github.com/jmoiron/sqlx"

	"prescient/prescient/internal/servertest"
)

// hooks stand between a worker and the real server: a test sees each statement before it goes out, may hold it up,
// fail it, or let it through and fail its answer.
type hooks struct {
	mu     sync.Mutex
	before func(statement string) error
	after  func(statement string) error
	log    []string
}

// onStatement sets what is called before each statement; BEGIN, COMMIT and ROLLBACK are statements here.
func (h *hooks) onStatement(before func(statement string) error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.before = before
}

// onAnswer sets what is called when the server has answered.
func (h *hooks) onAnswer(after func(statement string) error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.after = after
}

// once calls do before the first statement that contains the text, and never again.
func (h *hooks) once(text string, do func()) {
	var first sync.Once
	h.onStatement(func(statement string) error {
		if strings.Contains(statement, text) {
			first.Do(do)
		}
		return nil
	})
}

func (h *hooks) run(statement string, send func() error) error {
	h.mu.Lock()
	before, after := h.before, h.after
	h.log = append(h.log, statement)
	h.mu.Unlock()
	if before != nil {
		if err := before(statement); err != nil {
			return err
		}
	}
	err := send()
	if err == nil && after != nil {
		err = after(statement)
	}
	return err
}

// count is how many statements contained a text.
func (h *hooks) count(text string) (n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, statement := range h.log {
		if strings.Contains(statement, text) {
			n++
		}
	}
	return n
}

// hookedPool is a worker's pool with hooks; a DSN parameter or two may be added.
func (r *rig) hookedPool(now time.Time, h *hooks, params ...string) *sqlx.DB {
	r.t.Helper()
	return r.hookedAs("worker", now, h, params...)
}

// hookedAs is rig.as with hooks.
func (r *rig) hookedAs(role string, now time.Time, h *hooks, params ...string) *sqlx.DB {
	r.t.Helper()
	db := sqlx.NewDb(sql.OpenDB(hookedConnector{r.connector(role, now, params...), h}), "mysql")
	r.t.Cleanup(func() { _ = db.Close() })
	return db
}

// connector makes the connections of Open for a role, with its clock at a time, or running where that is zero.
func (r *rig) connector(role string, now time.Time, params ...string) driver.Connector {
	r.t.Helper()
	dsn := r.account(role)
	if !now.IsZero() {
		dsn = servertest.WithParams(dsn, fixedClock(now))
	}
	for _, p := range params {
		dsn = servertest.WithParams(dsn, p)
	}
	connector, _, err := newConnector(dsn, DefaultLease, TLS{})
	r.must(err)
	return connector
}

// hookedWorker is rig.worker with hooks.
func (r *rig) hookedWorker(now time.Time, h *hooks, registry *Registry, options WorkerOptions) *Worker {
	r.t.Helper()
	options.Prefix, options.Registry = "p_", registry
	w, err := NewWorker(r.t.Context(), r.hookedPool(now, h), options)
	r.must(err)
	return w
}

type hookedConnector struct {
	driver.Connector
	hooks *hooks
}

func (c hookedConnector) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &hookedConn{conn, c.hooks}, nil
}

type hookedConn struct {
	driver.Conn
	hooks *hooks
}

func (c *hookedConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (result driver.Result, err error) {
	err = c.hooks.run(query, func() error {
		result, err = c.Conn.(driver.ExecerContext).ExecContext(ctx, query, args)
		return err
	})
	return result, err
}

func (c *hookedConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (rows driver.Rows, err error) {
	err = c.hooks.run(query, func() error {
		rows, err = c.Conn.(driver.QueryerContext).QueryContext(ctx, query, args)
		return err
	})
	return rows, err
}

func (c *hookedConn) BeginTx(ctx context.Context, options driver.TxOptions) (tx driver.Tx, err error) {
	err = c.hooks.run("BEGIN", func() error {
		tx, err = c.Conn.(driver.ConnBeginTx).BeginTx(ctx, options)
		return err
	})
	if err != nil {
		return nil, err
	}
	return hookedTx{tx, c.hooks}, nil
}

func (c *hookedConn) Ping(ctx context.Context) error {
	return c.hooks.run("PING", func() error { return c.Conn.(driver.Pinger).Ping(ctx) })
}

// Close is not for tests to refuse: it is only counted.
func (c *hookedConn) Close() error {
	c.hooks.mu.Lock()
	c.hooks.log = append(c.hooks.log, "CLOSE")
	c.hooks.mu.Unlock()
	return c.Conn.Close()
}

func (c *hookedConn) CheckNamedValue(v *driver.NamedValue) error {
	return c.Conn.(driver.NamedValueChecker).CheckNamedValue(v)
}

func (c *hookedConn) ResetSession(ctx context.Context) error {
	return c.Conn.(driver.SessionResetter).ResetSession(ctx)
}

func (c *hookedConn) IsValid() bool { return c.Conn.(driver.Validator).IsValid() }

type hookedTx struct {
	driver.Tx
	hooks *hooks
}

func (t hookedTx) Commit() error   { return t.hooks.run("COMMIT", t.Tx.Commit) }
func (t hookedTx) Rollback() error { return t.hooks.run("ROLLBACK", t.Tx.Rollback) }

// firstTime fails the first statement that contains the text.
func firstTime(text string, err error) func(statement string) error {
	var done sync.Once
	return func(statement string) (failure error) {
		if strings.Contains(statement, text) {
			done.Do(func() { failure = err })
		}
		return failure
	}
}

// errConnection is what a statement gets whose connection broke; the pool then drops the connection.
var errConnection = driver.ErrBadConn
