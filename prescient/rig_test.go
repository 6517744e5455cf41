package prescient

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/jmoiron/sqlx"
	"github.com/rs/zerolog"

	"prescient/prescient/internal/servertest"
	text "prescient/sql"
)

func TestMain(m *testing.M) { servertest.Main(m) }

// rig is an installation on a real server, in a database of its own. Each part of the library works with an account of
// its role, which has the rights of sql/grants and no more: clients as app-reschedule or app, workers as worker, lists of
// history as analyst, and what operators do as owner. Only the tests' own statements are sent by root.
type rig struct {
	t        *testing.T
	d        servertest.Database
	root     *sql.DB
	app      *sql.DB // as an app has it: no parameters in its DSN
	client   *Client
	accounts map[string]string // DSN by role
	server   text.Server
	pools    map[string]*sqlx.DB
	apps     map[string]*sql.DB
}

// eachServer runs a test on every server, with 15-minute slots.
func eachServer(t *testing.T, test func(t *testing.T, r *rig)) {
	eachServerAt(t, 15*time.Minute, test)
}

func eachServerAt(t *testing.T, resolution time.Duration, test func(t *testing.T, r *rig)) {
	servertest.Each(t, func(t *testing.T, d servertest.Database) { test(t, newRig(t, d, resolution)) })
}

func newRig(t *testing.T, d servertest.Database, resolution time.Duration) *rig {
	t.Helper()
	r := &rig{t: t, d: d, root: d.Open(t, ""), accounts: make(map[string]string), pools: make(map[string]*sqlx.DB),
		apps: make(map[string]*sql.DB)}
	_, err := text.Up(t.Context(), r.root, text.Schema{Prefix: "p_", Resolution: resolution})
	r.must(err)
	r.server, err = text.ServerOf(t.Context(), r.root)
	r.must(err)
	r.app = servertest.Open(t, r.account("app-reschedule"), "")
	r.client, err = NewClient(t.Context(), r.app, ClientOptions{Prefix: "p_"})
	r.must(err)
	return r
}

func (r *rig) must(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

// user is the name of the account of a role.
func (r *rig) user(role string) string { return strings.TrimPrefix(r.d.Name, "px_test_") + "." + role }

// account makes an account that has a role and nothing else, once, and returns its DSN.
func (r *rig) account(role string) string {
	r.t.Helper()
	if dsn, made := r.accounts[role]; made {
		return dsn
	}
	config, err := mysql.ParseDSN(r.d.DSN)
	r.must(err)
	a := text.Account{Database: r.d.Name, Prefix: "p_", User: r.user(role), Server: r.server}
	name := "'" + a.User + "'@'%'"
	r.exec("CREATE USER " + name + " IDENTIFIED BY 'Secret-42'")
	r.t.Cleanup(func() { r.exec("DROP USER " + name) })
	_, statements, err := text.Grants(role, a)
	r.must(err)
	for _, statement := range statements {
		r.exec(statement)
	}
	config.User, config.Passwd = a.User, "Secret-42"
	r.accounts[role] = config.FormatDSN()
	return r.accounts[role]
}

// also gives an account of a role a right on one more table: of the app's own, or to look at what was done.
func (r *rig) also(role, right, table string) {
	r.t.Helper()
	r.account(role)
	r.exec("GRANT " + right + " ON " + r.d.Name + "." + table + " TO '" + r.user(role) + "'@'%'")
}

// as is a pool of Open for an account with a role. With a time given, the server's clock stands still at it on its
// connections.
func (r *rig) as(role string, now time.Time) *sqlx.DB {
	r.t.Helper()
	dsn := r.account(role)
	if !now.IsZero() {
		dsn = servertest.WithParams(dsn, fixedClock(now))
	}
	if r.pools[dsn] == nil {
		db, err := Open(dsn, 0)
		r.must(err)
		r.t.Cleanup(func() { _ = db.Close() })
		r.pools[dsn] = db
	}
	return r.pools[dsn]
}

// pool is an operator's pool.
func (r *rig) pool(now time.Time) *sqlx.DB { return r.as("owner", now) }

// appAt is the pool of an app that does all that a client can, on which the server's clock stands still at a time.
func (r *rig) appAt(now time.Time) *sql.DB { return r.appAs("app-reschedule", now) }

func (r *rig) appAs(role string, now time.Time) *sql.DB {
	dsn := servertest.WithParams(r.account(role), fixedClock(now))
	if r.apps[dsn] == nil {
		r.apps[dsn] = servertest.Open(r.t, dsn, "")
	}
	return r.apps[dsn]
}

// fixedClock is the DSN parameter under which the server's clock stands still for a connection.
func fixedClock(now time.Time) string {
	return fmt.Sprintf("timestamp=%d.%06d", now.Unix(), now.Nanosecond()/1000)
}

// worker makes a worker whose server's clock stands still at now; the zero time leaves it running.
func (r *rig) worker(now time.Time, registry *Registry, options WorkerOptions) *Worker {
	r.t.Helper()
	options.Prefix, options.Registry = "p_", registry
	if options.Log.GetLevel() == zerolog.TraceLevel {
		options.Log = zerolog.New(zerolog.NewTestWriter(r.t))
	}
	w, err := NewWorker(r.t.Context(), r.as("worker", now), options)
	r.must(err)
	return w
}

// runAt runs the slot that is now at a time, and returns its figures.
func (r *rig) runAt(now time.Time, registry *Registry, options WorkerOptions) Figures {
	r.t.Helper()
	figures, err := r.worker(now, registry, options).Run(r.t.Context())
	r.must(err)
	return figures
}

// insert makes one check pending, as an app whose server's clock stands at now.
func (r *rig) insert(now time.Time, job NewJob) Inserted {
	r.t.Helper()
	role := "app"
	switch job.OnPending {
	case Replace, Earlier, Later:
		role = "app-reschedule"
	}
	did, err := r.client.Insert(r.t.Context(), r.appAs(role, now), job)
	r.must(err)
	return did
}

// pending lists all pending rows, history all ends.
func (r *rig) pending() []FutureJob {
	r.t.Helper()
	page, err := r.client.Pending(context.WithoutCancel(r.t.Context()), r.as("app", time.Time{}), ListFilter{Limit: MaxPage})
	r.must(err)
	return page
}

func (r *rig) history() []Ended {
	r.t.Helper()
	page, err := r.client.History(context.WithoutCancel(r.t.Context()), r.as("analyst", time.Time{}), ListFilter{Limit: MaxPage})
	r.must(err)
	return page
}

// day is the day on which the tests take place; at returns a time of it, UTC, from "15:04:05.999999".
var day = time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)

