package migrate

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pressly/goose/v3"

	text "prescient/sql"
)

// eachMigration calls a function with each migration, whole, in both dialects.
func eachMigration(t *testing.T, see func(s Schema, name, up, down string)) {
	t.Helper()
	for _, dialect := range []text.Dialect{text.Full, text.Plain} {
		s := Schema{Prefix: "p_", Resolution: 15 * time.Minute, Dialect: dialect}
		names, err := s.names()
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			migration, err := s.migration(name)
			if err != nil {
				t.Fatal(err)
			}
			up, down, _ := strings.Cut(migration, "-- +goose Down")
			see(s, name, up, down)
		}
	}
}

// What programs look at when they open the tables is set by the migrations themselves.
func TestEachMigrationTellsItsVersion(t *testing.T) {
	const first = 36 // the baseline, which drops slot_config
	newest := int64(0)
	eachMigration(t, func(_ Schema, name, up, down string) {
		version, err := goose.NumericComponent(name)
		if err != nil {
			t.Fatal(err)
		}
		if version > first {
			lowers := fmt.Sprintf("UPDATE p_slot_config SET migrated_to = %d;", version-1)
			if !strings.Contains(down, lowers) {
				t.Errorf("%s does not undo with %s", name, lowers)
			}
		}
		newest = max(newest, version)
		raises := fmt.Sprintf("UPDATE p_slot_config SET migrated_to = GREATEST(migrated_to, %d);", version)
		if !strings.HasSuffix(strings.TrimSpace(up), raises) {
			t.Errorf("%s does not end with %s", name, raises)
		}
	})
	if newest != text.SchemaVersion || Newest().Version != newest {
		t.Errorf("the newest migration is %d; programs need %d", newest, text.SchemaVersion)
	}
}

// A migration can be run again where it was interrupted: DDL commits by itself, so no transaction can help.
func TestEveryMigrationIsRepeatableAndCanBeUndone(t *testing.T) {
	eachMigration(t, func(s Schema, name, up, down string) {
		if !regexp.MustCompile(`^\d{5}_[a-z_]+\.sql$`).MatchString(name) {
			t.Errorf("%s: want a number and a name", name)
		}
		if !strings.Contains(up, "-- +goose NO TRANSACTION") || !strings.Contains(up, "-- +goose Up") || down == "" || !strings.Contains(header(up), "Locks") {
			t.Errorf("%s: want a header that says what it locks, and Up and Down, without a transaction", name)
		}
		adds := 0
		for _, statement := range splitStatements(up) {
			if addsOne(statement) || modifiesOne.MatchString(statement) || regexp.MustCompile(`^ALTER TABLE \w+ ALTER COLUMN \w+ SET DEFAULT \(`).MatchString(statement) {
				adds++
			}
		}
		for what, count := range map[string]int{"CREATE TABLE ": strings.Count(up, "CREATE TABLE IF NOT EXISTS"),
			"INSERT ": strings.Count(up, "INSERT IGNORE") + strings.Count(up, "\nWHERE NOT EXISTS"), "CREATE PROCEDURE": strings.Count(up, "DROP PROCEDURE IF EXISTS"),
			"CREATE ": strings.Count(up, "CREATE OR REPLACE") + strings.Count(up, "\nCREATE TABLE") + strings.Count(up, "\nCREATE PROCEDURE"), "DROP TABLE ": 0, "ALTER ": adds} {
			if strings.Count(up, "\n"+what) != count {
				t.Errorf("%s: %s is not repeatable", name, what)
			}
		}
		for made, drop := range map[string]string{`CREATE TABLE IF NOT EXISTS (\w+)`: "DROP TABLE IF EXISTS %s;", `CREATE PROCEDURE (\w+)`: "DROP PROCEDURE IF EXISTS %s;", `VIEW (\w+) AS`: "DROP VIEW IF EXISTS %s;"} {
			for _, found := range regexp.MustCompile(made).FindAllStringSubmatch(up, -1) {
				if !strings.Contains(down, fmt.Sprintf(drop, found[1])) {
					t.Errorf("%s: Down does not drop %s", name, found[1])
				}
			}
		}
		if left := regexp.MustCompile(`\{[a-z]+\}`).FindString(up + down); left != "" {
			t.Errorf("%s: nothing fills in %s", name, left)
		}
		if s.Dialect == text.Plain {
			lacks := regexp.MustCompile(`JSON_TABLE|SKIP LOCKED|RETURNING|PROCEDURE|CALL |CHECK \(|DEFAULT \(|CREATE TRIGGER|\bPREPARE\b`)
			for _, statement := range splitStatements(up + down) {
				if found := lacks.FindString(statement); found != "" {
					t.Errorf("%s has %s in plain: %s", name, found, statement)
				}
			}
		}
	})
}

// modifiesOne is an ALTER that makes one column what it says, and so can be repeated.
var modifiesOne = regexp.MustCompile(`^ALTER TABLE \w+ MODIFY COLUMN \w+ (?:ENUM\('[a-z0-9', ]+'\)|[^,])*$`)

