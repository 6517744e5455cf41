package prescienttest

import (
	"cmp"
	"context"
	"database/sql"
	"maps"
	"sync"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/jmoiron/sqlx"
	"github.com/rs/zerolog"

	"prescient/prescient"
	"prescient/prescient/client"
	"prescient/prescient/worker"
	"prescient/slots"
	"prescient/sql/migrate"
)

// DefaultStart is the time that a kit's clock shows at first: a Monday at noon, UTC.
var DefaultStart = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

// Options are for New; zero fields mean the defaults.
type Options struct {
	// DSN is the server to make the test's database on, by an account that may create databases. By default that of the
	// variable PRESCIENT_TEST_DSN, or else a private one.
	DSN string
	// Prefix of the table names; empty by default.
	Prefix string
	// Resolution of the slots; 15 minutes by default.
	Resolution time.Duration
	// Guards of the installation, for job_execs that have none of their own.
	Guards prescient.Guards
	// Start is what the clock shows at first; DefaultStart by default. The years 1970 to 2037 are allowed.
	Start time.Time
	// Log takes what the worker logs; the test's own log by default, warnings and worse.
	Log *zerolog.Logger
}

// Kit is an installation of prescient for one test. Its methods end the test where something fails that should not. It is
// for the test's own goroutine; job_execs may use its DB, Client and Now.
type Kit struct {
	t        testing.TB
	options  Options
	grid     slots.Grid
	clock    clock
	config   *mysql.Config
	db       *sqlx.DB
	registry *prescient.Registry
	client   *client.Client

	mu    sync.Mutex
	calls []worker.Result
}

// New returns a kit with the tables in an empty database. The registry may still be filled after this; nil is an empty
// one.
func New(t testing.TB, registry *prescient.Registry, options Options) *Kit {
	t.Helper()
	options.Resolution = cmp.Or(options.Resolution, 15*time.Minute)
	if options.Start.IsZero() {
		options.Start = DefaultStart
	}
	if registry == nil {
		registry = prescient.NewRegistry()
	}
	k := &Kit{t: t, options: options, registry: registry}
	var err error
	k.grid, err = slots.NewGrid(options.Resolution)
	k.must(err)
	k.At(options.Start)
	k.config = newDatabase(t, serverDSN(t, options))
	k.db = k.openDB()
	_, err = migrate.Up(t.Context(), k.db.DB, migrate.Schema{Prefix: options.Prefix, Resolution: options.Resolution})
	k.must(err)
	k.client, err = client.New(t.Context(), k.db, client.Options{Prefix: options.Prefix,
		Guards: options.Guards, Registry: registry})
	k.must(err)
	return k
}

// openDB returns the pool that follows the clock.
func (k *Kit) openDB() *sqlx.DB {
	k.t.Helper()
	config := k.config.Clone()
	config.ParseTime, config.Loc = true, time.UTC
	params := map[string]string{"time_zone": "'+00:00'"}
	maps.Copy(params, config.Params)
	config.Params = params
	connector, err := mysql.NewConnector(config)
	k.must(err)
	db := sqlx.NewDb(sql.OpenDB(clocked{connector, &k.clock}), "mysql")
	k.t.Cleanup(func() { _ = db.Close() })
	return db
}

func (k *Kit) must(err error) {
	k.t.Helper()
	if err != nil {
		k.t.Fatalf("prescienttest: %v", err)
	}
}

// context is the test's, but outlasts it, so that a cleanup may still look.
func (k *Kit) context() context.Context { return context.WithoutCancel(k.t.Context()) }

// DB returns the pool of the test's database, on which the server's clock is that of the kit: each statement, and each
// transaction from its start to its end, sees the time at which it began. Times are read as UTC. The app's own tables may
// be made in it.
func (k *Kit) DB() *sqlx.DB { return k.db }

// DSN returns the DSN of the test's database. On connections made from it the server's clock is the real one.
func (k *Kit) DSN() string { return k.config.FormatDSN() }

// Client returns the client; it works on DB, and on transactions of it.
func (k *Kit) Client() *client.Client { return k.client }

// Registry returns the registry that was given to New.
func (k *Kit) Registry() *prescient.Registry { return k.registry }

// Now returns the time that the clock shows, in UTC.
func (k *Kit) Now() time.Time { return k.clock.time() }

// At sets the clock, and runs nothing. It may be set back.
func (k *Kit) At(t time.Time) {
	k.t.Helper()
	now := t.UTC().Truncate(time.Microsecond)
	k.must(inRange(now))
	k.clock.set(now)
}

// Advance moves the clock on, and runs nothing.
func (k *Kit) Advance(d time.Duration) {
	k.t.Helper()
	k.At(k.Now().Add(d))
}

// Insert makes a check pending, on DB.
func (k *Kit) Insert(job prescient.NewJob) client.Inserted {
	k.t.Helper()
	did, err := k.client.Insert(k.context(), k.db, job)
	k.must(err)
	return did
}

// Cancel ends what is pending for an entity, or only what the job_execs named do, and returns how many.
func (k *Kit) Cancel(e prescient.Entity, jobExecs ...string) int {
	k.t.Helper()
	n, err := k.client.Cancel(k.context(), k.db, e, jobExecs...)
	k.must(err)
	return n
}
