package commit

import (
	"fmt"
	"testing"

	"github.com/go-sql-driver/mysql"
)

// A row ends without its payload where the server refuses to write it, and for no error that may pass or be of something else.
func TestWhatRefusesARowIsOfThatRow(t *testing.T) {
	for _, test := range []struct {
		number uint16
		text   string
		want   bool
	}{
		{1644, "a trigger", true}, {1406, "Data too long for column", true}, {3140, "Invalid JSON text", true}, {4025, "CONSTRAINT failed", true},
		{1213, "Deadlock", false}, {1142, "DELETE command denied", false}, {1064, "You have an error", false},
		{1105, "target: shop.-80.primary: no healthy tablet available", false}, {1105, "syntax error at position 23 near 'force'", false}, {2013, "Lost connection", false},
	} {
		err := fmt.Errorf("%w: %w", errWriting, &mysql.MySQLError{Number: test.number, Message: test.text})
		if got := refusesRow(err); got != test.want {
			t.Errorf("%d %s: %v", test.number, test.text, got)
		}
		if refusesRow(&mysql.MySQLError{Number: test.number, Message: test.text}) {
			t.Errorf("%d: it refuses a row where nothing was written of one", test.number)
		}
	}
}
