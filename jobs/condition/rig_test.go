package condition

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/jmoiron/sqlx"
	"github.com/rs/zerolog"

	"prescient/prescient"
	"prescient/prescient/client"
	"prescient/prescient/connect"
	"prescient/prescient/event"
	"prescient/prescient/localserver"
	"prescient/prescient/localserver/servertest"
	"prescient/prescient/worker"
	text "prescient/sql"
	"prescient/sql/migrate"
)

func TestMain(m *testing.M) { servertest.Main(m) }

// rig is an app with a table of orders, whose worker may read and update it, and an account that may only read it. Slots are 15 minutes.
type rig struct {
	t              *testing.T
	root           *sql.DB
	reader, worker string                   // DSNs
	account        func(role string) string // as grants name it
	client         *client.Client
	events         *event.Outbox
}

func eachFlavour(t *testing.T, test func(t *testing.T, r *rig)) {
	t.Helper()
	t.Parallel() // they mostly wait
	servertest.EachFlavour(t, func(t *testing.T, flavour localserver.Flavour) { test(t, newRig(t, servertest.New(t, flavour))) })
}

func newRig(t *testing.T, d servertest.Database) *rig {
	t.Helper()
	r := &rig{t: t}
	d = d.Migrated(t, servertest.Tables{Schema: migrate.Schema{Prefix: "p_", Resolution: 15 * time.Minute}, By: "jobs/condition", App: func(d servertest.Database) {
		r.root = d.Open(t, "")
		r.exec("CREATE TABLE orders (id BIGINT PRIMARY KEY, customer INT NOT NULL DEFAULT 0, shipped_at DATETIME(6), alerts INT NOT NULL DEFAULT 0, alerted_at DATETIME(6)) ENGINE = InnoDB")
	}})
	r.root = d.Open(t, "")
	account := func(role string, more ...string) string {
		var grants []string
		if role != "reader" {
			var err error
			_, grants, err = text.Grants(role, text.Account{Database: d.Name, Prefix: "p_", User: d.User(role)})
			r.must(err)
		}
		for _, rights := range more {
			grants = append(grants, fmt.Sprintf("GRANT %s ON %s.orders TO '%s'@'%%'", rights, d.Name, d.User(role)))
		}
		return d.Account(t, role, grants, func(statement string) { r.exec(statement) })
	}
	r.account = func(role string) string { return fmt.Sprintf("'%s'@'%%'", d.User(role)) }
	r.reader, r.worker = account("reader", "SELECT"), account("worker", "SELECT, UPDATE")
	var err error
	r.client, err = client.New(t.Context(), r.root, client.Options{Prefix: "p_"})
	r.must(err)
	r.events = event.New(r.client)
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

// count returns the number that a statement answers with.
func (r *rig) count(query string) (n int) {
	r.t.Helper()
	r.must(r.root.QueryRow(query).Scan(&n))
	return n
}

// pool opens what a worker has, whose server's clock stands still at a time that is not zero.
func (r *rig) pool(dsn string, now time.Time) *sqlx.DB {
	r.t.Helper()
	config, err := mysql.ParseDSN(dsn)
	r.must(err)
	if !now.IsZero() {
		config.Params = map[string]string{"timestamp": fmt.Sprint(now.Unix())}
	}
	db, err := connect.Open(config.FormatDSN(), 0)
	r.must(err)
	r.t.Cleanup(func() { db.Close() })
	return db
}

// condition is one that says of orders that they are not shipped.
func (r *rig) condition(change func(o *Options)) *Condition {
	r.t.Helper()
	o := Options{Read: r.pool(r.reader, time.Time{}), Table: "orders", Column: "id", Key: Int, While: "shipped_at IS NULL",
		Topics: []string{"orders.late"}, Events: r.events, Write: r.pool(r.worker, time.Time{})}
	if change != nil {
		change(&o)
	}
	c, err := New(o)
	r.must(err)
	return c
}

// insert makes checks of orders due at 13:05.
func (r *rig) insert(keys ...string) {
	r.t.Helper()
	config := map[string]string{"timestamp": fmt.Sprint(at("13:00").Unix())}
	var jobs []prescient.NewJob
	for _, key := range keys {
		jobs = append(jobs, prescient.NewJob{Entity: prescient.Entity{Name: "order", Key: key}, JobExec: "order-late", DueAt: at("13:05")})
	}
	conn, err := r.root.Conn(r.t.Context())
	r.must(err)
	defer conn.Close()
	_, err = conn.ExecContext(r.t.Context(), "SET timestamp = "+config["timestamp"])
	r.must(err)
	_, err = r.client.InsertMany(r.t.Context(), conn, jobs)
	r.must(err)
	_, err = conn.ExecContext(r.t.Context(), "SET timestamp = DEFAULT")
	r.must(err)
}

// run runs the slot of a time.
func (r *rig) run(clock string, c *Condition) {
	r.t.Helper()
	registry := prescient.NewRegistry()
	r.must(c.Register(registry, "order-late", prescient.Guards{}))
	w, err := worker.New(r.t.Context(), r.pool(r.worker, at(clock).Add(time.Second)), worker.Options{Prefix: "p_", Registry: registry,
		Log: zerolog.New(zerolog.NewTestWriter(r.t)).Level(zerolog.ErrorLevel)})
	r.must(err)
	_, err = w.Run(r.t.Context())
	r.must(err)
}

// jobs are checks of orders in the slot of 13:15.
func (r *rig) jobs(keys ...string) (jobs []prescient.FutureJob) {
	for i, key := range keys {
		jobs = append(jobs, prescient.FutureJob{EntityName: "order", EntityKey: key, JobExec: "order-late", DueAt: at("13:05"), NextCheckAt: at("13:15"), Revision: uint64(i)})
	}
	return jobs
}

// inTx calls a condition as a worker does, for orders, in a transaction that end ends.
func (r *rig) inTx(c *Condition, end func(tx *sqlx.Tx) error, keys ...string) *prescient.Batch {
	r.t.Helper()
	batch := prescient.NewBatch(r.jobs(keys...)...)
	tx, err := r.pool(r.worker, time.Time{}).BeginTxx(r.t.Context(), nil)
	r.must(err)
	defer func() { _ = tx.Rollback() }()
	r.must(c.inTx(r.t.Context(), tx, batch))
	r.must(end(tx))
	return batch
}

// said is what became of a row of a batch.
func said(batch *prescient.Batch, row int) string {
	next, err := batch.Answer(row)
	switch {
	case err != nil:
		return err.Error()
	case next != nil:
		return next.Format("15:04")
	}
	return "settled"
}

// refused checks that a condition is refused at load, and why.
func (r *rig) refused(why string, change func(o *Options)) {
	r.t.Helper()
	err := r.condition(change).Load(r.t.Context())
	if !errors.Is(err, prescient.ErrInvalid) || !strings.Contains(err.Error(), why) {
		r.t.Errorf("%v; want %q", err, why)
	}
}

func at(clock string) time.Time {
	t, err := time.Parse("15:04", clock)
	if err != nil {
		panic(err)
	}
	return time.Date(2026, 11, 20, t.Hour(), t.Minute(), 0, 0, time.UTC)
}
