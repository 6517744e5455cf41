package delayq

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/jmoiron/sqlx"
	"github.com/rs/zerolog"

	"prescient/prescient"
	"prescient/prescient/client"
	"prescient/prescient/connect"
	"prescient/prescient/localserver"
	"prescient/prescient/localserver/servertest"
	"prescient/prescient/worker"
	text "prescient/sql"
	"prescient/sql/migrate"
)

func TestMain(m *testing.M) { servertest.Main(m) }

// rig is an installation in a database of its own, with tables that have the prefix p_. Queues delay by an account of the role
// app and run by one of the role worker; the tests look at what came of it as owner.
type rig struct {
	t       *testing.T
	d       servertest.Database
	root    *sql.DB
	setting text.Dialect // PRESCIENT_TEST_DIALECT
	server  text.Server
	roles   map[string]*mysql.Config
	pools   map[string]*sqlx.DB
}

// eachFlavour runs a test on one server of each flavour, on both at the same time.
func eachFlavour(t *testing.T, resolution time.Duration, test func(t *testing.T, r *rig)) {
	t.Helper()
	t.Parallel()
	servertest.EachFlavour(t, func(t *testing.T, flavour localserver.Flavour) {
		test(t, newRig(t, servertest.New(t, flavour), resolution))
	})
}

func newRig(t *testing.T, d servertest.Database, resolution time.Duration) *rig {
	t.Helper()
	r := &rig{t: t, setting: text.Dialect(os.Getenv("PRESCIENT_TEST_DIALECT")), roles: make(map[string]*mysql.Config), pools: make(map[string]*sqlx.DB)}
	r.d = d.Migrated(t, servertest.Tables{Schema: migrate.Schema{Prefix: "p_", Resolution: resolution, Dialect: r.setting}})
	r.root = r.d.Open(t, "")
	var err error
	r.server, _, err = r.setting.Choose(t.Context(), r.root)
	r.must(err)
	return r
}

func (r *rig) must(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) exec(statement string, args ...any) {
	r.t.Helper()
	_, err := r.root.ExecContext(context.WithoutCancel(r.t.Context()), statement, args...)
	r.must(err)
}

// as returns what an account of a role connects with; it is made where there is none yet.
func (r *rig) as(role string) *mysql.Config {
	r.t.Helper()
	if r.roles[role] == nil {
		_, statements, err := text.Grants(role, text.Account{Database: r.d.Name, Prefix: "p_", User: r.d.User(role), Server: r.server, Dialect: r.setting})
		r.must(err)
		r.roles[role], err = mysql.ParseDSN(r.d.Account(r.t, role, statements, func(statement string) { r.exec(statement) }))
		r.must(err)
	}
	return r.roles[role]
}

// pool is a role's, on which the server's clock stands still at a time; the zero time leaves it running.
func (r *rig) pool(role string, now time.Time) *sqlx.DB {
	r.t.Helper()
	config := r.as(role).Clone()
	if !now.IsZero() {
		config.Params = map[string]string{"timestamp": fmt.Sprintf("%d.%06d", now.Unix(), now.Nanosecond()/1000)}
	}
	dsn := config.FormatDSN()
	if r.pools[dsn] == nil {
		db, err := connect.Open(dsn, 0)
		r.must(err)
		r.t.Cleanup(func() { _ = db.Close() })
		r.pools[dsn] = db
	}
	return r.pools[dsn]
}

// queue is the queue of a name, on a pool of a role.
func (r *rig) queue(role string, now time.Time, options Options) *DelayQueue {
	r.t.Helper()
	options.Client = client.Options{Prefix: "p_", Dialect: r.setting}
	options.Worker.Log = zerolog.New(zerolog.NewTestWriter(r.t)).Level(zerolog.WarnLevel)
	q, err := New(r.t.Context(), r.pool(role, now), options)
	r.must(err)
	return q
}

// app is the queue of a name as an app has it that delays at a time.
func (r *rig) app(name string, now time.Time) *DelayQueue {
	r.t.Helper()
	return r.queue("app", now, Options{Name: name})
}

// delay delays text at a time.
func (r *rig) delay(name string, now, ready time.Time, data string) (id string) {
	r.t.Helper()
	id, err := r.app(name, now).DelayContext(r.t.Context(), ready, []byte(data))
	r.must(err)
	return id
}

// handles is a registry with queues, each of which calls the handle.
func (r *rig) handles(handle func(name string, item Item) error, queues ...Options) *prescient.Registry {
	r.t.Helper()
	registry := prescient.NewRegistry()
	for _, options := range queues {
		q := r.queue("worker", time.Time{}, options)
		r.must(q.RegisterContext(registry, func(_ context.Context, item Item) error { return handle(q.Name(), item) }))
	}
	return registry
}

// run runs the slot that is now at a time.
func (r *rig) run(now time.Time, registry *prescient.Registry) {
	r.t.Helper()
	w, err := worker.New(r.t.Context(), r.pool("worker", now), worker.Options{Prefix: "p_", Dialect: r.setting, Registry: registry,
		Log: zerolog.New(zerolog.NewTestWriter(r.t)).Level(zerolog.ErrorLevel)})
	r.must(err)
	_, err = w.Run(r.t.Context())
	r.must(err)
}

// looks is a client that only looks.
func (r *rig) looks() (*client.Client, *sqlx.DB) {
	r.t.Helper()
	db := r.pool("owner", time.Time{})
	c, err := client.New(context.WithoutCancel(r.t.Context()), db, client.Options{Prefix: "p_", Dialect: r.setting})
	r.must(err)
	return c, db
}

func (r *rig) pending() []prescient.FutureJob {
	r.t.Helper()
	c, db := r.looks()
	page, err := c.Pending(context.WithoutCancel(r.t.Context()), db, client.ListFilter{})
	r.must(err)
	return page
}

// one is what is pending, which is one.
func (r *rig) one() prescient.FutureJob {
	r.t.Helper()
	rows := r.pending()
	if len(rows) != 1 {
		r.t.Fatalf("%d are pending, want one: %+v", len(rows), rows)
	}
	return rows[0]
}

func (r *rig) ended() []client.Ended {
	r.t.Helper()
	c, db := r.looks()
	page, err := c.History(context.WithoutCancel(r.t.Context()), db, client.ListFilter{})
	r.must(err)
	return page
}

// now is the time by the running clock of the server.
func (r *rig) now() time.Time {
	r.t.Helper()
	var now time.Time
	r.must(r.pool("owner", time.Time{}).GetContext(r.t.Context(), &now, "SELECT UTC_TIMESTAMP(6)"))
	return now
}

// at is a time of the day on which the tests take place, UTC, from "15:04:05.999999" or a part of it.
func at(clock string) time.Time {
	t, err := time.Parse("15:04:05.999999", (clock + ":00:00")[:max(len(clock), len("15:04:05"))])
	if err != nil {
		panic(err)
	}
	return time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC).Add(t.Sub(t.Truncate(24 * time.Hour)))
}