func at(clock string) time.Time {
	layout := "15:04"
	if len(clock) > len(layout) {
		layout = "15:04:05.999999"
	}
	t, err := time.Parse(layout, clock)
	if err != nil {
		panic(err)
	}
	return day.Add(t.Sub(t.Truncate(24 * time.Hour)))
}

func registry(name string, fn Func, guards Guards) *Registry {
	r := NewRegistry()
	r.MustRegister(name, fn, guards)
	return r
}

// eventually waits until something that another goroutine or process does is there.
func (r *rig) eventually(what string, is func() bool) {
	r.t.Helper()
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if is() {
			return
		}
	}
	r.t.Fatalf("never came about: %s", what)
}

// balanced checks the ledger against history: the counts of all runs are the ends that were written, by outcome.
func (r *rig) balanced() {
	r.t.Helper()
	var books Counts
	row := r.root.QueryRow(`SELECT CAST(COALESCE(SUM(done), 0) AS SIGNED), CAST(COALESCE(SUM(max_checks), 0) AS SIGNED),
		CAST(COALESCE(SUM(past_return), 0) AS SIGNED), CAST(COALESCE(SUM(beyond_horizon), 0) AS SIGNED),
		CAST(COALESCE(SUM(failed), 0) AS SIGNED), CAST(COALESCE(SUM(timed_out), 0) AS SIGNED),
		CAST(COALESCE(SUM(crashed), 0) AS SIGNED) FROM p_slot_run`)
	r.must(row.Scan(&books.Done, &books.MaxChecks, &books.PastReturn, &books.BeyondHorizon, &books.Failed, &books.TimedOut, &books.Crashed))
	var written Counts
	rows, err := r.root.Query("SELECT outcome, COUNT(*) FROM p_job_history WHERE outcome <> 'cancelled' GROUP BY outcome")
	r.must(err)
	defer rows.Close()
	for rows.Next() {
		var outcome Outcome
		var n int
		r.must(rows.Scan(&outcome, &n))
		written.count(verdict{outcome: outcome}, called, n)
	}
	r.must(rows.Err())
	if books != written {
		r.t.Errorf("the ledger has %+v, history has %+v", books, written)
	}
}

// count asks the server for a number.
func (r *rig) count(query string, args ...any) (n int) {
	r.t.Helper()
	r.must(r.root.QueryRow(query, args...).Scan(&n))
	return n
}

// insertDue makes n checks pending for a slot of the running clock that is just over, and returns it.
func (r *rig) insertDue(n int) (slot time.Time) {
	r.t.Helper()
	var now string
	r.must(r.root.QueryRow("SELECT CAST(UTC_TIMESTAMP(6) AS CHAR)").Scan(&now))
	at, err := parseTime(now)
	r.must(err)
	slot = r.client.grid.Prev(at)
	jobs := make([]NewJob, n)
	for i := range jobs {
		jobs[i] = NewJob{Entity: Entity{"order", fmt.Sprint(i)}, JobExec: "check", DueAt: slot}
	}
	_, err = r.client.InsertMany(r.t.Context(), r.appAt(slot.Add(-time.Second)), jobs)
	r.must(err)
	return slot
}

func keyBytes(k Key) []byte { return k[:] }

func contains(err error, texts ...string) bool {
	for _, text := range texts {
		if err == nil || !strings.Contains(err.Error(), text) {
			return false
		}
	}
	return true
}
