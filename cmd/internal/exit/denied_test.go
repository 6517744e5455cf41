package exit_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/go-sql-driver/mysql"

	"prescient/cmd/internal/exit"
	"prescient/sql/migrate"
)

func TestAMissingRightIsReadFromTheServersError(t *testing.T) {
	for _, test := range []struct {
		number  uint16
		message string
		want    string
	}{
		{1142, "SELECT command denied to user 'a'@'127.0.0.1' for table `my_db`.`p_slot_run`", "SELECT p_slot_run "},
		{1142, "SELECT command denied to user 'a'@'%' for table 'p_slot_run'", "SELECT p_slot_run "},
		{1142, "INSERT, UPDATE command denied to user 'a for table x'@'%' for table 'p_slot_run'", "INSERT p_slot_run "},
		{1143, "UPDATE command denied to user 'a'@'%' for column 'due_at' in table 'future_job'", "UPDATE future_job due_at"},
		{1370, "execute command denied to user 'a'@'%' for routine 'my_db.cancel'", "EXECUTE cancel "},
		{1142, "SELECT with locking clause command denied to user 'a'@'%' for table 'job_pause'", "UPDATE job_pause "},
		{1142, "something else", ""},
		{1146, "Table 'x' doesn't exist", ""},
	} {
		err := fmt.Errorf("listing: %w", &mysql.MySQLError{Number: test.number, Message: test.message})
		right, name, column, is := exit.Denied(err)
		if got := right + " " + name + " " + column; is != (test.want != "") || is && got != test.want {
			t.Errorf("%s: %q, %t; want %q", test.message, got, is, test.want)
		}
		if denied := test.number != 1146; (exit.Code(err) == exit.CodeDenied) != denied {
			t.Errorf("%s: exit code %d", test.message, exit.Code(err))
		}
	}
	if exit.Code(errors.New("denied")) != exit.CodeFailure {
		t.Error("any error is one")
	}
}

func TestWhatKeepsTheTablesFromAChangeHasItsCode(t *testing.T) {
	for err, want := range map[error]int{migrate.ErrReslotting: exit.CodeTables, migrate.ErrResolution: exit.CodeTables, migrate.ErrEarlier: exit.CodeTables,
		migrate.ErrLocked: exit.CodeHeld, migrate.ErrPruning: exit.CodeHeld, migrate.ErrHeld: exit.CodeHeld} {
		if got := exit.Code(fmt.Errorf("migrating: %w", err)); got != want {
			t.Errorf("%v: exit code %d; want %d", err, got, want)
		}
	}
}
