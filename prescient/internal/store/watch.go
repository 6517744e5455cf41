package store

import (
	"context"
	"database/sql/driver"
	"errors"
	"io"
	"sync/atomic"

	"prescient/prescient/internal/errno"
)

// TxWatch notes what may have ended a transaction under the function that works in it, whether the function says so or
// not: after a deadlock the server has rolled all of it back, and commits each further statement by itself. A function that
// swallowed the error would let those that share the transaction with it go on like that.
//
// It comes to the connection with the context of BeginTx, so that it works through whatever wraps the driver; where the
// driver is another one it is never on.
type TxWatch struct {
	on      atomic.Bool // a connection keeps it
	trouble atomic.Bool // an error was seen
	Blind   atomic.Bool // something was done that cannot be watched
}

type txWatchKey struct{}

// With returns the context for a BeginTx that is to be watched.
func (w *TxWatch) With(ctx context.Context) context.Context {
	return context.WithValue(ctx, txWatchKey{}, w)
}

// WatchOf returns what watches the transaction that begins with a context; nil for nothing.
func WatchOf(ctx context.Context) *TxWatch {
	w, _ := ctx.Value(txWatchKey{}).(*TxWatch)
	if w != nil {
		w.on.Store(true)
	}
	return w
}

// Quiet says whether the transaction is watched, and is as it was begun.
func (w *TxWatch) Quiet() bool { return w.on.Load() && !w.trouble.Load() && !w.Blind.Load() }

// Note takes note of an error of a statement. Few are taken for harmless, of which the servers undo just the statement: a duplicate
// key, since to bear it is how an effect is written once, and what a client's direct insert and cancel bear.
func (w *TxWatch) Note(err error) {
	if w != nil && err != nil && !errno.Is(err, errno.DuplicateKey, errno.BadNull, errno.RoutineDenied) {
		w.trouble.Store(true)
	}
}

// Lose notes that from here on not all is seen.
func (w *TxWatch) Lose() {
	if w != nil {
		w.Blind.Store(true)
	}
}

// fullRows is all that database/sql asks of the rows of the driver.
type fullRows interface {
	driver.Rows
	driver.RowsColumnTypeDatabaseTypeName
	driver.RowsColumnTypeNullable
	driver.RowsColumnTypePrecisionScale
	driver.RowsColumnTypeScanType
	driver.RowsNextResultSet
}

// Over watches rows: an error may come after the first of them, and while the rest is passed over.
func (w *TxWatch) Over(rows driver.Rows) driver.Rows {
	full, ok := rows.(fullRows)
	if !ok {
		w.Lose()
		return rows
	}
	return &watchedRows{full, w}
}

type watchedRows struct {
	fullRows
	watch *TxWatch
}

// Next implements driver.Rows.
func (r *watchedRows) Next(to []driver.Value) error { return r.note(r.fullRows.Next(to)) }

// NextResultSet implements driver.RowsNextResultSet.
func (r *watchedRows) NextResultSet() error { return r.note(r.fullRows.NextResultSet()) }

// Close implements driver.Rows.
func (r *watchedRows) Close() error { return r.note(r.fullRows.Close()) }

func (r *watchedRows) note(err error) error {
	if !errors.Is(err, io.EOF) {
		r.watch.Note(err)
	}
	return err
}
