package operate_test

import (
	"context"
	stdsql "database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"prescient/cmd"
	"prescient/cmd/internal/rig"
	"prescient/prescient/localserver/servertest"
	"prescient/sql/migrate"
)

// longestHoldup bounds how long an insert may be held up: MariaDB asks for a table three times, a second each; the rest is for a busy machine.
const longestHoldup = 4 * time.Second

// changesOfTables are the commands that alter future_job, or what belongs to it, each with what it needs to find.
var changesOfTables = map[string]struct {
	spoil string // what is done to the tables
	args  []string
	holds string // what the other has open; future_job where not said
	says  string
}{
	"migrate": {spoil: "DELETE FROM schema_version WHERE version_id > 0", args: []string{"migrate"}, holds: "history_times", says: "is held open"},
	"down":    {args: []string{"migrate", "down", "--yes"}, says: "future_job is held open"},
	"repair": {spoil: "ALTER TABLE future_job DROP CONSTRAINT future_job_on_grid", args: []string{"migrate", "--repair"},
		says: "future_job is held open"},
	"a view":                      {args: []string{"migrate", "down", "--yes"}, holds: "history_times", says: "history_times is held open"},
	"a procedure that was called": {args: []string{"migrate", "down", "--yes"}, holds: "cancel", says: "is held open"},
	"reslot":                      {args: []string{"reslot", "--resolution", "5m", "--wait", "0s"}, says: "future_job is held open"},
}

// beginHolding makes the tables as an owner, and opens one in a transaction of somebody else, whose connection it returns.
func beginHolding(r *rig.Rig, spoil, what string) (connection int, letGo func()) {
	r.Helper()
	owner := servertest.Open(r.T, r.Account("owner"), "")
	_, err := migrate.Up(r.Context(), owner, migrate.Schema{Resolution: 15 * time.Minute})
	r.Must(err)
	if spoil != "" {
		_, err := owner.Exec(spoil)
		r.Must(err)
	}
	r.Must(owner.Close())
	for _, right := range []string{"PROCESS ON *.*", "SELECT ON performance_schema.*"} { // without these it cannot say who
		r.Exec("GRANT " + right + " TO '" + r.User("owner") + "'@'%'")
	}
	tx, err := r.DB.BeginTx(r.Context(), &stdsql.TxOptions{Isolation: stdsql.LevelReadCommitted}) // without locks on gaps
	r.Must(err)
	r.Cleanup(func() { _ = tx.Rollback() })
	r.Must(tx.QueryRow("SELECT CONNECTION_ID()").Scan(&connection))
	switch what {
	case "cancel":
		_, err = tx.Exec("CALL cancel('none', 'none', NULL)")
	default:
		_, err = tx.Exec("SELECT 1 FROM " + what + " LIMIT 1")
	}
	r.Must(err)
	return connection, func() { r.Must(tx.Rollback()) }
}

// insertAllTheTime inserts checks by plain SQL until it is stopped, and then says how long the longest took, less what a busy machine may make of it:
// it also asks for nothing all the time.
func insertAllTheTime(r *rig.Rig) (stop func() (longest time.Duration)) {
	ctx, end := context.WithCancel(r.Context())
	longest := make(chan time.Duration, 1)
	go func() {
		var most, slowest time.Duration
		for i := 0; ctx.Err() == nil; i++ {
			began := time.Now()
			_, _ = r.DB.ExecContext(context.WithoutCancel(ctx), "DO 0")
			slowest = max(slowest, time.Since(began))
			began = time.Now()
			// Once the table is gone it fails at once.
			_, _ = r.DB.ExecContext(context.WithoutCancel(ctx), fmt.Sprintf("INSERT INTO future_job (entity_name, entity_key, job_exec, due_at)"+
				" VALUES ('order', '%d', 'x', UTC_TIMESTAMP(6) + INTERVAL 3 HOUR)", i))
			most = max(most, time.Since(began))
			time.Sleep(5 * time.Millisecond)
		}
		longest <- most - 4*slowest
	}()
	return func() time.Duration {
		end()
		return <-longest
	}
}

func TestWhatAltersTablesGivesUpSoonAndSaysWhoHoldsThem(t *testing.T) {
	for name, tt := range changesOfTables {
		t.Run(name, func(t *testing.T) {
			rig.EachFlavour(t, func(r *rig.Rig) {
				r.Needs(rig.WaitingDDL)
				what := tt.holds
				if what == "" {
					what = "future_job"
				}
				connection, letGo := beginHolding(r, tt.spoil, what)
				stop := insertAllTheTime(r)
				began := time.Now()
				got := r.Execute(append(tt.args, "--patience", "3s")...)
				took, longest := time.Since(began), stop()
				said := got.Out + got.Err // a repair says it on stdout
				if got.Code != cmd.ExitHeld || !strings.Contains(said, tt.says) || !strings.Contains(said, fmt.Sprintf("connection %d of ", connection)) {
					t.Errorf("%v\nwant exit code %d, %q and connection %d", got, cmd.ExitHeld, tt.says, connection)
				}
				t.Logf("it took %s, an insert at most %s", took, longest)
				if longest > longestHoldup {
					t.Errorf("an insert was held up for %s", longest)
				}
				if n := leftOf(r, time.Now()); n > 0 {
					t.Errorf("%d statements of it are left in the server", n)
				}
				letGo()
				if got := r.Execute(tt.args...); got.Code != cmd.ExitOK {
					t.Errorf("once the table is free: %v", got)
				}
			})
		})
	}
}

