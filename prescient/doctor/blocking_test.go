package doctor

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/blocking"
	"prescient/prescient/internal/rig"
)

func TestSessionsThatWaitAreJudged(t *testing.T) {
	chain := func(seconds int64, perhaps bool) blocking.Report {
		return blocking.Report{Chains: []blocking.Node{{Session: blocking.Session{ID: 7, User: "shop", Host: "10.0.0.1", Last: "UPDATE orders SET n = 1"}, End: "KILL 7",
			Behind: []blocking.Node{{Session: blocking.Session{ID: 8}, Waits: &blocking.Wait{Kind: blocking.Row, Seconds: seconds, Perhaps: perhaps}}}}}}
	}
	for name, c := range map[string]struct {
		found blocking.Report
		want  Severity
		says  string
	}{
		"nobody":         {blocking.Report{}, SeverityOK, "No session waits for another at the tables."},
		"not to be seen": {blocking.Report{Blind: true, Unseen: []blocking.Unseen{{What: "who waits", Do: "GRANT PROCESS ON *.* TO 'a'@'%'"}}}, SeverityUnseen, "The server does not show this account who waits."},
		"in part":        {blocking.Report{Unseen: []blocking.Unseen{{What: "who has metadata locks", Do: "GRANT"}}}, SeverityPart, "No session waits for another at the tables. The server does not show this account who has metadata locks."},
		"for a moment":   {chain(9, false), SeverityOK, "1 session waits for connection 7, shop@10.0.0.1 at the tables, the longest for 9s, whose statement is UPDATE orders SET n = 1."},
		"for long":       {chain(10, false), SeverityWarn, "1 session waits for connection 7, shop@10.0.0.1 at the tables, the longest for 10s, whose statement is UPDATE orders SET n = 1."},
		"perhaps":        {chain(10, true), SeverityWarn, "1 session waits for the metadata lock of a table, the longest for 10s, perhaps for connection 7, shop@10.0.0.1, whose statement is UPDATE orders SET n = 1."},
	} {
		f := blockingFindings(c.found, DefaultBlocked)[0]
		if f.Code != "blocking" || f.Severity != c.want || f.Text != c.says || (f.Do == "") != (c.want == SeverityOK) {
			t.Errorf("%s: %+v; want %s", name, f, c.says)
		}
	}
}

func TestADoctorNamesTheRootForWhichOthersWait(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.ThreadStates)
		for _, right := range []string{"PROCESS ON *.*", "SELECT ON performance_schema.*"} {
			r.As("operator", time.Time{})
			r.Exec("GRANT " + right + " TO '" + r.User("operator") + "'@'%'")
		}
		look := func() []Finding {
			t.Helper()
			db := r.As("operator", time.Time{})
			db.SetMaxIdleConns(0) // the rights are those of new connections
			found, err := Examine(t.Context(), db, Options{Prefix: "p_", Dialect: r.Setting, Use: UseOperator, Blocked: time.Second})
			r.Must(err)
			return found
		}
		wantFinding(t, look(), "blocking", SeverityOK, "No session waits for another at the tables.")
		root, err := r.Root.Conn(t.Context())
		r.Must(err)
		defer root.Close()
		var id int
		r.Must(root.QueryRowContext(t.Context(), "SELECT CONNECTION_ID()").Scan(&id))
		const change = "UPDATE p_slot_config SET changed_at = changed_at + INTERVAL 1 SECOND"
		for _, statement := range []string{"BEGIN", change} {
			_, err = root.ExecContext(t.Context(), statement)
			r.Must(err)
		}
		waited := make(chan error, 1)
		go func() {
			_, err := r.Root.ExecContext(context.WithoutCancel(t.Context()), change)
			waited <- err
		}()
		var found []Finding
		r.Eventually("somebody waits for long", func() bool {
			found = look()
			return finding(found, "blocking").Severity == SeverityWarn
		})
		wantFinding(t, found, "blocking", SeverityWarn, fmt.Sprintf("1 session waits for connection %d, root@", id))
		if do := finding(found, "blocking").Do; do != fmt.Sprintf("See what keeps the transaction open, and end it there or by KILL %d. `blocking` shows all that wait.", id) {
			t.Error(do)
		}
		_, err = root.ExecContext(t.Context(), "ROLLBACK")
		r.Must(err)
		r.Must(<-waited)
	})
}

// A session that has a row locked is named, though nobody waits for it: the look does.
func TestADoctorNamesWhoHasARowLocked(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.ThreadStates)
		r.Insert(rig.At("13:00"), prescient.NewJob{Entity: rig.Order("9"), JobExec: "check", DueAt: rig.At("13:15")})
		holder, id := r.Hold("DELETE FROM p_future_job")
		look := func(clock string) []Finding { // each on a pool of its own: rights are those of new connections
			found, err := Examine(t.Context(), r.As("worker", rig.At(clock)), Options{Prefix: "p_", Dialect: r.Setting})
			r.Must(err)
			return found
		}
		found := look("13:16")
		wantFinding(t, found, "blocking.rows", SeverityWarn, "check of order/9 was not run", "an open transaction holds its row, and whose transaction that is does not show")
		if do := finding(found, "blocking.rows").Do; !strings.Contains(do, "GRANT PROCESS ON *.*") {
			t.Error(do)
		}
		for _, right := range []string{"PROCESS ON *.*", "SELECT ON performance_schema.*"} {
			r.Exec("GRANT " + right + " TO '" + r.User("worker") + "'@'%'")
		}
		r.Eventually("it is named", func() bool { // a server that is slow may tell too late
			found = look("13:17")
			return !strings.Contains(finding(found, "blocking.rows").Text, "does not show")
		})
		wantFinding(t, found, "blocking.rows", SeverityWarn, "check of order/9 was not run in its slot 2026-11-20T13:15:00Z", fmt.Sprintf("connection %d holds its row (root@", id))
		if do := finding(found, "blocking.rows").Do; !strings.Contains(do, fmt.Sprintf("KILL %d", id)) {
			t.Error(do)
		}
		_, err := holder.ExecContext(t.Context(), "ROLLBACK")
		r.Must(err)
		if f := finding(look("13:17"), "blocking.rows"); f.Code != "" {
			t.Errorf("%+v", f)
		}
	})
}
