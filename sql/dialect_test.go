package sql_test

import (
	"errors"
	"io/fs"
	"os"
	"regexp"
	"strings"
	"testing"

	"prescient/sql"
)

// onlyFull is what servers lack for which the dialect plain is: JSON_TABLE, procedures, expressions as defaults, CHECKs, and
// what only one of the servers knows.
var onlyFull = regexp.MustCompile(`JSON_TABLE|SKIP LOCKED|RETURNING|CREATE PROCEDURE|CALL |CHECK \(|DEFAULT \(|CREATE TRIGGER|\bPREPARE\b`)

// A file of the dialect plain takes the place of a full one, with the same parameters and braces; but for the move, which is
// of one row there.
func TestStatementsInPlainTakeTheSame(t *testing.T) {
	full, err := sql.Load("p_")
	if err != nil {
		t.Fatal(err)
	}
	plain, err := sql.LoadFor(sql.Plain, "p_")
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range full {
		other, there := plain[name]
		switch {
		case !there && !onlyFull.MatchString(text) && !strings.Contains(text, "SET DEFAULT"):
			t.Errorf("%s is not there in plain, though it could be", name)
		case !there, name == "slotrun/reschedule":
		case strings.Count(other, "?") != strings.Count(text, "?") || strings.Contains(other, "{keys}") != strings.Contains(text, "{keys}"):
			t.Errorf("%s takes something else in plain:\n%s", name, other)
		}
		if found := onlyFull.FindString(other); found != "" {
			t.Errorf("%s has %s in plain", name, found)
		}
	}
}

// Each file in plain is in the place of one, and another.
func TestEveryFileInPlainIsInThePlaceOfAnother(t *testing.T) {
	names, err := fs.Glob(os.DirFS("."), "plain/*/*.sql")
	if err != nil || len(names) == 0 {
		t.Fatalf("%q, %v", names, err)
	}
	for _, name := range names {
		plain, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		full, err := os.ReadFile(strings.TrimPrefix(name, "plain/"))
		if err != nil {
			t.Errorf("%s is in the place of nothing: %v", name, err)
		} else if string(full) == string(plain) {
			t.Errorf("%s is what it is in the place of", name)
		}
	}
}

func TestADialectIsChosenByTheServer(t *testing.T) {
	for _, c := range []struct {
		set    sql.Dialect
		server sql.Server
		want   sql.Dialect
	}{
		{"", sql.MySQL, sql.Full},
		{sql.Auto, sql.MySQL, sql.Full},
		{sql.Auto, sql.MariaDB, sql.Full},
		{sql.Auto, sql.TiDB, sql.Plain},
		{sql.Auto, sql.Vitess, sql.Plain},
		{sql.Plain, sql.MySQL, sql.Plain},
		{sql.Plain, sql.MariaDB, sql.Plain},
	} {
		if got := c.set.On(c.server); got != c.want || c.set.Check() != nil {
			t.Errorf("%q on %q is %q, %v; want %q", c.set, c.server, got, c.set.Check(), c.want)
		}
	}
	for _, wrong := range []sql.Dialect{"full", "Plain", "tidb", " plain"} {
		if err := wrong.Check(); !errors.Is(err, sql.ErrDialect) || !strings.Contains(err.Error(), "auto and plain") {
			t.Errorf("%q: %v", wrong, err)
		}
	}
}
