package orders_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/jmoiron/sqlx"
	"github.com/rs/zerolog"

	"prescient/jobs/orders"
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

// rig is an app in a database of its own, with 15-minute slots. prescient's tables have the prefix p_, its own app_. The
// app, the worker and whoever lists history have accounts of the roles app-reschedule (placing an order replaces what is
// pending for its id), worker and analyst, with what they need of the app's tables beside it; only what the tests look at
// by themselves is asked for by root.
type rig struct {
	t      *testing.T
	d      servertest.Database
	dsn    *mysql.Config // of root
	roles  map[string]*mysql.Config
	root   *sql.DB
	app    *sql.DB // as an app has it: no parameters in its DSN
	client *client.Client
	batch  bool // the worker has CheckBatch instead of Check

	mu   sync.Mutex
	told []orders.Alert // what OnAlert was told
}

// eachFlavour runs a test on one server of each flavour, on both at the same time, and returns when both have ended.
func eachFlavour(t *testing.T, test func(t *testing.T, r *rig)) {
	t.Helper()
	t.Parallel() // they mostly wait
	servertest.EachFlavour(t, func(t *testing.T, flavour localserver.Flavour) { test(t, newRig(t, servertest.New(t, flavour))) })
}

// eachCheck runs a test on each flavour with Check, and with CheckBatch.
func eachCheck(t *testing.T, test func(t *testing.T, r *rig)) {
	t.Helper()
	for _, batch := range []bool{false, true} {
		t.Run(map[bool]string{false: "each", true: "batch"}[batch], func(t *testing.T) {
			eachFlavour(t, func(t *testing.T, r *rig) {
				r.batch = batch
				test(t, r)
			})
		})
	}
}

func newRig(t *testing.T, d servertest.Database) *rig {
	t.Helper()
	r := &rig{t: t, roles: make(map[string]*mysql.Config)}
	r.d = d.Migrated(t, servertest.Tables{Schema: migrate.Schema{Prefix: "p_", Resolution: 15 * time.Minute}, By: "jobs/orders", App: func(d servertest.Database) {
		root := d.Open(t, "")
		r.must(orders.CreateTables(t.Context(), root, "app_"))
	}})
	var err error
	r.dsn, err = mysql.ParseDSN(r.d.DSN)
	r.must(err)
	r.root = r.connect(r.dsn, nil)
	r.account("app-reschedule", "SELECT, INSERT, UPDATE ON app_orders")
	r.account("worker", "SELECT ON app_orders", "SELECT, INSERT ON app_order_alerts")
	r.account("analyst")
	r.app = r.open(nil)
	r.client, err = client.New(t.Context(), r.app, client.Options{Prefix: "p_"})
	r.must(err)
	return r
}

func (r *rig) must(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) exec(db *sql.DB, statement string, args ...any) {
	r.t.Helper()
	_, err := db.ExecContext(context.WithoutCancel(r.t.Context()), statement, args...)
	r.must(err)
}

// account makes an account with a role, and with further rights on the app's tables.
func (r *rig) account(role string, rights ...string) {
	r.t.Helper()
	_, statements, err := text.Grants(role, text.Account{Database: r.d.Name, Prefix: "p_", User: r.d.User(role)})
	r.must(err)
	for _, right := range rights {
		statements = append(statements, "GRANT "+strings.Replace(right, " ON ", " ON "+r.d.Name+".", 1)+" TO '"+r.d.User(role)+"'@'%'")
	}
	r.roles[role], err = mysql.ParseDSN(r.d.Account(r.t, role, statements, func(statement string) { r.exec(r.root, statement) }))
	r.must(err)
}

// refusesChangedRows says whether the server refuses a transaction rows that were changed after its snapshot.
func (r *rig) refusesChangedRows() bool {
	r.t.Helper()
	var name, value string
	err := r.app.QueryRow("SHOW SESSION VARIABLES LIKE 'innodb_snapshot_isolation'").Scan(&name, &value)
	if !errors.Is(err, sql.ErrNoRows) {
		r.must(err)
	}
	return value == "ON"
}

// open connects the app with these session variables, and disconnects at the end of the test.
func (r *rig) open(variables map[string]string) *sql.DB {
	r.t.Helper()
	return r.connect(r.roles["app-reschedule"], variables)
}

func (r *rig) connect(as *mysql.Config, variables map[string]string) *sql.DB {
	r.t.Helper()
	config := as.Clone()
	config.Params = variables
	connector, err := mysql.NewConnector(config)
	r.must(err)
	db := sql.OpenDB(connector)
	r.t.Cleanup(func() { db.Close() })
	return db
}

