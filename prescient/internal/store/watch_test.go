package store_test

import (
	"database/sql/driver"
	"io"
	"reflect"
	"testing"

	"github.com/go-sql-driver/mysql"

	"prescient/prescient/internal/errno"
	"prescient/prescient/internal/store"
)

// givenRows are rows of a driver whose answers are given.
type givenRows struct {
	next, nextSet, close error
}

func (r givenRows) Columns() []string                                  { return []string{"n"} }
func (r givenRows) Next([]driver.Value) error                          { return r.next }
func (r givenRows) NextResultSet() error                               { return r.nextSet }
func (r givenRows) HasNextResultSet() bool                             { return r.nextSet != nil }
func (r givenRows) Close() error                                       { return r.close }
func (r givenRows) ColumnTypeDatabaseTypeName(int) string              { return "INT" }
func (r givenRows) ColumnTypeNullable(int) (nullable, ok bool)         { return false, true }
func (r givenRows) ColumnTypePrecisionScale(int) (p, s int64, ok bool) { return 0, 0, false }
func (r givenRows) ColumnTypeScanType(int) reflect.Type                { return reflect.TypeFor[int]() }

// justRows is a driver's rows without all that database/sql may ask for.
type justRows struct{ driver.Rows }

func TestAWatchSeesErrorsThatComeWithTheRows(t *testing.T) {
	deadlock := &mysql.MySQLError{Number: errno.Deadlock}
	for name, c := range map[string]struct {
		rows  driver.Rows
		quiet bool
	}{
		"all is read":                    {givenRows{next: io.EOF, nextSet: io.EOF}, true},
		"an error after a row":           {givenRows{next: deadlock}, false},
		"an error of the next result":    {givenRows{next: io.EOF, nextSet: deadlock}, false},
		"an error of what was left":      {givenRows{next: io.EOF, close: deadlock}, false},
		"rows that cannot be watched":    {justRows{givenRows{next: io.EOF}}, false},
		"a connection that breaks there": {givenRows{next: mysql.ErrInvalidConn}, false},
	} {
		var w store.TxWatch
		if w.Quiet() {
			t.Errorf("%s: quiet, though no connection keeps it", name)
		}
		store.WatchOf(w.With(t.Context()))
		rows := w.Over(c.rows)
		_ = rows.Next(nil)
		if more, ok := rows.(driver.RowsNextResultSet); ok && more.HasNextResultSet() {
			_ = more.NextResultSet()
		}
		_ = rows.Close()
		if w.Quiet() != c.quiet {
			t.Errorf("%s: quiet is %v; want %v", name, w.Quiet(), c.quiet)
		}
	}
}
