package connect

import (
	"context"
	"database/sql/driver"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"
)

// failing is a connection to Vitess whose statements fail.
type failing struct{ fullConn }

func (failing) IsValid() bool { return true }

func (failing) ExecContext(context.Context, string, []driver.NamedValue) (driver.Result, error) {
	return nil, &mysql.MySQLError{Number: 1317, Message: `vttablet: gone (CallerID: app): Sql: "update t set a = :v1", BindVars: {v1: "secret"}`}
}

// Whoever logs an error, or keeps it in a row, need not know what a server puts into it.
func TestWhatAServerSaysHasNoStatementInIt(t *testing.T) {
	c := &hostConn{fullConn: failing{}, hosts: new(hosts)}
	_, err := c.ExecContext(t.Context(), "UPDATE t SET a = ?", nil)
	if err == nil || !strings.Contains(err.Error(), "vttablet: gone") || strings.Contains(err.Error(), "secret") {
		t.Error(err)
	}
}
