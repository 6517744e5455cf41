package prescient

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/jmoiron/sqlx"
)

// Open returns a pool of connections for a worker. dsn is a go-sql-driver DSN; what a worker relies on is set here,
// whatever the DSN says: UTC, parseTime, clientFoundRows, utf8mb4, strict mode, READ COMMITTED, and short lock waits and
// idle times, so that a frozen worker does not hold its locks past its lease. An app's own connections need none of this.
//
// It does not connect yet. The error wraps ErrInvalid and never shows the DSN, which may hold a password.
func Open(dsn string, lease time.Duration) (*sqlx.DB, error) { return OpenTLS(dsn, lease, TLS{}) }

// OpenTLS is Open with a server that is verified as tls says. A server that fails that is refused with ErrNotTrusted.
func OpenTLS(dsn string, lease time.Duration, tls TLS) (*sqlx.DB, error) {
	connector, idle, err := newConnector(dsn, or(lease, DefaultLease), tls)
	if err != nil {
		return nil, err
	}
	db := sql.OpenDB(connector)
	// Below the server's wait_timeout, so that the pool lets go first.
	db.SetConnMaxIdleTime(idle / 2)
	return sqlx.NewDb(db, "mysql"), nil
}

// newConnector returns what makes the connections of Open, and how long the server lets them idle.
func newConnector(dsn string, lease time.Duration, tls TLS) (driver.Connector, time.Duration, error) {
	idle := max(lease.Truncate(time.Second)-time.Second, time.Second)
	cfg, err := configure(dsn, lease, idle)
	if err != nil {
		return nil, 0, err
	}
	if err := tls.apply(cfg); err != nil {
		return nil, 0, err
	}
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		return nil, 0, fmt.Errorf("%w: dsn: %s", ErrInvalid, withoutValues(err))
	}
	return readCommitted{connector}, idle, nil
}

func configure(dsn string, lease, idle time.Duration) (*mysql.Config, error) {
	cfg, err := parseDSN(dsn)
	if err != nil {
		return nil, err
	}
	cfg.ParseTime = true
	cfg.Loc = time.UTC
	cfg.ClientFoundRows = true
	cfg.InterpolateParams = true
	cfg.MultiStatements = false
	cfg.ColumnsWithAlias = false
	cfg.AllowAllFiles = false // a server could ask for any file of this machine
	cfg.AllowOldPasswords = false
	cfg.Logger = &mysql.NopLogger{} // what goes wrong is returned
	cfg.Timeout = or(cfg.Timeout, 10*time.Second)
	// Statements have deadlines of their own, but a COMMIT cannot have one: a server that hangs there is given up by this.
	cfg.ReadTimeout = or(cfg.ReadTimeout, lease+time.Minute)
	if err := cfg.Apply(mysql.Charset("utf8mb4", "utf8mb4_general_ci"), mysql.TimeTruncate(0)); err != nil {
		return nil, fmt.Errorf("%w: dsn: %s", ErrInvalid, withoutValues(err))
	}
	params := map[string]string{
		"time_zone":                "'+00:00'",
		"sql_mode":                 "'STRICT_ALL_TABLES,NO_ZERO_DATE,NO_ZERO_IN_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION'",
		"innodb_lock_wait_timeout": "2",
		"wait_timeout":             fmt.Sprint(int(idle / time.Second)),
		"autocommit":               "1",
	}
	for name, value := range cfg.Params {
		name := strings.ToLower(name)
		if _, own := params[name]; !own && !strings.HasPrefix(name, "character_set_") && !strings.HasPrefix(name, "collation_") {
			params[name] = value
		}
	}
	cfg.Params = params
	return cfg, nil
}

const wantDSN = "want user:password@tcp(host:port)/database"

// network is what a network may be called; mysql.RegisterDialContext can make others than tcp and unix.
var network = regexp.MustCompile(`^[A-Za-z0-9_.+-]+$`)

// parseDSN reads a DSN and refuses one that was cut in the wrong place: a part of it that is no network or database may
// be the password, and would be shown by the error of whoever uses it.
func parseDSN(dsn string) (cfg *mysql.Config, err error) {
	defer func() {
		if recover() != nil { // the driver's way to say that a parameter is not allowed any more
			cfg, err = nil, fmt.Errorf("%w: dsn: it has a parameter that is not allowed any more", ErrInvalid)
		}
	}()
	cfg, err = mysql.ParseDSN(dsn)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w: dsn: %s: %s", ErrInvalid, wantDSN, withoutValues(err))
	case !network.MatchString(cfg.Net), strings.ContainsAny(cfg.DBName, "@()/"):
		return nil, fmt.Errorf("%w: dsn: %s: @, ( or / is missing, or stands in the wrong place", ErrInvalid, wantDSN)
	case cfg.DBName == "":
		return nil, fmt.Errorf("%w: dsn names no database: %s", ErrInvalid, wantDSN)
	}
	return cfg, nil
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