// sessionsOf counts those of the owner.
func sessionsOf(r *rig.Rig, and string) (n int) {
	r.Helper()
	for {
		err := r.DB.QueryRow("SELECT COUNT(*) FROM information_schema.processlist WHERE USER = ? "+and, r.User("owner")).Scan(&n)
		var shown *mysql.MySQLError
		if !errors.As(err, &shown) || shown.Number != 3854 { // MySQL does not show the list while a statement in it, of whomever, is no text
			r.Must(err)
			return n
		}
	}
}

// leftOf counts the statements of the owner that the server still has 20 seconds after a time: one that is killed ends a moment later.
func leftOf(r *rig.Rig, since time.Time) (n int) {
	r.Helper()
	for {
		n = sessionsOf(r, "AND COMMAND <> 'Sleep' AND INFO IS NOT NULL")
		if n == 0 || time.Since(since) >= 20*time.Second {
			return n
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func TestACancelledChangeOfTablesLeavesNothingInTheServer(t *testing.T) {
	for name, tt := range changesOfTables {
		t.Run(name, func(t *testing.T) {
			rig.EachFlavour(t, func(r *rig.Rig) {
				r.Needs(rig.WaitingDDL)
				what := tt.holds
				if what == "" {
					what = "future_job"
				}
				_, _ = beginHolding(r, tt.spoil, what)
				ctx, cancel := context.WithCancel(r.Context())
				defer cancel()
				args := append(tt.args, "--patience", "2m") // far longer than a busy machine needs to end it
				env, ended := r.EnvironmentOf(args), make(chan rig.Result, 1)
				go func() { ended <- rig.Execute(ctx, r.Options, env, "", args...) }()
				rig.Eventually(t, "it waits for the table", func() bool { return sessionsOf(r, "AND STATE LIKE 'Waiting for %metadata lock'") > 0 })
				cancel()
				began := time.Now()
				got := <-ended
				if took := time.Since(began); took > time.Minute {
					t.Errorf("it ended %s after it was cancelled", took)
				}
				if n := leftOf(r, time.Now()); n > 0 {
					t.Errorf("%d statements are left in the server, %s after it was cancelled", n, time.Since(began))
				}
				if got.Code != cmd.ExitInterrupted {
					t.Errorf("%v", got)
				}
				rig.Eventually(t, "no session is left", func() bool { return sessionsOf(r, "") == 0 })
			})
		})
	}
}

// Two migrations wait for one another: one that is cancelled meanwhile does not wait on.
func TestACancelledMigrationDoesNotWaitForItsTurn(t *testing.T) {
	rig.EachFlavour(t, func(r *rig.Rig) {
		r.Account("owner")
		unlock, err := migrate.Schema{}.Lock(r.Context(), servertest.Open(t, r.DSN, ""))
		r.Must(err)
		defer unlock()
		ctx, cancel := context.WithCancel(r.Context())
		defer cancel()
		env, ended := r.EnvironmentOf([]string{"migrate"}), make(chan rig.Result, 1)
		go func() { ended <- rig.Execute(ctx, r.Options, env, "", "migrate") }()
		rig.Eventually(t, "it waits", func() bool { return sessionsOf(r, "AND INFO LIKE 'SELECT GET_LOCK%'") > 0 })
		cancel()
		(<-ended).Wants(t, cmd.ExitInterrupted)
		rig.Eventually(t, "no session is left", func() bool { return sessionsOf(r, "") == 0 })
	})
}

// Who may not see who has a table open is told which rights it lacks.
func TestWhoMayNotSeeWhoHoldsATableIsToldSo(t *testing.T) {
	rig.EachFlavour(t, func(r *rig.Rig) {
		r.Needs(rig.WaitingDDL)
		r.Migrate()
		tx, err := r.DB.BeginTx(r.Context(), nil)
		r.Must(err)
		defer tx.Rollback()
		_, err = tx.Exec("SELECT 1 FROM future_job LIMIT 1")
		r.Must(err)
		r.Execute("migrate", "down", "--yes", "--patience", "1s").Wants(t, cmd.ExitHeld, "PROCESS ON *.*")
		for _, patience := range []string{"soon", "0s", "-1s"} {
			r.Execute("migrate", "--patience", patience).Wants(t, cmd.ExitUsage, "--patience")
		}
	})
}
