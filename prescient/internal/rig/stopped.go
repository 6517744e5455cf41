package rig

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"

	"prescient/prescient/internal/literal"
	"prescient/prescient/localserver/servertest"
	text "prescient/sql"
)

// FixedClock is the DSN parameter under which the server's clock stands still for a connection. A keyspace of Vitess, untargeted, has none.
func FixedClock(now time.Time) string {
	return servertest.Clock(now)
}

// clocked is a DSN on which the server's clock stands still at a time, where a session can have that; the zero time leaves it running.
func (r *Rig) clocked(dsn string, now time.Time) string {
	if now.IsZero() || r.stops(now) {
		return dsn
	}
	return servertest.WithParams(dsn, FixedClock(now))
}

// stops says whether connections have to be stopped at a time, since no session can.
func (r *Rig) stops(now time.Time) bool { return r.Server == text.Vitess && !now.IsZero() }

// stopped is a pool of an app on which the clock stands still.
func (r *Rig) stopped(dsn string, now time.Time) *sql.DB {
	r.T.Helper()
	config, err := mysql.ParseDSN(dsn)
	r.Must(err)
	connector, err := mysql.NewConnector(config)
	r.Must(err)
	db := sql.OpenDB(stoppedAt(connector, now))
	r.T.Cleanup(func() { _ = db.Close() })
	return db
}

// stoppedAt makes connections on which the clock stands still where no session has one, which is a keyspace of Vitess, untargeted: statements are sent
// with the time in the place of the functions that say it.
func stoppedAt(c driver.Connector, now time.Time) driver.Connector {
	now = now.UTC()
	clock := strings.NewReplacer("UTC_TIMESTAMP(6)", "TIMESTAMP'"+now.Format(literal.MicroLayout)+"'", "UTC_TIMESTAMP()", "TIMESTAMP'"+now.Format(literal.SecondLayout)+"'")
	return around{c, func(c passing) driver.Conn { return &stoppedConn{c, clock} }}
}

type stoppedConn struct {
	passing
	clock *strings.Replacer
}

func (c *stoppedConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	return c.passing.ExecContext(ctx, c.clock.Replace(query), args)
}

func (c *stoppedConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	return c.passing.QueryContext(ctx, c.clock.Replace(query), args)
}

func (c *stoppedConn) Prepare(query string) (driver.Stmt, error) {
	return c.passing.Prepare(c.clock.Replace(query))
}
