package connect

import (
	"cmp"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/jmoiron/sqlx"

	"prescient/prescient"
	"prescient/prescient/internal/store"
)

// Open returns a pool of connections for a worker. dsn is a go-sql-driver DSN; what a worker relies on is set here,
// whatever the DSN says: UTC, parseTime, clientFoundRows, utf8mb4, strict mode, READ COMMITTED without
// innodb_snapshot_isolation, and short lock waits and idle times, so that a frozen worker does not hold its locks past its
// lease. An app's own connections need none of this.
//
// The address may be a list, tcp(host1:port,host2:port), of the nodes of a cluster: connections go to the first that
// answers and takes writes, and all to the same. When that dies or turns read-only, the next in turn is taken, and kept.
//
// It does not connect yet. The error wraps prescient.ErrInvalid and never shows the DSN, which may hold a password.
func Open(dsn string, lease time.Duration) (*sqlx.DB, error) {
	return OpenWith(dsn, Options{Lease: lease})
}

// Options are for OpenWith; zero fields mean the defaults.
type Options struct {
	// Lease is that of the worker: statements and transactions take no longer than it allows.
	Lease time.Duration
	// TLS says how the server is verified. One that fails that is refused with ErrNotTrusted.
	TLS TLS
	// Connections is how many there are at most, 8 to 10,000; DefaultConnections by default.
	Connections int
	// StatementTime is after how long the server itself ends a statement, of MySQL a SELECT; 0, the default, for never. A statement that was given
	// up goes on there until then.
	StatementTime time.Duration
	// Shard, where given, is that of Vitess which all sessions are targeted at, such as -80: the DSN names its keyspace.
	Shard string
	// Away, where given, is called each time that the shard answers that it has no server: it may have been divided. It is not to block.
	Away func()
}

// OpenWith is Open with options. A statement waits for a connection, where all are in use, for half of the lease, 30 s at most, and
// fails with ErrNoConnection then.
func OpenWith(dsn string, o Options) (*sqlx.DB, error) {
	o.Lease, o.Connections = cmp.Or(o.Lease, prescient.DefaultLease), cmp.Or(o.Connections, DefaultConnections)
	if o.Connections < LeastConnections || o.Connections > MostConnections {
		return nil, fmt.Errorf("%w: %d connections: %d to %d are allowed", prescient.ErrInvalid, o.Connections, LeastConnections, MostConnections)
	}
	h, idle, err := newConnector(dsn, o)
	if err != nil {
		return nil, err
	}
	// Below the server's wait_timeout, so that the pool lets go first. Until then a slot run finds those again that its
	// statements had before: a new one takes several round trips.
	db := sql.OpenDB(newBounded(h, o.Connections, o.Lease, idle/2))
	db.SetMaxIdleConns(-1) // bounded keeps them
	return sqlx.NewDb(db, "mysql"), nil
}

// NewConnector is for an app's own pool, sql.OpenDB(connector): connections are as the DSN says, and its address may be
// a list of hosts, as with Open. The error wraps prescient.ErrInvalid and never shows the DSN.
func NewConnector(dsn string) (driver.Connector, error) {
	h, err := newHosts(dsn, connectorOf)
	if err != nil {
		return nil, err
	}
	return h, nil
}

// WorkerConnector is for a pool of your own making, such as one whose connections are traced. Its connections are set up as those of
// Open. They should be let go after half of the lease at the latest: the server ends those that idle for nearly as long as that. The pool
// has the bound that you give it (SetMaxOpenConns), none by default. None of its connections are kept for leases, and whoever waits for
// one waits as long as its statement may take.
func WorkerConnector(dsn string, lease time.Duration, tls TLS) (driver.Connector, error) {
	h, _, err := newConnector(dsn, Options{Lease: cmp.Or(lease, prescient.DefaultLease), TLS: tls})
	if err != nil {
		return nil, err
	}
	return h, nil
}

func connectorOf(cfg *mysql.Config) (driver.Connector, error) {
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		return nil, fmt.Errorf("%w: dsn: %s", prescient.ErrInvalid, withoutValues(err))
	}
	return connector, nil
}

// newConnector returns what makes the connections of Open, and how long the server lets them idle.
func newConnector(dsn string, o Options) (*hosts, time.Duration, error) {
	idle := max(o.Lease.Truncate(time.Second)-time.Second, time.Second)
	h, err := newHosts(dsn, func(cfg *mysql.Config) (driver.Connector, error) {
		if err := target(cfg, o.Shard); err != nil {
			return nil, err
		}
		settings := configure(cfg, o.Lease, idle)
		if err := o.TLS.apply(cfg); err != nil {
			return nil, err
		}
		connector, err := connectorOf(cfg)
		return &sessions{Connector: connector, settings: settings, limit: o.StatementTime}, err
	})
	if err != nil {
		return nil, 0, err
	}
	h.commit, h.idle, h.away = store.StatementTime(o.Lease), idle, o.Away
	return h, idle, nil
}

// target has the sessions of a DSN that names a keyspace be those of one shard of it.
func target(cfg *mysql.Config, shard string) error {
	switch {
	case shard == "":
		return nil
	case strings.Contains(cfg.DBName, ":"):
		return fmt.Errorf("%w: dsn: it names a shard already", prescient.ErrInvalid)
	case !shardName.MatchString(shard):
		return fmt.Errorf("%w: %.80q is no shard: such as -80, 80-c0 and 0 are", prescient.ErrInvalid, shard)
	}
	cfg.DBName += ":" + shard
	return nil
}

