package prescient

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/jmoiron/sqlx"
)

// Open returns a pool of connections for a worker. dsn is a go-sql-driver DSN; what a worker relies on is set here,
// whatever the DSN says: UTC, parseTime, clientFoundRows, strict mode, READ COMMITTED, and short lock waits and idle
// times, so that a frozen worker does not hold its locks past its lease. An app's own connections need none of this.
//
// It does not connect yet. The error wraps ErrInvalid and never shows the DSN, which may hold a password.
func Open(dsn string, lease time.Duration) (*sqlx.DB, error) {
	connector, idle, err := newConnector(dsn, or(lease, DefaultLease))
	if err != nil {
		return nil, err
	}
	db := sql.OpenDB(connector)
	// Below the server's wait_timeout, so that the pool lets go first.
	db.SetConnMaxIdleTime(idle / 2)
	return sqlx.NewDb(db, "mysql"), nil
}

// newConnector returns what makes the connections of Open, and how long the server lets them idle.
func newConnector(dsn string, lease time.Duration) (driver.Connector, time.Duration, error) {
	cfg, err := mysql.ParseDSN(dsn)
	if err != nil {
		return nil, 0, fmt.Errorf("%w: dsn: want user:password@tcp(host:port)/database: %s", ErrInvalid, withoutValues(err))
	}
	if cfg.DBName == "" {
		return nil, 0, fmt.Errorf("%w: dsn names no database: want user:password@tcp(host:port)/database", ErrInvalid)
	}
	cfg.ParseTime = true
	cfg.Loc = time.UTC
	cfg.ClientFoundRows = true
	cfg.InterpolateParams = true
	cfg.MultiStatements = false
	if cfg.Timeout == 0 {
		cfg.Timeout = 10 * time.Second
	}
	if cfg.Params == nil {
		cfg.Params = make(map[string]string)
	}
	idle := max(int(lease/time.Second)-1, 1)
	for name, value := range map[string]string{
		"time_zone":                "'+00:00'",
		"sql_mode":                 "'STRICT_ALL_TABLES,NO_ZERO_DATE,NO_ZERO_IN_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION'",
		"innodb_lock_wait_timeout": "2",
		"wait_timeout":             fmt.Sprint(idle),
		"autocommit":               "1",
	} {
		cfg.Params[name] = value
	}
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		return nil, 0, fmt.Errorf("%w: dsn: %s", ErrInvalid, withoutValues(err))
	}
	return readCommitted{connector}, time.Duration(idle) * time.Second, nil
}

// withoutValues keeps of a DSN error only what is the driver's fixed wording; others quote pieces of the DSN.
func withoutValues(err error) string {
	if text, fixed := strings.CutPrefix(err.Error(), "invalid DSN: "); fixed {
		return text
	}
	return "it cannot be parsed"
}

// readCommitted sets the isolation of each new connection. The name of the variable differs between the servers, so
// the driver's own parameters cannot.
type readCommitted struct{ driver.Connector }

// Connect implements driver.Connector.
func (c readCommitted) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	exec, ok := conn.(driver.ExecerContext)
	if !ok {
		return nil, errors.Join(errors.New("the driver executes no statements"), conn.Close())
	}
	if _, err := exec.ExecContext(ctx, "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED", nil); err != nil {
		return nil, errors.Join(fmt.Errorf("setting the isolation level: %w", err), conn.Close())
	}
	return conn, nil
}

// or returns v, or d where v is zero.
func or[T comparable](v, d T) T {
	var zero T
	if v == zero {
		return d
	}
	return v
}
