package sql_test

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"prescient/sql"
)

// onlyFull is what servers lack for which the dialect plain is: JSON_TABLE, procedures, expressions as defaults, CHECKs, and
// what only one of the servers knows.
var onlyFull = regexp.MustCompile(`JSON_TABLE|SKIP LOCKED|RETURNING|CREATE PROCEDURE|CALL |CHECK \(|DEFAULT \(|CREATE TRIGGER|\bPREPARE\b`)

// A statement takes the same parameters and braces in plain, and has nothing there that servers lack.
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
		case !there:
		case strings.Count(other, "?") != strings.Count(text, "?") || strings.Contains(other, "{keys}") != strings.Contains(text, "{keys}"):
			t.Errorf("%s takes something else in plain:\n%s", name, other)
		}
		if found := onlyFull.FindString(other); found != "" {
			t.Errorf("%s has %s in plain", name, found)
		}
	}
}

func TestALineThatIsForOneDialectIsLeftOutInTheOther(t *testing.T) {
	const text = "a\n  b, -- only full\n  c,   -- only plain\n-- d -- only part\n-- only words\ne -- only so\nf\n"
	for _, c := range []struct {
		dialect sql.Dialect
		beside  []string
		want    string
	}{
		{"", nil, "a\n  b,\nf\n"},
		{sql.Auto, nil, "a\n  b,\nf\n"},
		{sql.Full, nil, "a\n  b,\nf\n"},
		{sql.Plain, nil, "a\n  c,\nf\n"},
		{sql.Plain, []string{"none", "part"}, "a\n  c,\n-- d\nf\n"},
	} {
		if got := c.dialect.Only(text, c.beside...); got != c.want {
			t.Errorf("%q beside %q: %q; want %q", c.dialect, c.beside, got, c.want)
		}
	}
}

// A line is for something that there is: a word that nobody reads would leave it out everywhere.
func TestEachLineIsForSomethingThatThereIs(t *testing.T) {
	marked := regexp.MustCompile(`-- only (.*)`)
	found := 0
	err := fs.WalkDir(os.DirFS("."), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || path.Ext(name) != ".sql" {
			return err
		}
		text, err := os.ReadFile(name)
		for _, line := range marked.FindAllStringSubmatch(string(text), -1) {
			found++
			part := strings.HasPrefix(name, "migrate/procedures/parts/")
			if !slices.Contains([]string{"full", "plain"}, line[1]) && !(part && slices.Contains([]string{"cancel", "delete_schedules"}, line[1])) {
				t.Errorf("%s has a line that is for %s", name, line[1])
			}
		}
		return err
	})
	if err != nil || found == 0 {
		t.Errorf("%d lines, %v", found, err)
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
