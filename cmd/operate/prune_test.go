package operate_test

import (
	"fmt"
	"strings"
	"testing"

	"prescient/cmd"
	"prescient/cmd/internal/rig"
	"prescient/prescient/localserver/servertest"
	"prescient/prescient/prune"
)

func TestPrune(t *testing.T) {
	rig.EachFlavour(t, func(r *rig.Rig) {
		r.Execute("prune", "--keep", "90d").Wants(r.T, cmd.ExitTables, "Run `prescient migrate`")
		r.Begin()
		for _, args := range [][]string{{}, {"--keep", "soon"}, {"--keep", "12h"}, {"--keep", "90d", "--patience", "-1s"}, {"--keep", "90d", "--max-copy", "-1"}} {
			if got := r.Execute(append([]string{"prune"}, args...)...); got.Code != cmd.ExitUsage || got.Out != "" {
				r.Errorf("%v", got)
			}
		}
		if out := r.OK("prune", "--keep", "90d"); out !=
			"dropped 0 weeks of history from before 2026-08-22 10:05:00 and 0 rows of the ledger; 0 weeks were made ready, until 2027-01-18 00:00:00\n" {
			r.Error(out)
		}
		// A year later, everything but the row that is pending is old.
		r.OK("insert", "--entity", "order/42", "--exec", "x", "--in", "3h")
		r.OK("insert", "--entity", "order/43", "--exec", "x", "--in", "3h")
		r.OK("cancel", "--entity", "order/43")
		r.At("10:15")
		r.OK("run")
		r.Variables["PRESCIENT_DSN"] = servertest.WithParams(r.DSN, fmt.Sprint("timestamp=", rig.At("10:15").AddDate(1, 0, 0).Unix()))
		got := r.Execute("prune", "--keep", "90d", "--json")
		got.Wants(r.T, cmd.ExitUsage, "the clock of the database may be wrong", "2027-11-20", "(--trust-clock)")
		if n := r.Count("SELECT COUNT(*) FROM job_history") + r.Count("SELECT COUNT(*) FROM slot_run"); n != 2 || got.Out != "" {
			r.Errorf("%d rows are left of 2; %v", n, got)
		}
		report := rig.Lines[prune.Report](r.T, r.OK("prune", "--keep", "90d", "--json", "--trust-clock"))
		if len(report) != 1 || len(report[0].Dropped) != 9 || report[0].LedgerRows != 1 || len(report[0].Made) != 9 {
			r.Errorf("%+v", report)
		}
		if n := r.Count("SELECT COUNT(*) FROM job_history") + r.Count("SELECT COUNT(*) FROM slot_run"); n != 0 {
			r.Errorf("%d rows are left", n)
		}
		if n := len(r.Jobs()); n != 1 {
			r.Errorf("%d rows are pending", n)
		}
	})
}

func TestPruneSaysWhoHoldsHistoryOpen(t *testing.T) {
	rig.EachFlavour(t, func(r *rig.Rig) {
		r.Needs(rig.WaitingDDL)
		r.Begin()
		analyst, err := r.DB.BeginTx(r.Context(), nil)
		r.Must(err)
		defer analyst.Rollback()
		r.Account("owner")
		for _, right := range []string{"PROCESS ON *.*", "SELECT ON performance_schema.*"} { // without these it cannot say who
			r.Exec("GRANT " + right + " TO '" + r.User("owner") + "'@'%'")
		}
		var n, connection int
		r.Must(analyst.QueryRow("SELECT COUNT(*), CONNECTION_ID() FROM job_history").Scan(&n, &connection))
		r.Variables["PRESCIENT_DSN"] = servertest.WithParams(r.DSN, fmt.Sprint("timestamp=", rig.At("10:15").AddDate(1, 0, 0).Unix()))
		got := r.Execute("prune", "--keep", "90d", "--patience", "1s")
		got.Wants(r.T, cmd.ExitHeld, "history is held open", fmt.Sprintf("connection %d of ", connection))
		if !strings.Contains(got.Out, "dropped 0 weeks") {
			r.Errorf("%v", got)
		}
		// A migration does not fail for it.
		r.Must(analyst.Commit())
		r.OK("migrate")
		r.OK("prune", "--keep", "90d")
	})
}

func TestAPruneThatFailsSaysNothingOfWhatItDidNotDo(t *testing.T) {
	rig.EachFlavour(t, func(r *rig.Rig) {
		r.Begin()
		r.Variables["PRESCIENT_DSN"] = r.Account("analyst") // may read history, and no more
		got := rig.Execute(r.Context(), r.Options, r.Variables, "", "prune", "--keep", "90d")
		got.Wants(r.T, cmd.ExitDenied, "denied")
		if got.Out != "" || strings.Count(got.Err, "\n") != 1 {
			r.Errorf("%v", got)
		}
	})
}
