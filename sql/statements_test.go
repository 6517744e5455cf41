package sql_test

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"prescient/sql"
)

var (
	braceWord = regexp.MustCompile(`\{\w+\}`)
	leases    = regexp.MustCompile(`\{(lives|free) [a-z_.]+\}`)
	// hot are the folders of what is sent all the time: each statement names the index that serves it.
	hot       = map[string]bool{"client": true, "list": true, "slotrun": true, "sweep": true}
	indexLine = regexp.MustCompile(`Index: .*(PRIMARY|UNIQUE \(job_key\)|those of future_job|job_history's own).* Locks: [^.]+\.`)
	parameter = regexp.MustCompile(`(?:\b|-)(\d+): `)
)

// files returns the statements as they stand in their files for the dialect full, by name.
func files(t *testing.T) map[string]string {
	t.Helper()
	all := make(map[string]string)
	err := fs.WalkDir(os.DirFS("."), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || path.Ext(name) != ".sql" || strings.HasPrefix(name, "migrate/") || strings.HasPrefix(name, "grants/") || strings.HasPrefix(name, "plain/") || strings.Contains(name, "/parts/") {
			return err
		}
		all[strings.TrimSuffix(name, ".sql")], err = sql.Full.Read(os.DirFS("."), name)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// split separates the header of a file from the statement.
func split(t *testing.T, name, text string) (header, statement string) {
	t.Helper()
	lines := strings.SplitAfter(text, "\n")
	for len(lines) > 0 && strings.HasPrefix(lines[0], "-- ") {
		header += lines[0]
		lines = lines[1:]
	}
	statement = strings.Join(lines, "")
	if strings.Contains(statement, "--") || strings.Contains(statement, ";") || strings.TrimSpace(statement) == "" {
		t.Errorf("%s: want a header and then one statement, without comments and semicolons", name)
	}
	return header, statement
}

func TestEveryStatementHasAHeaderThatNamesItsIndexLocksAndParameters(t *testing.T) {
	for name, text := range files(t) {
		header, statement := split(t, name, text)
		if !regexp.MustCompile(`^-- [A-Z]`).MatchString(header) {
			t.Errorf("%s does not begin with what it is for:\n%s", name, header)
		}
		oneLine := strings.ReplaceAll(header, "\n-- ", " ")
		if hot[path.Dir(name)] && !indexLine.MatchString(oneLine) || !strings.Contains(oneLine, " Locks: ") {
			t.Errorf("%s: the header does not name the index and the locks:\n%s", name, header)
		}
		for _, word := range braceWord.FindAllString(statement, -1) {
			if word != "{prefix}" && !strings.Contains(header, word) {
				t.Errorf("%s: the header does not say what %s is", name, word)
			}
		}
		for line := range strings.Lines(text) {
			if len(strings.TrimRight(line, "\n")) > 140 {
				t.Errorf("%s has a long line: %s", name, line)
			}
		}
		numbered := 0
		for _, match := range parameter.FindAllStringSubmatch(header, -1) {
			n, err := strconv.Atoi(match[1])
			if err != nil || n <= numbered {
				t.Errorf("%s: parameter %s is out of order", name, match[1])
			}
			numbered = n
		}
		if strings.Contains(header, ", then ") {
			numbered++ // the last one, behind those of {filter}
		}
		if marks := strings.Count(statement, "?"); marks != numbered {
			t.Errorf("%s takes %d parameters; its header names %d", name, marks, numbered)
		}
	}
}

func TestLoadFillsInThePrefixAndNothingElse(t *testing.T) {
	statements, err := sql.Load("app_1_")
	if err != nil {
		t.Fatal(err)
	}
	raw := files(t)
	if got, want := slices.Sorted(maps.Keys(statements)), slices.Sorted(maps.Keys(raw)); !slices.Equal(got, want) {
		t.Errorf("loaded: %q; there are %q", got, want)
	}
	table := regexp.MustCompile(`\b\w*(slot_config|future_job|job_history|slot_run)\b`)
	for name, text := range raw {
		header, _ := split(t, name, text)
		got := statements.Get(name)
		if strings.Contains(got, "{prefix}") || strings.Contains(got, "--") || got == "" {
			t.Errorf("%s: %s", name, got)
		}
		for _, word := range braceWord.FindAllString(got, -1) {
			if !strings.Contains(header, word) {
				t.Errorf("%s: %s is left", name, word)
			}
		}
		for _, found := range table.FindAllString(got, -1) {
			if !strings.HasPrefix(found, "app_1_") {
				t.Errorf("%s: table %s is without the prefix", name, found)
			}
		}
		if leases.MatchString(text) {
			continue // TestConditionsOnLeasesStandOnce
		}
		if plain := strings.ReplaceAll(got, "app_1_", "{prefix}"); !strings.HasSuffix(strings.TrimSpace(text), strings.TrimSpace(plain)) {
			t.Errorf("%s is changed beyond that:\n%s", name, got)
		}
	}
}

// What a lease is that lives, and one that is free, is written out as the statements are loaded.
func TestConditionsOnLeasesStandOnce(t *testing.T) {
	for _, dialect := range []sql.Dialect{sql.Full, sql.Plain} {
		statements, err := sql.LoadFor(dialect, "p_")
		if err != nil {
			t.Fatal(err)
		}
		for name, text := range statements {
			if strings.Contains(text, "{lives") || strings.Contains(text, "{free") {
				t.Errorf("%s, %s: left as it was:\n%s", dialect, name, text)
			}
		}
		lives, free := statements.Get("event/shards"), statements.Get("event/take")
		if !strings.Contains(lives, "(one.allocated_until > UTC_TIMESTAMP(6) AND one.allocated_until <= UTC_TIMESTAMP(6) + INTERVAL 1 HOUR)") ||
			!strings.Contains(free, "(allocated_until IS NULL OR allocated_until <= UTC_TIMESTAMP(6) OR allocated_until > UTC_TIMESTAMP(6) + INTERVAL 1 HOUR)") {
			t.Errorf("%s:\n%s\n%s", dialect, lives, free)
		}
	}
	for name, text := range files(t) {
		_, statement := split(t, name, text)
		if strings.Contains(statement, "INTERVAL 1 HOUR") && !slices.Contains([]string{"operate/far_leases", "operate/long_runs", "event/absent"}, name) {
			t.Errorf("%s has a condition of its own on a lease", name)
		}
	}
}

func TestPrefixes(t *testing.T) {
	for prefix, says := range map[string]string{
		"":                       "",
		"app_":                   "",
		"a1_b2_":                 "",
		strings.Repeat("x", 32):  "",
		strings.Repeat("x", 33):  "at most 32",
		strings.Repeat("x", 1e6): "at most 32",
		"App_":                   "only a-z, 0-9 and _",
		"a-b":                    "only a-z",
		"a.b":                    "only a-z",
		"a`; DROP":               "only a-z",
		"a\n":                    "only a-z",
		"größe":                  "only a-z",
		" ":                      "only a-z",
		"{prefix}":               "only a-z",
		"a\x00":                  "only a-z",
	} {
		err := sql.CheckPrefix(prefix)
		statements, loadErr := sql.Load(prefix)
		switch {
		case says == "":
			if err != nil || loadErr != nil || len(statements) == 0 {
				t.Errorf("prefix %q: %v, %v", prefix, err, loadErr)
			}
		case !errors.Is(err, sql.ErrPrefix) || !strings.Contains(err.Error(), says) || len(err.Error()) > 200:
			t.Errorf("prefix %.40q: %.300v; want ErrPrefix with %q", prefix, err, says)
		case !errors.Is(loadErr, sql.ErrPrefix):
			t.Errorf("loading with prefix %.40q: %.300v", prefix, loadErr)
		}
	}
}
