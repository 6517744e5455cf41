package rig

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"prescient/prescient"
	"prescient/prescient/internal/errno"
	"prescient/prescient/internal/store"
	"prescient/prescient/localserver/servertest"
	"prescient/slots"
	text "prescient/sql"
	"prescient/sql/migrate"
)

// Rig is an installation on a real server, in a database of its own. Each part of the library works with an account of
// its role, which has the rights of sql/grants and no more: clients as app-reschedule or app, workers as worker, lists of
// history as analyst, and what operators do as owner. Only the tests' own statements are sent by root.
type Rig struct {
	T       *testing.T
	D       servertest.Database
	Root    *sql.DB
	App     *sql.DB // as an app has it: no parameters in its DSN
	Server  text.Server
	Dialect text.Dialect // what Setting comes to on the server
	Setting text.Dialect // of the installation: see dialect.go
	opener  Opener
	behind  []*sql.DB // root's, of each shard where there are several

	mu       sync.Mutex          // of what follows: calls of job_execs make accounts and pools, too
	accounts map[string]string   // DSN by role
	pools    map[string]*sqlx.DB // by role and DSN
	apps     map[string]*sql.DB
}

// Opener makes pools and connectors as workers have them: connect.Open and connect.WorkerConnector.
type Opener struct {
	Open      func(dsn string, lease time.Duration) (*sqlx.DB, error)
	Connector func(dsn string, lease time.Duration) (driver.Connector, error)
}

// New migrates an empty database, or takes one in its place that a test before it has given back as new. opener makes the connections of
// workers and operators.
func New(t *testing.T, d servertest.Database, resolution time.Duration, opener Opener) *Rig {
	t.Helper()
	r := &Rig{T: t, opener: opener, Setting: Dialect(), accounts: make(map[string]string), pools: make(map[string]*sqlx.DB),
		apps: make(map[string]*sql.DB)}
	r.D = d.Migrated(t, servertest.Tables{Schema: migrate.Schema{Prefix: "p_", Resolution: resolution, Dialect: r.Setting}})
	r.Root = servertest.Open(t, r.D.Root, "")
	r.behind = r.rootOfShards()
	apps := r.Root
	if r.D.Root != r.D.DSN {
		apps = r.D.Open(t, "")
	}
	var err error
	r.Server, r.Dialect, err = r.Setting.Choose(t.Context(), apps)
	r.Must(err)
	r.App = servertest.Open(t, r.Account("app-reschedule"), "")
	return r
}

func (r *Rig) Must(err error) {
	r.T.Helper()
	if err != nil {
		r.T.Fatal(err)
	}
}

// Did is Must for what says whether it changed anything, too.
func (r *Rig) Did(_ bool, err error) {
	r.T.Helper()
	r.Must(err)
}

// User is the name of the account of a role.
func (r *Rig) User(role string) string { return r.D.User(role) }

// Account makes an account that has a role and nothing else, once, and returns its DSN.
func (r *Rig) Account(role string) string {
	r.T.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.account(role)
}

func (r *Rig) account(role string) string {
	r.T.Helper()
	if dsn, made := r.accounts[role]; made {
		return dsn
	}
	_, grants, err := text.Grants(role, text.Account{Database: r.D.Name, Prefix: "p_", User: r.User(role), Server: r.Server, Dialect: r.Setting})
	r.Must(err)
	r.accounts[role] = r.D.Account(r.T, role, grants, func(statement string) { r.Exec(statement) })
	return r.accounts[role]
}

// Also gives an account of a role a right on one more table: of the app's own, or to look at what was done.
func (r *Rig) Also(role, right, table string) {
	r.T.Helper()
	r.Account(role)
	if r.Server.Placed() { // Vitess
		return
	}
	r.Exec("GRANT " + right + " ON " + r.D.Name + "." + table + " TO '" + r.User(role) + "'@'%'")
}

// As is a pool of Open for an account with a role. With a time given, the server's clock stands still at it on its
// connections.
func (r *Rig) As(role string, now time.Time) *sqlx.DB {
	r.T.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	dsn := r.account(role)
	key := fmt.Sprint(role, " ", dsn, " ", now) // on Vitess all have one account
	if r.pools[key] == nil {
		if r.stops(now) {
			connector, err := r.opener.Connector(dsn, 0)
			r.Must(err)
			r.pools[key] = sqlx.NewDb(sql.OpenDB(stoppedAt(connector, now)), "mysql")
			r.T.Cleanup(func() { _ = r.pools[key].Close() })
		} else {
			r.pools[key] = r.open(r.clocked(dsn, now))
		}
	}
	return r.pools[key]
}

