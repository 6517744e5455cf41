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
	"testing/fstest"

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

func TestADeleteWithAHintIsSpelledAsVitessTakesIt(t *testing.T) {
	bare, inParentheses := regexp.MustCompile(`^DELETE [a-z]+ FROM \w+ \w+ FORCE INDEX`), regexp.MustCompile(`^DELETE [a-z]+ FROM \(\w+ \w+ FORCE INDEX \(\w+\)\)`)
	for _, c := range []struct {
		dialect      sql.Dialect
		want, refuse *regexp.Regexp
	}{{sql.Full, inParentheses, bare}, {sql.Plain, bare, inParentheses}} {
		statements, err := sql.LoadFor(c.dialect, "p_")
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for name, text := range statements {
			if c.want.MatchString(text) {
				n++
			}
			if c.refuse.MatchString(text) {
				t.Errorf("%s in %s: %s", name, c.dialect, text)
			}
		}
		if n < 8 {
			t.Errorf("%s has %d of them; is this looked for as it is spelled?", c.dialect, n)
		}
	}
}

func TestAFileIsReadForADialectWithTheFilesThatItNames(t *testing.T) {
	files := fstest.MapFS{
		"a/one.sql":   {Data: []byte("a\n  b, -- only full\n  c,   -- only plain\n  -- +file parts/p.sql\n-- +file parts/q.sql -- only plain\nf\n")},
		"a/two.sql":   {Data: []byte("-- +file parts/p.sql\n")},
		"a/lost.sql":  {Data: []byte("-- +file parts/none.sql\n")},
		"parts/p.sql": {Data: []byte("-- d -- only one\n-- e -- only two\ng -- only p\n")},
		"parts/q.sql": {Data: []byte("h\n  -- +file parts/r.sql\n")},
		"parts/r.sql": {Data: []byte("i -- only one\nj -- only q\nk\n")},
	}
	for _, c := range []struct {
		dialect    sql.Dialect
		name, want string
	}{
		{"", "a/one.sql", "a\n  b,\n  -- d\nf\n"},
		{sql.Auto, "a/one.sql", "a\n  b,\n  -- d\nf\n"},
		{sql.Full, "a/two.sql", "-- e\n"},
		{sql.Plain, "a/one.sql", "a\n  c,\n  -- d\nh\n  j\n  k\nf\n"},
	} {
		if got, err := c.dialect.Read(files, c.name); got != c.want || err != nil {
			t.Errorf("%s in %q: %q, %v; want %q", c.name, c.dialect, got, err, c.want)
		}
	}
	// Of a shard that is spoken to in full, what is for Vitess in plain alone is left out.
	for server, want := range map[sql.Server]bool{sql.Vitess: true, sql.VitessShard: false, sql.MySQL: false} {
		dialect := sql.Auto.On(server)
		statements, err := sql.LoadOn(server, dialect, "p_")
		if err != nil {
			t.Fatal(err)
		}
		if has := strings.Contains(statements.Get("schedule/version_many"), ", one.place"); has != want {
			t.Errorf("on %s in %s versions are grouped by place: %t", server, dialect, has)
		}
	}
	if _, err := sql.Full.Read(files, "a/lost.sql"); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

// Vitess is told where rows lie, and nobody else is: what an INSERT gives, and what a WHERE asks for, stands beside what all are sent.
func TestVitessIsToldWhereRowsLie(t *testing.T) {
	for _, dialect := range []sql.Dialect{sql.Full, sql.Plain} {
		others, err := sql.LoadFor(dialect, "p_")
		if err != nil {
			t.Fatal(err)
		}
		for _, server := range []sql.Server{sql.Vitess, sql.VitessShard} {
			told, err := sql.LoadOn(server, dialect, "p_")
			if err != nil {
				t.Fatal(err)
			}
			n := 0
			for name, text := range told {
				if strings.Count(text, "?") != strings.Count(others[name], "?") || strings.Contains(others[name], "{places}") {
					t.Errorf("%s: %s\nand elsewhere %s", name, text, others[name])
				}
				if text != others[name] {
					n++
				}
			}
			if n < 20 {
				t.Errorf("%d statements say more to %s in %s", n, server, dialect)
			}
		}
	}
}

// TiDB refuses to share a lock.
func TestNoLockIsSharedOnTiDB(t *testing.T) {
	for server, want := range map[sql.Server]bool{sql.TiDB: false, sql.Vitess: true} {
		statements, err := sql.LoadOn(server, sql.Plain, "p_")
		if err != nil {
			t.Fatal(err)
		}
		shares := false
		for _, text := range statements {
			shares = shares || strings.Contains(text, "SHARE MODE")
		}
		if shares != want {
			t.Errorf("on %s a lock is shared: %t", server, shares)
		}
	}
}

// A line is for a dialect or a file that there is: another would be left out everywhere. A part is what several files have.
func TestEachLineIsReadAndEachPartShared(t *testing.T) {
	readers := make(map[string][]string) // of each part
	texts := make(map[string]string)
	err := fs.WalkDir(os.DirFS("."), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || path.Ext(name) != ".sql" {
			return err
		}
		text, err := os.ReadFile(name)
		texts[name] = string(text)
		for _, part := range regexp.MustCompile(`(?m)^ *-- \+file (\S+/parts/\S+)`).FindAllStringSubmatch(string(text), -1) {
			readers[path.Base(part[1])] = append(readers[path.Base(part[1])], strings.TrimSuffix(path.Base(name), ".sql"))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range texts {
		allowed := []string{"full", "plain"}
		if !strings.HasPrefix(name, "migrate/") && !strings.HasPrefix(name, "grants/") { // which are the same on every server
			allowed = append(allowed, "vitess")
		}
		if strings.Contains(name, "/parts/") {
			if allowed = append(allowed, readers[path.Base(name)]...); len(readers[path.Base(name)]) < 2 {
				t.Errorf("%s is read by %q alone", name, readers[path.Base(name)])
			}
		}
		for _, line := range regexp.MustCompile(`-- only (.*)`).FindAllStringSubmatch(text, -1) {
			for _, word := range strings.Split(line[1], " ") {
				if !slices.Contains(allowed, word) {
					t.Errorf("%s has a line that is for %s; want %q", name, line[1], allowed)
				}
			}
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
		{sql.Auto, sql.VitessShard, sql.Full},
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
