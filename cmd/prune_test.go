package cmd_test

import (
	"fmt"
	"strings"
	"testing"

	"prescient/cmd"
	"prescient/prescient/localserver/servertest"
	"prescient/prescient/prune"
)

func TestPrune(t *testing.T) {
	eachServer(t, func(r *rig) {
		r.execute("prune", "--keep", "90d").wants(r.T, cmd.ExitTables, "prescient migrate applies them")
		r.at("10:05")
		r.ok("migrate")
		for _, args := range [][]string{{}, {"--keep", "soon"}, {"--keep", "12h"}, {"--keep", "90d", "--patience", "-1s"}, {"--keep", "90d", "--max-copy", "-1"}} {
			if got := r.execute(append([]string{"prune"}, args...)...); got.code != cmd.ExitUsage || got.out != "" {
				r.Errorf("%v", got)
			}
		}
		if out := r.ok("prune", "--keep", "90d"); out !=
			"dropped 0 weeks of history from before 2026-08-22 10:05:00 and 0 rows of the ledger; 0 weeks were made ready, until 2027-01-18 00:00:00\n" {
			r.Error(out)
		}
		// A year later, everything but the row that is pending is old.
		r.ok("insert", "--entity", "order/42", "--exec", "x", "--in", "3h")
		r.ok("insert", "--entity", "order/43", "--exec", "x", "--in", "3h")
		r.ok("cancel", "--entity", "order/43")
		r.at("10:15")
		r.ok("run")
		r.env["PRESCIENT_DSN"] = servertest.WithParams(r.dsn, fmt.Sprint("timestamp=", at("10:15").AddDate(1, 0, 0).Unix()))
		got := r.execute("prune", "--keep", "90d", "--json")
		got.wants(r.T, cmd.ExitUsage, "the clock of the database may be wrong", "2027-11-20", "(--trust-clock)")
		if n := r.count("SELECT COUNT(*) FROM job_history") + r.count("SELECT COUNT(*) FROM slot_run"); n != 2 || got.out != "" {
			r.Errorf("%d rows are left of 2; %v", n, got)
		}
		report := lines[prune.Report](r.T, r.ok("prune", "--keep", "90d", "--json", "--trust-clock"))
		if len(report) != 1 || len(report[0].Dropped) != 9 || report[0].LedgerRows != 1 || len(report[0].Made) != 9 {
			r.Errorf("%+v", report)
		}
		if n := r.count("SELECT COUNT(*) FROM job_history") + r.count("SELECT COUNT(*) FROM slot_run"); n != 0 {
			r.Errorf("%d rows are left", n)
		}
		if n := len(r.jobs()); n != 1 {
			r.Errorf("%d rows are pending", n)
		}
	})
}

func TestPruneSaysWhoHoldsHistoryOpen(t *testing.T) {
	eachServer(t, func(r *rig) {
		r.needs(waitingDDL)
		r.at("10:05")
		r.ok("migrate")
		analyst, err := r.db.BeginTx(r.Context(), nil)
		r.must(err)
		defer analyst.Rollback()
		r.account("owner")
		for _, right := range []string{"PROCESS ON *.*", "SELECT ON performance_schema.*"} { // without these it cannot say who
			r.exec("GRANT " + right + " TO '" + r.user("owner") + "'@'%'")
		}
		var n, connection int
		r.must(analyst.QueryRow("SELECT COUNT(*), CONNECTION_ID() FROM job_history").Scan(&n, &connection))
		r.env["PRESCIENT_DSN"] = servertest.WithParams(r.dsn, fmt.Sprint("timestamp=", at("10:15").AddDate(1, 0, 0).Unix()))
		got := r.execute("prune", "--keep", "90d", "--patience", "1s")
		got.wants(r.T, cmd.ExitHeld, "history is held open", fmt.Sprintf("connection %d of ", connection))
		if !strings.Contains(got.out, "dropped 0 weeks") {
			r.Errorf("%v", got)
		}
		// A migration does not fail for it.
		r.must(analyst.Commit())
		r.ok("migrate")
		r.ok("prune", "--keep", "90d")
	})
}

func TestAPruneThatFailsSaysNothingOfWhatItDidNotDo(t *testing.T) {
	eachServer(t, func(r *rig) {
		r.at("10:05")
		r.ok("migrate")
		r.env["PRESCIENT_DSN"] = r.account("analyst") // may read history, and no more
		got := execute(r.Context(), r.Options, r.env, "", "prune", "--keep", "90d")
		got.wants(r.T, cmd.ExitFailure, "denied")
		if got.out != "" || strings.Count(got.err, "\n") != 1 {
			r.Errorf("%v", got)
		}
	})
}