// Pool is an operator's pool.
func (r *Rig) Pool(now time.Time) *sqlx.DB { return r.As("owner", now) }

// AppAt is the pool of an app that does all that a client can, on which the server's clock stands still at a time.
func (r *Rig) AppAt(now time.Time) *sql.DB { return r.AppAs("app-reschedule", now) }

func (r *Rig) AppAs(role string, now time.Time) *sql.DB {
	r.mu.Lock()
	defer r.mu.Unlock()
	dsn := r.clocked(r.account(role), now)
	key := fmt.Sprint(dsn, " ", now)
	if r.apps[key] == nil {
		if r.stops(now) {
			r.apps[key] = r.stopped(dsn, now)
		} else {
			r.apps[key] = servertest.Open(r.T, dsn, "")
		}
	}
	return r.apps[key]
}

// Day is the day on which the tests take place; at returns a time of it, UTC, from "15:04:05.999999".
var Day = time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)

func At(clock string) time.Time {
	layout := "15:04"
	if len(clock) > len(layout) {
		layout = "15:04:05.999999"
	}
	t, err := time.Parse(layout, clock)
	if err != nil {
		panic(err)
	}
	return Day.Add(t.Sub(t.Truncate(24 * time.Hour)))
}

// Eventually waits until something that another goroutine or process does is there. It looks less and less often, since its
// looks take processors from what it waits for; and what InnoDB lists of its transactions is made anew for nobody who looks again
// within a tenth of a second. It gives up after half a minute, but not before 150 looks, which take longer than that on a machine
// that is short of processors.
func (r *Rig) Eventually(what string, is func() bool) {
	r.T.Helper()
	began := time.Now()
	for looks := 0; looks < 150 || time.Since(began) < 30*time.Second; looks++ {
		if is() {
			return
		}
		time.Sleep(min(max(time.Since(began)/8, 5*time.Millisecond), 200*time.Millisecond))
	}
	r.T.Fatalf("never came about: %s", what)
}

// Count asks the server for a number.
func (r *Rig) Count(query string, args ...any) (n int) {
	r.T.Helper()
	r.Must(r.Root.QueryRow(query, args...).Scan(&n))
	return n
}

// SlotJustOver returns the slot before the one that is now by the running clock of the server.
func (r *Rig) SlotJustOver(grid slots.Grid) time.Time {
	r.T.Helper()
	var now string
	r.Must(r.Root.QueryRow("SELECT CAST(UTC_TIMESTAMP(6) AS CHAR)").Scan(&now))
	at, err := store.ParseTime(now)
	r.Must(err)
	return grid.Prev(at)
}

// Sessions is how many sessions of the server's list fit a condition.
func (r *Rig) Sessions(where string, args ...any) int {
	r.T.Helper()
	return r.ofSessions("COUNT(*)", where, args)
}

// Session is the number of the one session that fits a condition.
func (r *Rig) Session(where string, args ...any) int {
	r.T.Helper()
	return r.ofSessions("id", where, args)
}

// ofSessions asks again where MySQL does not show the list, since a statement in it, of whomever, is no text.
func (r *Rig) ofSessions(what, where string, args []any) (n int) {
	r.T.Helper()
	for {
		err := r.Root.QueryRow("SELECT "+what+" FROM information_schema.processlist WHERE "+where, args...).Scan(&n)
		if !errno.Is(err, errno.NotShown) {
			r.Must(err)
			return n
		}
	}
}

const (
	CountPending = "SELECT COUNT(*) FROM p_future_job"
	CountEnded   = "SELECT COUNT(*) FROM p_job_history"
)

// Clear empties future_job and job_history, and the books by job_exec with it, between the cases of one test.
func (r *Rig) Clear() {
	r.T.Helper()
	r.Exec("DELETE FROM p_future_job")
	r.Exec("DELETE FROM p_job_history")
	r.Exec("DELETE FROM p_exec_run")
}

