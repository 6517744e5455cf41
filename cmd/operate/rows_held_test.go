package operate_test

import (
	stdsql "database/sql"
	"fmt"
	"strings"
	"testing"
	"time"

	"prescient/cmd"
	"prescient/cmd/internal/rig"
	"prescient/prescient/localserver/servertest"
)

// Who holds rows that a command needs is named, and the command ends in seconds.
func TestACommandThatMeetsLockedRowsSaysWhoHasThem(t *testing.T) {
	const all = "SELECT * FROM %s LOCK IN SHARE MODE"
	for name, tt := range map[string]struct {
		holds string // the statement of the other, which is an app
		args  []string
		role  string
	}{
		"cancel":          {fmt.Sprintf(all, "future_job"), []string{"cancel", "--entity", "order/1"}, "oncall"},
		"reschedule":      {fmt.Sprintf(all, "future_job"), []string{"reschedule", "--entity", "order/1", "--exec", "x", "--in", "2h"}, "oncall"},
		"schedule create": {fmt.Sprintf(all, "schedule"), []string{"schedule", "create", "two", "@hourly", "--exec", "x"}, "oncall"},
		"schedule pause":  {fmt.Sprintf(all, "schedule"), []string{"schedule", "pause", "one"}, "oncall"},
		"schedule delete": {fmt.Sprintf(all, "schedule_deleted"), []string{"schedule", "delete", "one"}, "oncall"},
		"rule set":        {fmt.Sprintf(all, "rule"), []string{"rule", "set", "remind", "--delay", "4h"}, "app-reschedule"},
		"prune": {"INSERT INTO event_seen (consumer, id, seen_at) VALUES ('c', '1', '2020-01-01')",
			[]string{"prune", "--keep", "1d", "--trust-clock"}, "owner"},
		"reslot": {fmt.Sprintf(all, "slot_config"), []string{"reslot", "--resolution", "5m", "--wait", "0s", "--patience", "2s"}, "owner"},
	} {
		t.Run(name, func(t *testing.T) {
			rig.EachFlavour(t, func(r *rig.Rig) {
				r.Needs(rig.WaitingDDL)
				r.Migrate()
				r.OK("insert", "--entity", "order/1", "--exec", "x", "--in", "1h")
				r.OK("schedule", "create", "one", "@hourly", "--exec", "x")
				r.OK("rule", "set", "remind", "--occasion", "order.placed", "--exec", "x", "--delay", "3h")
				for _, role := range []string{"oncall", "owner", "app-reschedule"} {
					_ = r.Account(role)
					for _, right := range []string{"PROCESS ON *.*", "SELECT ON performance_schema.*"} { // without these it cannot say who
						r.Exec("GRANT " + right + " TO '" + r.User(role) + "'@'%'")
					}
				}
				by := func(args ...string) rig.Result {
					env := r.EnvironmentOf(args)
					env["PRESCIENT_DSN"] = r.Account(tt.role)
					return rig.Execute(r.Context(), r.Options, env, "", args...)
				}
				app := servertest.Open(t, r.Account("app"), "")
				tx, err := app.BeginTx(r.Context(), &stdsql.TxOptions{Isolation: stdsql.LevelRepeatableRead})
				r.Must(err)
				defer tx.Rollback()
				_, err = tx.Exec(tt.holds)
				r.Must(err)
				var connection int
				r.Must(tx.QueryRow("SELECT CONNECTION_ID()").Scan(&connection))
				began := time.Now()
				got := by(tt.args...)
				if got.Code != cmd.ExitHeld || !strings.Contains(got.Err, fmt.Sprintf("connection %d of ", connection)) {
					t.Errorf("%v\nwant exit code %d and connection %d", got, cmd.ExitHeld, connection)
				}
				if took := time.Since(began); took > 20*time.Second {
					t.Errorf("it took %s", took)
				}
				r.Must(tx.Rollback())
				if got := by(tt.args...); got.Code != cmd.ExitOK {
					t.Errorf("once the rows are free: %v", got)
				}
			})
		})
	}
}

// Who may not see who holds the rows is told that nothing was done, and how to find out.
func TestWhoMayNotSeeWhoHasRowsIsToldWhatShows(t *testing.T) {
	rig.EachFlavour(t, func(r *rig.Rig) {
		r.Needs(rig.WaitingDDL)
		r.Migrate()
		r.OK("insert", "--entity", "order/1", "--exec", "x", "--in", "1h")
		tx, err := servertest.Open(t, r.Account("app"), "").BeginTx(r.Context(), nil)
		r.Must(err)
		defer tx.Rollback()
		_, err = tx.Exec("SELECT * FROM future_job FOR UPDATE")
		r.Must(err)
		args := []string{"cancel", "--entity", "order/1"}
		env := r.EnvironmentOf(args)
		env["PRESCIENT_DSN"] = r.Account("oncall")
		rig.Execute(r.Context(), r.Options, env, "", args...).Wants(t, cmd.ExitHeld, "nothing was cancelled: ", "somebody has rows locked; ", "). Run this again: while it waits, ",
			" blocking says by whom, to an account that may see that")
	})
}
