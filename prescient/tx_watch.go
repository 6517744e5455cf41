package prescient

import (
	"context"
	"database/sql/driver"
	"errors"
	"io"
	"sync/atomic"
)

// txWatch notes what may have ended a transaction under the function that works in it, whether the function says so or
// not: after a deadlock the server has rolled all of it back, and commits each further statement by itself. A function that
// swallowed the error would let those that share the transaction with it go on like that.
//
// It comes to the connection with the context of BeginTx, so that it works through whatever wraps the driver; where the
// driver is another one it is never on.
type txWatch struct {
	on      atomic.Bool // a connection keeps it
	trouble atomic.Bool // an error was seen
	blind   atomic.Bool // something was done that cannot be watched
}

type txWatchKey struct{}

// with returns the context for a BeginTx that is to be watched.
func (w *txWatch) with(ctx context.Context) context.Context {
	return context.WithValue(ctx, txWatchKey{}, w)
}

// watchOf returns what watches the transaction that begins with a context; nil for nothing.
func watchOf(ctx context.Context) *txWatch {
	w, _ := ctx.Value(txWatchKey{}).(*txWatch)
	if w != nil {
		w.on.Store(true)
	}
	return w
}

// quiet says whether the transaction is watched, and is as it was begun.
func (w *txWatch) quiet() bool { return w.on.Load() && !w.trouble.Load() && !w.blind.Load() }

// see looks at an error of a statement. A duplicate key is all that is taken for harmless: to bear it is how an effect is
// written once, and the servers undo just the statement.
func (w *txWatch) see(err error) {
	if w != nil && err != nil && !isError(err, errDuplicateKey) {
		w.trouble.Store(true)
	}
}

// lose notes that from here on not all is seen.
func (w *txWatch) lose() {
	if w != nil {
		w.blind.Store(true)
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

// over watches rows: an error may come after the first of them, and while the rest is passed over.
func (w *txWatch) over(rows driver.Rows) driver.Rows {
	full, ok := rows.(fullRows)
	if !ok {
		w.lose()
		return rows
	}
	return &watchedRows{full, w}
}

type watchedRows struct {
	fullRows
	watch *txWatch
}

// Next implements driver.Rows.
func (r *watchedRows) Next(to []driver.Value) error { return r.see(r.fullRows.Next(to)) }

// NextResultSet implements driver.RowsNextResultSet.
func (r *watchedRows) NextResultSet() error { return r.see(r.fullRows.NextResultSet()) }

// Close implements driver.Rows.
func (r *watchedRows) Close() error { return r.see(r.fullRows.Close()) }

func (r *watchedRows) see(err error) error {
	if !errors.Is(err, io.EOF) {
		r.watch.see(err)
	}
	return err
}