var shardName = regexp.MustCompile(`^[0-9A-Za-z_.-]+$`)

// defaultDialTime is how long an attempt at a connection may take.
const defaultDialTime = 10 * time.Second

// configure sets what a worker relies on. It returns what a SET is to say on each connection.
func configure(cfg *mysql.Config, lease, idle time.Duration) (settings string) {
	cfg.ParseTime = true
	cfg.Loc = time.UTC
	cfg.ClientFoundRows = true
	cfg.InterpolateParams = true
	cfg.MultiStatements = false
	cfg.ColumnsWithAlias = false
	cfg.AllowAllFiles = false // a server could ask for any file of this machine
	cfg.AllowOldPasswords = false
	cfg.Logger = &mysql.NopLogger{} // what goes wrong is returned
	cfg.Timeout = cmp.Or(cfg.Timeout, defaultDialTime)
	// Statements and COMMIT have deadlines of their own; this is for those that a caller gave none.
	cfg.ReadTimeout = cmp.Or(cfg.ReadTimeout, lease+time.Minute)
	options := []mysql.Option{mysql.TimeTruncate(0)}
	if cfg.Collation = collation; strings.Contains(cfg.FormatDSN(), "charset=") {
		// It can be replaced, but not taken out: the driver sends it by a statement of its own, too.
		options = append(options, mysql.Charset("utf8mb4", collation))
	}
	_ = cfg.Apply(options...) // these have no errors
	params := map[string]string{
		"time_zone":                "'+00:00'",
		"sql_mode":                 "'STRICT_ALL_TABLES,NO_ZERO_DATE,NO_ZERO_IN_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION'",
		"innodb_lock_wait_timeout": lockWait,
		"lock_wait_timeout":        fmt.Sprint(int(tableWait(lease) / time.Second)),
		"wait_timeout":             fmt.Sprint(int(idle / time.Second)),
		"autocommit":               "1",
	}
	for name, value := range cfg.Params {
		name := strings.ToLower(name)
		if _, own := params[name]; !own && !strings.HasPrefix(name, "character_set_") && !strings.HasPrefix(name, "collation_") {
			params[name] = value
		}
	}
	cfg.Params = nil // or the driver would send them by a statement of its own, too
	settings = "NAMES utf8mb4 COLLATE " + collation
	for _, name := range slices.Sorted(maps.Keys(params)) {
		settings += ", " + name + " = " + params[name]
	}
	return settings
}

const collation = "utf8mb4_general_ci"

// lockWait is how long a statement waits for a lock, in seconds, the shortest that MySQL knows: well below what a statement
// may take, so that the error is that of a lock wait.
const lockWait = "1"

// tableWait is how long a statement waits for a table that somebody else alters, or for everybody's read lock, in whole seconds. It is
// shorter than what a statement may take, where that is more than a second: MySQL goes on with a statement whose client is gone, so that the
// server must be the first to give up, or each try leaves a session behind.
func tableWait(lease time.Duration) time.Duration {
	return max(min(store.StatementTime(lease)-time.Second, mostTableWait).Truncate(time.Second), time.Second)
}

// mostTableWait is less than the 5 s that a heartbeat of an agent or of a forwarder may take.
const mostTableWait = 4 * time.Second

const wantDSN = "want user:password@tcp(host:port)/database"

// network is what a network may be called; mysql.RegisterDialContext can make others than tcp and unix.
var network = regexp.MustCompile(`^[A-Za-z0-9_.+-]+$`)

// parseDSN reads a DSN and refuses one that was cut in the wrong place: a part of it that is no network or database may
// be the password, and would be shown by the error of whoever uses it.
func parseDSN(dsn string) (cfg *mysql.Config, err error) {
	defer func() {
		if recover() != nil { // the driver's way to say that a parameter is not allowed any more
			cfg, err = nil, fmt.Errorf("%w: dsn: it has a parameter that is not allowed any more", prescient.ErrInvalid)
		}
	}()
	cfg, err = mysql.ParseDSN(dsn)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w: dsn: %s: %s", prescient.ErrInvalid, wantDSN, withoutValues(err))
	case !network.MatchString(cfg.Net), strings.ContainsAny(cfg.DBName, "@()/"):
		return nil, fmt.Errorf("%w: dsn: %s: @, ( or / is missing, or stands in the wrong place", prescient.ErrInvalid, wantDSN)
	case cfg.DBName == "":
		return nil, fmt.Errorf("%w: dsn names no database: %s", prescient.ErrInvalid, wantDSN)
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

// newHosts makes the connector for a DSN with one host or several. Each host's configuration goes through configure.
func newHosts(dsn string, configure func(*mysql.Config) (driver.Connector, error)) (*hosts, error) {
	h := &hosts{attempt: defaultDialTime}
	one, err := eachHost(dsn)
	if err != nil {
		return nil, err
	}
	for _, dsn := range one {
		cfg, err := parseDSN(dsn)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(h.list, func(other host) bool { return other.address == cfg.Addr }) {
			return nil, fmt.Errorf("%w: dsn: it names host %s twice", prescient.ErrInvalid, cfg.Addr)
		}
		h.attempt = cmp.Or(cfg.Timeout, defaultDialTime)
		connector, err := configure(cfg)
		if err != nil {
			return nil, err
		}
		h.list = append(h.list, host{cfg.Addr, connector})
	}
	return h, nil
}
