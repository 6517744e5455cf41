package changequeue

import (
	"context"
	"database/sql"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/rs/zerolog"

	"prescient/prescient"
	"prescient/prescient/client"
	"prescient/prescient/connect"
	"prescient/prescient/localserver"
	"prescient/prescient/localserver/servertest"
	"prescient/prescient/longrun"
	"prescient/prescient/worker"
	text "prescient/sql"
	"prescient/sql/migrate"
)

func TestMain(m *testing.M) { servertest.Main(m) }

// rig is an installation with slots of a second, a table of changes, and one of what was handled.
type rig struct {
	t       *testing.T
	dsn     string
	root    *sql.DB
	setting text.Dialect // PRESCIENT_TEST_DIALECT
}

// eachFlavour runs a test on one server of each flavour, on both at the same time.
func eachFlavour(t *testing.T, test func(t *testing.T, r *rig)) {
	t.Helper()
	t.Parallel()
	servertest.EachFlavour(t, func(t *testing.T, flavour localserver.Flavour) { test(t, newRig(t, servertest.New(t, flavour))) })
}

// eachServer is eachFlavour on all servers, for what they do about locks.
func eachServer(t *testing.T, test func(t *testing.T, r *rig)) {
	t.Helper()
	t.Parallel()
	servertest.Each(t, func(t *testing.T, d servertest.Database) { test(t, newRig(t, d)) })
}

func newRig(t *testing.T, d servertest.Database) *rig {
	t.Helper()
	r := &rig{t: t, setting: text.Dialect(os.Getenv("PRESCIENT_TEST_DIALECT"))}
	d = d.Migrated(t, servertest.Tables{Schema: migrate.Schema{Resolution: time.Second, Dialect: r.setting}, By: "jobs/changequeue", App: func(d servertest.Database) {
		r.root = d.Open(t, "")
		r.exec("CREATE TABLE changes (id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY, payload LONGBLOB)")
		r.exec("CREATE TABLE handled (id BIGINT UNSIGNED NOT NULL, n BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY)")
	}})
	r.dsn, r.root = d.DSN, d.Open(t, "")
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

func (r *rig) count(query string, args ...any) (n int) {
	r.t.Helper()
	r.must(r.root.QueryRow(query, args...).Scan(&n))
	return n
}

// ids are those of a query.
func (r *rig) ids(query string) (ids []uint64) {
	r.t.Helper()
	rows, err := r.root.Query(query)
	r.must(err)
	defer rows.Close()
	for rows.Next() {
		var id uint64
		r.must(rows.Scan(&id))
		ids = append(ids, id)
	}
	r.must(rows.Err())
	return ids
}

func (r *rig) within(limit time.Duration, what string, is func() bool) {
	r.t.Helper()
	for end := time.Now().Add(limit); !is(); time.Sleep(200 * time.Millisecond) {
		if time.Now().After(end) {
			r.t.Fatalf("it was not so within %s that %s; handled: %d", limit, what, r.count("SELECT COUNT(*) FROM handled"))
		}
	}
}

// change inserts changes in a transaction that stays open.
func (r *rig) change(ids ...uint64) *sql.Tx {
	r.t.Helper()
	tx, err := r.root.BeginTx(context.WithoutCancel(r.t.Context()), nil)
	r.must(err)
	r.t.Cleanup(func() { _ = tx.Rollback() })
	for _, id := range ids {
		_, err := tx.Exec("INSERT INTO changes (id, payload) VALUES (?, 'x')", id)
		r.must(err)
	}
	return tx
}

// agent is a worker with its runner of long runs.
type agent struct {
	db       *sqlx.DB
	checks   *client.Client
	runner   *longrun.Runner
	registry *prescient.Registry
	name     string
	dialect  text.Dialect
	log      zerolog.Logger
}

// newAgent makes one, with a pool of its own.
func newAgent(ctx context.Context, dsn, name string, dialect text.Dialect, log zerolog.Logger) (a *agent, err error) {
	a = &agent{registry: prescient.NewRegistry(), name: name, dialect: dialect, log: log}
	if a.db, err = connect.Open(dsn, 0); err != nil {
		return nil, err
	}
	if a.checks, err = client.New(ctx, a.db, client.Options{Dialect: dialect}); err != nil {
		return nil, err
	}
	if a.runner, err = longrun.New(ctx, a.db, longrun.Options{Name: name, Lease: 2 * time.Second, Dialect: dialect, Log: log}); err != nil {
		return nil, err
	}
	return a, nil
}

// work runs slots with what is registered, until the context ends.
func (a *agent) work(ctx context.Context) error {
	w, err := worker.New(ctx, a.db, worker.Options{Registry: a.registry, Name: a.name, Times: worker.Times{Lease: 2 * time.Second}, Dialect: a.dialect, Log: a.log,
		Sweep: worker.Sweep{Every: time.Second, Grace: time.Second}})
	if err != nil {
		return err
	}
	return w.Work(ctx)
}

// record handles changes by a row for each.
func record(ctx context.Context, tx *sqlx.Tx, changes []Change) error {
	statement := []byte("INSERT INTO handled (id) VALUES ")
	for i, c := range changes {
		if i > 0 {
			statement = append(statement, ',')
		}
		statement = append(appendID(append(statement, '('), c.ID), ')')
	}
	_, err := tx.ExecContext(ctx, string(statement))
	return err
}

// works runs a queue until stop is called, which waits for its end.
func (r *rig) works(o Options, register func(q *Queue, a *agent) error) (q *Queue, stop func()) {
	r.t.Helper()
	log := zerolog.New(zerolog.NewTestWriter(r.t)).Level(zerolog.WarnLevel)
	a, err := newAgent(r.t.Context(), r.dsn, "agent", r.setting, log)
	r.must(err)
	o.DB, o.Name, o.Table, o.Log = a.db, "queue", "changes", log
	q, err = New(o)
	r.must(err)
	r.must(register(q, a))
	r.must(q.Start(r.t.Context(), a.checks, a.db))
	ctx, cancel := context.WithCancel(context.WithoutCancel(r.t.Context()))
	done := make(chan error, 1)
	go func() { done <- a.work(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			r.t.Errorf("the worker ended with %v", err)
		}
		_ = a.runner.Drain(ctx)
		_ = a.db.Close()
	})
	r.t.Cleanup(stop)
	return q, stop
}

// inTx registers the queue with record.
func inTx(q *Queue, a *agent) error { return q.RegisterTx(a.runner, a.registry, record) }
