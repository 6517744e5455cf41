// Package pages has the examples that pages show, for tests that run them as they stand, on tables whose names have no prefix there either.
package pages

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"prescient/prescient/internal/rig"
	"prescient/prescient/localserver/servertest"
	text "prescient/sql"
	"prescient/sql/migrate"
)

// Blocks returns the blocks of code in a language on a page, which is named from the top of the module.
func Blocks(t testing.TB, page, language string) (blocks []string) {
	t.Helper()
	top := "."
	for ; ; top = filepath.Join("..", top) {
		if _, err := os.Stat(filepath.Join(top, "go.mod")); err == nil {
			break
		}
		if strings.Count(top, "..") > 20 {
			t.Fatal("there is no module above")
		}
	}
	content, err := os.ReadFile(filepath.Join(top, page))
	rig.Fatal(t, err)
	rest := "\n" + string(content)
	for {
		_, after, begins := strings.Cut(rest, "\n```")
		head, after, _ := strings.Cut(after, "\n")
		code, after, ends := strings.Cut("\n"+after, "\n```")
		if !begins || !ends {
			break
		}
		if head == language {
			blocks = append(blocks, strings.TrimPrefix(code, "\n")+"\n")
		}
		rest = after
	}
	if len(blocks) == 0 {
		t.Fatalf("%s has no block of code in %q", page, language)
	}
	return blocks
}

// Block returns the one block that has a text in it.
func Block(t testing.TB, page, language, with string) string {
	t.Helper()
	all := slices.DeleteFunc(Blocks(t, page, language), func(block string) bool { return !strings.Contains(block, with) })
	if len(all) != 1 {
		t.Fatalf("%s has %d blocks of code in %q with %q; want one", page, len(all), language, with)
	}
	return all[0]
}

// Tables makes the tables of a dialect, without a prefix, and returns a pool of their owner.
func Tables(t testing.TB, d servertest.Database, dialect text.Dialect) *sqlx.DB {
	t.Helper()
	db := sqlx.NewDb(d.Open(t, "parseTime=true&interpolateParams=true"), "mysql")
	_, err := migrate.Up(t.Context(), db.DB, migrate.Schema{Resolution: 15 * time.Minute, Dialect: dialect})
	rig.Fatal(t, err)
	return db
}

// Account makes an account that has a role on these tables, and nothing else, and returns its DSN.
func Account(t testing.TB, d servertest.Database, owner *sqlx.DB, role string, dialect text.Dialect) string {
	t.Helper()
	server, _, err := dialect.Choose(t.Context(), owner)
	rig.Fatal(t, err)
	_, grants, err := text.Grants(role, text.Account{Database: d.Name, User: d.User(role), Server: server, Dialect: dialect})
	rig.Fatal(t, err)
	return d.Account(t, role, grants, func(statement string) {
		t.Helper()
		if _, err := owner.Exec(statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	})
}
