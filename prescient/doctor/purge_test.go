package doctor

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/blocking"
	"prescient/prescient/localserver/servertest"
	text "prescient/sql"
)

func TestPurgeOfTheServerIsJudged(t *testing.T) {
	for _, test := range []struct {
		name  string
		found Finding
		want  Severity
		says  string
	}{
		{"it keeps up", purgeFinding(300, 1000), SeverityOK, "The server has 300 transactions to purge (InnoDB's history list)."},
		{"as much as may be", purgeFinding(1000, 1000), SeverityOK, "The server has 1,000 transactions to purge (InnoDB's history list)."},
		{"it is behind", purgeFinding(1001, 1000), SeverityWarn, "The server has 1,001 transactions to purge (InnoDB's history list), more than 1,000. Deleted rows stay in the tables, and every statement has to pass them."},
		{"nothing is open", transactionFinding(nil, time.Hour), SeverityOK, "No transaction is open."},
		{"open as long as may be", transactionFinding(&blocking.Transaction{Connection: 7, Age: time.Hour, Account: "shop@10.0.0.1:99"}, time.Hour), SeverityOK,
			"The oldest transaction, of connection 7, shop@10.0.0.1:99, has been open for 1h0m0s."},
		{"open for long", transactionFinding(&blocking.Transaction{Connection: 7, Age: time.Hour + time.Second, Account: "shop@10.0.0.1:99"}, time.Hour), SeverityWarn,
			"The oldest transaction, of connection 7, shop@10.0.0.1:99, has been open for 1h0m1s, longer than 1h0m0s. Meanwhile the server purges nothing that the transaction may still see."},
		{"nobody knows whose", transactionFinding(&blocking.Transaction{Connection: 7, Age: time.Second, Account: ""}, time.Hour), SeverityOK, "The oldest transaction, of connection 7, has been open for 1s."},
		{"prepared", transactionFinding(&blocking.Transaction{Connection: 0, Age: 2 * time.Hour, Account: ""}, time.Hour), SeverityWarn,
			"The oldest transaction, without a connection, has been open for 2h0m0s, longer than 1h0m0s. Meanwhile the server purges nothing that the transaction may still see."},
	} {
		if f := test.found; f.Severity != test.want || f.Text != test.says || (f.Do == "") != (test.want == SeverityOK) {
			t.Errorf("%s: %+v; want %s, %s", test.name, f, test.want, test.says)
		}
	}
}

func TestADoctorShowsHowFarPurgeIsBehindAndTheOldestTransaction(t *testing.T) {
	servertest.EachKind(t, func(t *testing.T, kind servertest.Kind) {
		r := newRig(t, servertest.On(t, kind.Private(t)), 15*time.Minute) // nobody else's transactions
		conn, err := r.Root.Conn(t.Context())
		r.Must(err)
		defer conn.Close()
		var id int
		r.Must(conn.QueryRowContext(t.Context(), "SELECT CONNECTION_ID()").Scan(&id))
		_, err = conn.ExecContext(t.Context(), "START TRANSACTION WITH CONSISTENT SNAPSHOT")
		r.Must(err)
		for range 10 {
			r.Exec("UPDATE p_slot_config SET changed_at = changed_at + INTERVAL 1 SECOND")
		}
		look := func(o Options) []Finding {
			t.Helper()
			o.Prefix, o.Dialect = "p_", r.Setting
			found, err := Examine(t.Context(), r.As("worker", time.Time{}), o)
			r.Must(err)
			return found
		}

		// What an account may not see is said, and is no fault.
		found := look(Options{PurgeBehind: 5, TransactionOpen: 1})
		process := func(code string) {
			t.Helper()
			wantFinding(t, found, code, SeverityUnseen)
			if f := finding(found, code); !strings.Contains(f.Do, "GRANT PROCESS ON *.*") {
				t.Errorf("%+v", f)
			}
		}
		process("purge.transaction")
		if r.Server == text.MariaDB { // it tells everybody
			wantFinding(t, found, "purge", SeverityWarn, "more than 5")
		} else {
			process("purge")
		}
		if _, err := SelectFindings(found, []string{"purge.transaction"}, nil); !errors.Is(err, prescient.ErrInvalid) {
			t.Errorf("asked for what it may not see: %v", err)
		}

		r.Exec("GRANT PROCESS ON *.* TO '" + r.User("worker") + "'@'%'")
		for r.Sessions("user = ?", r.User("worker")) > 0 { // the right is that of new connections
			if id := r.Count("SELECT COALESCE(MIN(id), 0) FROM information_schema.processlist WHERE user = ?", r.User("worker")); id > 0 {
				_, _ = r.Root.Exec(fmt.Sprintf("KILL %d", id)) // it may be gone by now
			}
		}
		found = look(Options{})
		wantFinding(t, found, "purge", SeverityOK, " transactions to purge")
		whose := fmt.Sprintf("of connection %d, root@", id)
		wantFinding(t, found, "purge.transaction", SeverityOK, "The oldest transaction, ", "has been open for ", whose)
		wantFinding(t, look(Options{PurgeBehind: 5}), "purge", SeverityWarn, "more than 5")
		r.Eventually("it is open for a second", func() bool {
			found = look(Options{TransactionOpen: 1})
			return finding(found, "purge.transaction").Severity == SeverityWarn
		})
		wantFinding(t, found, "purge.transaction", SeverityWarn, whose, "longer than 1ns")

		_, err = conn.ExecContext(t.Context(), "ROLLBACK")
		r.Must(err)
		r.Eventually("nothing is open", func() bool {
			return finding(look(Options{}), "purge.transaction").Text == "No transaction is open."
		})
		if r.Server == text.MySQL {
			r.showsNoStatement(t, look)
		}
	})
}

// showsNoStatement has somebody send what is no text, for which MySQL shows no transaction: that is no fault either.
func (r *testRig) showsNoStatement(t *testing.T, look func(Options) []Finding) {
	ctx, cancel := context.WithCancel(t.Context())
	sent := make(chan struct{})
	busy := servertest.Open(t, r.Account("worker"), "interpolateParams=true")
	go func() {
		defer close(sent)
		var version, slept int
		var noText []byte
		_ = busy.QueryRowContext(ctx, "SELECT version, SLEEP(60), ? FROM p_slot_config", []byte("\xb6Z|\x186")).Scan(&version, &slept, &noText)
	}()
	defer func() { <-sent }()
	defer cancel()
	r.Eventually("it is sent", func() bool {
		return r.Count("SELECT COUNT(*) FROM performance_schema.threads WHERE PROCESSLIST_STATE = 'User sleep'") == 1
	})
	var found []Finding
	r.Eventually("it is among the transactions, of which MySQL shows those of a tenth of a second ago", func() bool {
		found = look(Options{})
		return finding(found, "purge.transaction").Severity == SeverityUnseen
	})
	wantFinding(t, found, "purge", SeverityOK, " transactions to purge")
	wantFinding(t, found, "purge.transaction", SeverityUnseen, "MySQL showed no transaction")
}
