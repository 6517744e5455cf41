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
		{server(1836), true}, {server(3101), true}, {server(1040), true}, {server(1053), true}, {server(3572), true},
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
