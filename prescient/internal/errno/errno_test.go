package errno_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"net"
	"testing"

	"github.com/go-sql-driver/mysql"

	"prescient/prescient"
	"prescient/prescient/internal/errno"
)

func TestContentionFailoverAndLostConnectionsPassByThemselves(t *testing.T) {
	server := func(number uint16) error { return &mysql.MySQLError{Number: number, Message: "x"} }
	timeout := &net.OpError{Op: "dial", Err: context.DeadlineExceeded}
	for _, test := range []struct {
		err  error
		want bool
	}{
		{nil, false},
		{server(1020), true}, {server(1205), true}, {server(1213), true}, {server(1467), true}, {server(1047), true}, {server(1290), true},
		{server(1836), true}, {server(3101), true}, {server(1040), true}, {server(1203), true}, {server(1053), true}, {server(3572), true},
		{server(1180), true}, {server(3100), true}, {server(3797), true}, {server(3798), true}, {fmt.Errorf("host a:1: %w", errno.ErrNotWritable), true},
		{server(1317), true}, {server(1927), true}, {server(4031), true},
		{server(1064), false}, {server(1146), false}, {server(1054), false}, {server(1062), false}, {server(3819), false}, {server(4025), false},
		{driver.ErrBadConn, true}, {mysql.ErrInvalidConn, true}, {sql.ErrConnDone, true}, {sql.ErrTxDone, true}, {timeout, true},
		{context.DeadlineExceeded, true}, {context.Canceled, false}, {sql.ErrNoRows, false},
		{prescient.ErrConfigChanged, false}, {errors.New("x"), false},
		{fmt.Errorf("fence: %w", errors.Join(server(1213), errors.New("rolling back"))), true},
	} {
		if got := errno.Passing(test.err); got != test.want {
			t.Errorf("passing(%v) = %v", test.err, got)
		}
	}
}

// What Vitess says has few numbers; these texts are its own.
func TestWhatVitessSaysIsToldApartByItsText(t *testing.T) {
	const of = "target: shop.-80.primary: "
	for _, test := range []struct {
		number              uint16
		text                string
		passing, rolledBack bool
	}{
		{1105, of + "no healthy tablet available for 'keyspace:\"shop\" shard:\"-80\" tablet_type:PRIMARY'", true, false},
		{1105, of + "vttablet: rpc error: code = Unavailable desc = error reading from server: EOF", true, false},
		{1105, of + "vttablet: rpc error: code = Unavailable desc = connection error: desc = \"transport: dial tcp 127.0.0.1:1: connect: connection refused\"", true, false},
		{1105, of + "vttablet: rpc error: code = FailedPrecondition desc = operation not allowed in state NOT_SERVING", true, false},
		{1105, of + "vttablet: rpc error: code = FailedPrecondition desc = wrong tablet type: PRIMARY, want: REPLICA or []", true, false},
		{1105, of + "vttablet: rpc error: code = Unavailable desc = tx engine can't accept new connections in state NotServing", true, false},
		{1105, "pessimistic lock retry limit reached", true, false}, // TiDB
		{1105, "syntax error at position 23 near 'force'", false, false},
		{1105, "VT12001: unsupported: cross-shard correlated subquery", false, false},
		{2013, of + "vttablet: rpc error: code = Unavailable desc = Lost connection to MySQL server during query (errno 2013) (sqlstate HY000)", true, false},
		{2006, of + "vttablet: MySQL server has gone away (errno 2006)", true, false},
		{1317, of + "vttablet: rpc error: code = Aborted desc = transaction 1764194400000000042: ended at 2026-11-26 22:00:00.123 UTC (exceeded timeout: 30s)", true, true},
		{1317, of + "vttablet: rpc error: code = Aborted desc = transaction 42: not found", true, true},
		{1317, of + "vttablet: rpc error: code = Aborted desc = transaction 42: in use: for tx killer rollback", true, true},
		{1317, of + "vttablet: rpc error: code = Aborted desc = Row count exceeded 10000", false, false},
		{1317, of + "vttablet: rpc error: code = Aborted desc = caller id: userData1: row count exceeded 10000", false, false},
		{1317, "Query execution was interrupted", true, false}, // of MySQL: the transaction goes on
	} {
		err := fmt.Errorf("fence: %w", &mysql.MySQLError{Number: test.number, Message: test.text})
		if got := errno.Passing(err); got != test.passing {
			t.Errorf("%s: passing %v", test.text, got)
		}
		if got := errno.RolledBack(err); got != test.rolledBack {
			t.Errorf("%s: rolled back %v", test.text, got)
		}
	}
}

func TestAnErrorOfVitessLosesItsStatement(t *testing.T) {
	const why = "target: shop.-80.primary: vttablet: rpc error: code = AlreadyExists desc = Duplicate entry (errno 1062) (sqlstate 23000)"
	for _, behind := range []string{``, ` (CallerID: root): Sql: "insert into t(a) values (:v1)", BindVars: {v1: "type:VARCHAR value:\"secret\""}`, `: Sql: "select 1 from t", BindVars: {}`} {
		err := errno.WithoutStatement(&mysql.MySQLError{Number: 1062, SQLState: [5]byte([]byte("23000")), Message: why + behind})
		if want := "Error 1062 (23000): " + why; err.Error() != want {
			t.Errorf("%s; want %s", err, want)
		}
	}
	if err := errors.New(`: Sql: "select 1"`); errno.WithoutStatement(err) != err {
		t.Error("an error that is no server's is changed")
	}
}
