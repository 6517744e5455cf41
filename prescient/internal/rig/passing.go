package rig

import (
	"context"
	"database/sql/driver"
)

// around makes connections of another kind around those of a connector.
type around struct {
	driver.Connector
	as func(c passing) driver.Conn
}

func (a around) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := a.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return a.as(passing{conn}), nil
}

// passing is a connection of MySQL's driver that passes on all that database/sql asks of one, for kinds that do a part of it otherwise.
type passing struct{ driver.Conn }

func (c passing) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	return c.Conn.(driver.ExecerContext).ExecContext(ctx, query, args)
}

func (c passing) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	return c.Conn.(driver.QueryerContext).QueryContext(ctx, query, args)
}

func (c passing) BeginTx(ctx context.Context, options driver.TxOptions) (driver.Tx, error) {
	return c.Conn.(driver.ConnBeginTx).BeginTx(ctx, options)
}

func (c passing) Ping(ctx context.Context) error { return c.Conn.(driver.Pinger).Ping(ctx) }

func (c passing) CheckNamedValue(v *driver.NamedValue) error {
	return c.Conn.(driver.NamedValueChecker).CheckNamedValue(v)
}

func (c passing) ResetSession(ctx context.Context) error {
	return c.Conn.(driver.SessionResetter).ResetSession(ctx)
}

func (c passing) IsValid() bool { return c.Conn.(driver.Validator).IsValid() }
