package migrate

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
)

// asDatabase lets goose, which takes a database, send its statements as DDL does. All its connections are that one.
func (d *DDL) asDatabase() *sql.DB { return sql.OpenDB(ddlConnector{d}) }

type ddlConnector struct{ ddl *DDL }

func (c ddlConnector) Connect(context.Context) (driver.Conn, error) { return ddlConn(c), nil }
func (c ddlConnector) Driver() driver.Driver                        { return c.ddl.db.Driver() }

// ddlConn is what a driver has, on top of a connection of another pool.
type ddlConn struct{ ddl *DDL }

// ExecContext implements driver.ExecerContext.
func (c ddlConn) ExecContext(ctx context.Context, statement string, args []driver.NamedValue) (driver.Result, error) {
	err := c.ddl.Exec(ctx, statement, valuesOf(args)...)
	if refused(err, errDuplicateColumn, errDuplicateIndex) && addsOne(statement) { // by a migration that was interrupted
		err = c.ddl.afterwards(ctx, nil)
	}
	return driver.ResultNoRows, err
}

// QueryContext implements driver.QueryerContext.
func (c ddlConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	rows, err := c.ddl.conn.QueryContext(ctx, query, valuesOf(args)...)
	if err != nil {
		return nil, err
	}
	return rowsOf{rows}, nil
}

func valuesOf(args []driver.NamedValue) (values []any) {
	for _, arg := range args {
		values = append(values, arg.Value)
	}
	return values
}

// Prepare is not called, since there are ExecContext and QueryContext.
func (c ddlConn) Prepare(string) (driver.Stmt, error) { return nil, errors.ErrUnsupported }
func (c ddlConn) Close() error                        { return nil } // it belongs to whoever made the DDL

// Begin begins a transaction, as goose does to make its table.
func (c ddlConn) Begin() (driver.Tx, error) {
	return c, c.ddl.Exec(context.Background(), "START TRANSACTION")
}
func (c ddlConn) Commit() error   { return c.ddl.Exec(context.Background(), "COMMIT") }
func (c ddlConn) Rollback() error { return c.ddl.Exec(context.Background(), "ROLLBACK") }

// rowsOf are rows as a driver has them.
type rowsOf struct{ *sql.Rows }

// Columns implements driver.Rows.
func (r rowsOf) Columns() []string {
	names, _ := r.Rows.Columns() // it fails on closed rows only
	return names
}

// Next implements driver.Rows.
func (r rowsOf) Next(to []driver.Value) error {
	if !r.Rows.Next() {
		if err := r.Err(); err != nil {
			return err
		}
		return io.EOF
	}
	targets := make([]any, len(to))
	for i := range to {
		targets[i] = (*any)(&to[i])
	}
	return r.Scan(targets...)
}