// WaitForLock returns when a statement of this installation that contains some words waits for a row's lock; on TiDB, any
// statement. The table innodb_trx would show less than this: who reads it more often than ten times a second reads the
// same again.
func (r *Rig) WaitForLock(words string) {
	r.T.Helper()
	r.Eventually("a statement with "+words+" waits for a lock", func() bool {
		if r.Server == text.TiDB {
			return r.Count("SELECT COUNT(*) FROM information_schema.tidb_trx WHERE state = 'LockWaiting' AND db = ?", r.D.Name) > 0
		}
		var kind, name, status string
		r.Must(r.behind[0].QueryRow("SHOW ENGINE INNODB STATUS").Scan(&kind, &name, &status))
		return slices.ContainsFunc(strings.Split(status, "---TRANSACTION"), func(tx string) bool {
			// Vitess spells the words of SQL in small letters.
			return strings.Contains(tx, "\nLOCK WAIT ") && strings.Contains(strings.ToLower(tx), strings.ToLower(words)) && strings.Contains(tx, "of table `"+r.D.Name) // or of a shard of it
		})
	})
}

// Refuses says whether the connections of a pool refuse rows that were changed after the snapshot of their transaction.
func (r *Rig) Refuses(db *sql.DB) bool {
	r.T.Helper()
	var name, value string
	err := db.QueryRow("SHOW SESSION VARIABLES LIKE 'innodb_snapshot_isolation'").Scan(&name, &value)
	if errors.Is(err, sql.ErrNoRows) {
		return false
	}
	r.Must(err)
	return value == "ON"
}

// Tally reads rows of a name and a number each.
func (r *Rig) Tally(query string, args ...any) map[string]int {
	r.T.Helper()
	return tally(r.T, r.Root, query, args...)
}

// querier is a connection, or a pool of them.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

func tally(t *testing.T, db querier, query string, args ...any) map[string]int {
	t.Helper()
	rows, err := db.QueryContext(context.WithoutCancel(t.Context()), query, args...)
	Fatal(t, err)
	defer rows.Close()
	all := make(map[string]int)
	for rows.Next() {
		var name string
		var n int
		Fatal(t, rows.Scan(&name, &n))
		all[name] = n
	}
	Fatal(t, rows.Err())
	return all
}

// Balanced checks the ledger, and the books by job_exec, against history: the counts of all runs are the ends that were written, by outcome.
func (r *Rig) Balanced() {
	r.T.Helper()
	written := r.Tally("SELECT outcome, COUNT(*) FROM p_job_history GROUP BY outcome")
	for _, outcome := range prescient.Outcomes() {
		if outcome.ByApp() {
			continue
		}
		if books := r.OfShards("SELECT CAST(COALESCE(SUM(" + string(outcome) + "), 0) AS SIGNED) FROM p_slot_run"); books != written[string(outcome)] {
			r.T.Errorf("the ledger has %d that are %s, history has %d", books, outcome, written[string(outcome)])
		}
		if lines := r.OfShards("SELECT CAST(COALESCE(SUM(" + string(outcome) + "), 0) AS SIGNED) FROM p_exec_run"); lines != written[string(outcome)] {
			r.T.Errorf("the books by job_exec have %d that are %s, history has %d", lines, outcome, written[string(outcome)])
		}
	}
	for ledger, lines := range map[string]string{"moved": "moved",
		"put_off": "put_off_unregistered + put_off_paused + put_off_abandoned + put_off_waiting + put_off_otherwise"} {
		want := r.OfShards("SELECT CAST(COALESCE(SUM(" + ledger + "), 0) AS SIGNED) FROM p_slot_run")
		if got := r.OfShards("SELECT CAST(COALESCE(SUM(" + lines + "), 0) AS SIGNED) FROM p_exec_run WHERE bucket < 65535"); got != want {
			r.T.Errorf("the books by job_exec have %d that were %s, the ledger %d", got, ledger, want)
		}
	}
}

// Call calls the procedure that cancels.
func Call(ctx context.Context, db prescient.DB, args ...any) (cancelled int, err error) {
	err = store.QueryRow(ctx, db, []any{&cancelled}, "CALL p_cancel(?, ?, ?)", args...)
	return cancelled, err
}
