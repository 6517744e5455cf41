package connect

import (
	"context"
	"database/sql/driver"
	"errors"
	"time"

	"prescient/prescient/internal/errno"
	"prescient/prescient/internal/store"
)

// fullConn is all that database/sql asks of a connection of the driver.
type fullConn interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.NamedValueChecker
	driver.Pinger
	driver.QueryerContext
	driver.SessionResetter
	driver.Validator
}

// hostConn is a connection that the pool drops once its server takes no writes any more. The error itself is passed on,
// unlike with the driver's rejectReadOnly: whoever sent the statement decides whether it may be repeated.
//
// It is also given up when a COMMIT or ROLLBACK failed on it: the server may have the transaction open still, and the next
// one to begin on the connection would commit it.
type hostConn struct {
	fullConn
	hosts   *hosts
	epoch   uint64
	unended bool
	watch   *store.TxWatch // of the transaction that is open; nil where nobody asked for it

	idle     time.Duration // for how long the server was told that it may idle; 0 where it was not
	idlesOut bool          // that holds outside of transactions too
	used     time.Time     // when a transaction ended on it

	idleSince time.Time // when the pool got it back
	stale     bool      // it was found closed before anything was sent
	gaveUp    bool      // nobody waited for the answer of the last statement: the server may execute it still
}

// note takes note of an error that the server gave, and leaves the host if it takes no writes any more. It returns the error as it may be logged.
func (c *hostConn) note(err error) error {
	c.watch.Note(err)
	switch {
	case err == nil || c.fullConn.IsValid():
	case errors.Is(err, driver.ErrBadConn):
		c.stale = true
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		c.gaveUp = true
	}
	if errno.Is(err, errno.ReadOnly, errno.ReadOnlyMode, errno.UnknownCommand, errno.RunHook) {
		c.hosts.leave(c.epoch)
	}
	if c.hosts.away != nil && errno.Away(err) {
		c.hosts.away()
	}
	return errno.WithoutStatement(err)
}

// ExecContext implements driver.ExecerContext.
func (c *hostConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	if err := c.letIdle(ctx); err != nil {
		return nil, err
	}
	result, err := c.fullConn.ExecContext(ctx, query, args)
	return result, c.note(err)
}

// QueryContext implements driver.QueryerContext.
func (c *hostConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	rows, err := c.fullConn.QueryContext(ctx, query, args)
	if err == nil && c.watch != nil {
		rows = c.watch.Over(rows)
	}
	return rows, c.note(err)
}

// Prepare implements driver.Conn, for a driver around this one that knows no more.
func (c *hostConn) Prepare(query string) (driver.Stmt, error) {
	return c.PrepareContext(context.Background(), query)
}

// PrepareContext implements driver.ConnPrepareContext.
func (c *hostConn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	c.watch.Lose() // of what is prepared the errors do not come by here
	return c.fullConn.PrepareContext(ctx, query)
}

// BeginTx implements driver.ConnBeginTx.
func (c *hostConn) BeginTx(ctx context.Context, options driver.TxOptions) (driver.Tx, error) {
	if err := c.letIdle(c.asBefore(ctx)); err != nil {
		return nil, err
	}
	tx, err := c.fullConn.BeginTx(ctx, options)
	if err != nil {
		return nil, c.note(err)
	}
	c.watch = store.WatchOf(ctx)
	return &hostTx{Tx: tx, conn: c, within: c.hosts.commit}, nil
}

// ResetSession implements driver.SessionResetter: the pool calls it before it hands the connection out again.
func (c *hostConn) ResetSession(ctx context.Context) error {
	if c.unended || c.tooOld() || !c.hosts.current(c.epoch) {
		return driver.ErrBadConn
	}
	return c.fullConn.ResetSession(ctx)
}

// IsValid implements driver.Validator: the pool calls it when the connection comes back.
func (c *hostConn) IsValid() bool {
	return !c.unended && c.hosts.current(c.epoch) && c.fullConn.IsValid()
}

// hostTx is a transaction whose COMMIT has a deadline, which database/sql does not give it: a cluster that has lost its
// majority answers none. Past it the connection is closed, and the outcome unknown.
type hostTx struct {
	driver.Tx
	conn   *hostConn
	within time.Duration
}

// Commit implements driver.Tx.
func (tx *hostTx) Commit() error { return tx.conn.ended(tx.commit()) }

// Rollback implements driver.Tx.
func (tx *hostTx) Rollback() error { return tx.conn.ended(tx.Tx.Rollback()) }

// ended takes note of how the end of a transaction went.
func (c *hostConn) ended(err error) error {
	c.unended = c.unended || err != nil
	c.watch, c.used = nil, time.Now()
	return c.note(err)
}

func (tx *hostTx) commit() error {
	if tx.within == 0 {
		return tx.Tx.Commit()
	}
	ctx, cancel := context.WithTimeout(context.Background(), tx.within)
	defer cancel()
	_, err := tx.conn.fullConn.ExecContext(ctx, "COMMIT", nil)
	return err
}