// What a migration may send a second time, in the dialect plain too, adds one thing that has a name.
func TestAnAlterThatAddsOneThingCanBeRepeated(t *testing.T) {
	for statement, want := range map[string]bool{
		"ALTER TABLE p_slot_run ADD COLUMN further VARCHAR(64) NOT NULL DEFAULT 'a, b'":           true,
		"ALTER TABLE p_slot_run ADD KEY further (a, b)":                                           true,
		"ALTER TABLE p_slot_run ADD UNIQUE KEY further (a, b)":                                    true,
		"ALTER TABLE p_slot_run ADD COLUMN further INT NOT NULL DEFAULT 0, ADD KEY further (a)":   false,
		"ALTER TABLE p_slot_run ADD COLUMN further INT NOT NULL DEFAULT 0, DROP COLUMN takeovers": false,
		"ALTER TABLE p_slot_run DROP COLUMN takeovers":                                            false,
		"ALTER TABLE p_slot_run MODIFY COLUMN state ENUM('a', 'b') NOT NULL":                      true,
		"ALTER TABLE p_slot_run MODIFY COLUMN state ENUM('a', 'b') NOT NULL, DROP COLUMN a":       false,
		"ALTER TABLE p_slot_run ADD KEY (a)":                                                      false,
		"INSERT INTO p_slot_run (slot) VALUES (1)":                                                false,
	} {
		if (addsOne(statement) || modifiesOne.MatchString(statement)) != want {
			t.Errorf("%s: %t", statement, !want)
		}
	}
}

// The migrations are a file for each table, view and procedure, under a header, and a table's file says what uses its indexes.
func TestEachTableViewAndProcedureIsAFile(t *testing.T) {
	var made []string
	names, err := Schema{}.names()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		migration, err := os.ReadFile("migrations/" + name)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range regexp.MustCompile(`(?m)^-- \+file (\S+)`).FindAllStringSubmatch(string(migration), -1) {
			made = append(made, found[1])
		}
	}
	err = fs.WalkDir(os.DirFS("."), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || path.Ext(name) != ".sql" || strings.HasPrefix(name, "migrations/") || strings.Contains(name, "/parts/") {
			return err
		}
		file, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		kind := strings.TrimSuffix(path.Dir(name), "s")
		object := strings.ToUpper(kind) + `(?: IF NOT EXISTS)? \{prefix\}` + strings.TrimSuffix(path.Base(name), ".sql") + `\b`
		if len(regexp.MustCompile(`(?m)^CREATE .*`+object).FindAllString(string(file), -1)) != 1 || !strings.HasPrefix(string(file), "-- ") {
			t.Errorf("%s does not make the %s of its name, under a header", name, kind)
		}
		if !slices.Contains(made, name) {
			t.Errorf("no migration has %s", name)
		}
		before := ""
		for line := range strings.Lines(string(file)) {
			if regexp.MustCompile(`^  (UNIQUE )?KEY `).MatchString(line) && !strings.HasPrefix(before, "  -- For ") {
				t.Errorf("%s does not say what uses %s", name, line)
			}
			before = line
		}
		return nil
	})
	if err != nil || len(made) < 35 {
		t.Errorf("the migrations have %d files, %v", len(made), err)
	}
}

func TestThePageHasEveryTable(t *testing.T) {
	page, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, table := range text.Tables("") {
		if !strings.Contains(string(page), "`"+table+"`") {
			t.Errorf("README.md has no %s", table)
		}
	}
}

// Who has to know the names alone has them from package sql.
func TestPackageSQLKnowsEveryTable(t *testing.T) {
	made, err := Schema{Prefix: "p_"}.Expected()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, table := range made {
		names = append(names, table.Name)
	}
	slices.Sort(names)
	if known := slices.Sorted(slices.Values(text.Tables("p_"))); !slices.Equal(names, known) {
		t.Errorf("package sql knows %q; the migrations make %q", known, names)
	}
}

// Both dialects make the same columns and indexes.
func TestMigrationsInPlainDoWithoutWhatServersLack(t *testing.T) {
	tables, err := Schema{Prefix: "p_", Dialect: text.Plain}.Expected()
	if err != nil {
		t.Fatal(err)
	}
	objects, err := Schema{Prefix: "p_", Dialect: text.Plain}.Objects()
	if err != nil {
		t.Fatal(err)
	}
	full, err := Schema{Prefix: "p_"}.Expected()
	if err != nil {
		t.Fatal(err)
	}
	if len(tables) != len(full) {
		t.Errorf("plain makes %d tables, full %d", len(tables), len(full))
	}
	for i, table := range tables {
		if columns := slices.Sorted(slices.Values(table.Columns)); table.Name != full[i].Name || !slices.Equal(columns, slices.Sorted(slices.Values(full[i].Columns))) ||
			!slices.Equal(table.Indexes, full[i].Indexes) {
			t.Errorf("plain makes %+v; full %+v", table, full[i])
		}
		if len(table.Checks) > 0 {
			t.Errorf("%s has checks in plain: %q", table.Name, table.Checks)
		}
		for _, column := range table.Columns {
			if strings.HasPrefix(table.Default(column), "(") {
				t.Errorf("%s.%s has an expression for its default in plain: %s", table.Name, column, table.Default(column))
			}
		}
	}
	for _, o := range objects {
		if o.Kind != "view" {
			t.Errorf("plain makes the %s %s", o.Kind, o.Name)
		}
	}
}