// stopped is the session variable under which the server's clock stands still.
func stopped(now time.Time) map[string]string {
	return map[string]string{"timestamp": fmt.Sprintf("%d.%06d", now.Unix(), now.Nanosecond()/1000)}
}

// appAt opens the app's pool with the server's clock standing still.
func (r *rig) appAt(now time.Time) *sql.DB { return r.open(stopped(now)) }

// poolAt opens a worker's pool with the server's clock standing still.
func (r *rig) poolAt(now time.Time) *sqlx.DB { return r.poolAs("worker", now) }

func (r *rig) poolAs(role string, now time.Time) *sqlx.DB {
	r.t.Helper()
	config := r.roles[role].Clone()
	config.Params = stopped(now)
	db, err := connect.Open(config.FormatDSN(), 0)
	r.must(err)
	r.t.Cleanup(func() { db.Close() })
	return db
}

// orders returns the app as a process sees it whose server's clock stands still at now.
func (r *rig) orders(now time.Time, change ...func(*orders.Options)) *orders.Orders {
	r.t.Helper()
	options := orders.Options{DB: r.poolAt(now), Client: r.client, Prefix: "app_", OnAlert: func(_ context.Context, alert orders.Alert) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.told = append(r.told, alert)
	}}
	for _, change := range change {
		change(&options)
	}
	o, err := orders.New(options)
	r.must(err)
	return o
}

func cancelOnShip(options *orders.Options) { options.CancelOnShip = true }

// inTx runs do in a transaction of the app's at a time, and commits it.
func (r *rig) inTx(now time.Time, do func(tx *sql.Tx)) {
	r.t.Helper()
	tx, err := r.appAt(now).BeginTx(r.t.Context(), nil)
	r.must(err)
	defer tx.Rollback()
	do(tx)
	r.must(tx.Commit())
}

// place places the next order, at a time that is now.
func (r *rig) place(now time.Time) (placed orders.Placed) {
	r.t.Helper()
	r.inTx(now, func(tx *sql.Tx) {
		var err error
		placed, err = r.orders(now).Place(r.t.Context(), tx, orders.NewOrder{PlacedAt: now})
		r.must(err)
	})
	return placed
}

// ship ships an order at a time that is now.
func (r *rig) ship(now time.Time, id int64, change ...func(*orders.Options)) {
	r.t.Helper()
	r.inTx(now, func(tx *sql.Tx) { r.must(r.orders(now, change...).Ship(r.t.Context(), tx, id)) })
}

// worker returns a worker with the check, whose server's clock stands still at now.
func (r *rig) worker(now time.Time) *worker.Worker {
	r.t.Helper()
	registry := prescient.NewRegistry()
	if r.batch {
		r.must(r.orders(now).RegisterBatch(registry, prescient.Guards{}))
	} else {
		r.must(r.orders(now).Register(registry, prescient.Guards{}))
	}
	w, err := worker.New(r.t.Context(), r.poolAt(now), worker.Options{
		Prefix: "p_", Registry: registry, Log: zerolog.New(zerolog.NewTestWriter(r.t)).Level(zerolog.WarnLevel),
	})
	r.must(err)
	return w
}

// run runs the slot that is now.
func (r *rig) run(now time.Time) {
	r.t.Helper()
	_, err := r.worker(now).Run(r.t.Context())
	r.must(err)
}

// sweep runs the slots that are overdue.
func (r *rig) sweep(now time.Time) {
	r.t.Helper()
	_, err := r.worker(now).Sweep(r.t.Context())
	r.must(err)
}

// alerts lists the alerts of an order as "level slot".
func (r *rig) alerts(id int64) (list []string) {
	r.t.Helper()
	alerts, err := r.orders(day).Alerts(r.t.Context(), id)
	r.must(err)
	for _, alert := range alerts {
		list = append(list, string(alert.Level)+" "+alert.Slot.Format("15:04"))
	}
	return list
}

// pending and history list the checks that wait and those that ended.
func (r *rig) pending() []prescient.FutureJob {
	r.t.Helper()
	page, err := r.client.Pending(r.t.Context(), r.poolAs("app-reschedule", day), client.ListFilter{})
	r.must(err)
	return page
}

func (r *rig) history() []client.Ended {
	r.t.Helper()
	page, err := r.client.History(r.t.Context(), r.poolAs("analyst", day), client.ListFilter{})
	r.must(err)
	return page
}

// day is the day on which the tests take place; at returns a time of it, UTC, from "15:04" or "15:04:05.999999".
var day = time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)

func at(clock string) time.Time {
	layout := "15:04:05.999999"
	if len(clock) == 5 {
		layout = "15:04"
	}
	t, err := time.Parse(layout, clock)
	if err != nil {
		panic(err)
	}
	return day.Add(t.Sub(t.Truncate(24 * time.Hour)))
}
