package sql

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/database"
	"github.com/spf13/afero"
)

//go:embed migrations/*.sql
var migrationFiles embed.FS

// Schema says which tables to make.
type Schema struct {
	// Prefix of the table names; two installations can share a database under two prefixes. Empty by default.
	Prefix string
	// Resolution of the slots, in whole seconds; it divides a day. Defaults and checks of the tables are made for it.
	Resolution time.Duration
	// Dialect in which the tables are made and looked at. Up, Down, Repair and Damages take a setting, and find out what it
	// comes to on the server; the others take Full or Plain, and Full where none is given.
	Dialect Dialect
	// Server is whose tables; whoever migrates need not say it.
	Server Server
	// UpTo is the last migration that Up applies, by its number; all of them by default.
	UpTo int64
	// Patience is how long Up, Down and Repair try again while somebody has a table open; DefaultPatience by default.
	Patience time.Duration
	// Watch, where given, is told of each try that waited in vain for a table that somebody has open.
	Watch Watcher
}

// Migrated is a migration that was applied or undone.
type Migrated struct {
	Name string
	Took time.Duration
	// CallersLost says that it made a procedure anew, and that accounts which called the one before may have to be granted
	// that again: whoever migrated may not do so, or not read who they are.
	CallersLost bool
}

// ErrLocked is returned when somebody else is migrating the same tables and did not finish in time.
var ErrLocked = errors.New("another migration is running")

// ErrPruning is returned when somebody else prunes the same tables.
var ErrPruning = errors.New("another prune is running")

// ErrResolution is returned when tables cannot be made for a resolution, or are there for another.
var ErrResolution = errors.New("resolution not allowed")

// Up applies the migrations that are missing and returns them, where one fails those before it. It may be called at any time, by several at once: they
// wait for one another. Interrupted, it can be run again: each migration is repeatable. Where the tables, or the first
// of them, are there for another resolution, nothing is done and the error wraps ErrResolution. Where somebody had a table open for
// all of s.Patience, it is a [HeldError] and wraps ErrHeld; others wait for a second at a time meanwhile, on MariaDB for three.
func Up(ctx context.Context, db *sql.DB, s Schema) ([]Migrated, error) {
	var applied []*goose.MigrationResult
	before := s.callersOf(ctx, db)
	err := s.migrate(ctx, db, func(p *goose.Provider, ddl *DDL) (err error) {
		if err := s.sameResolution(ctx, ddl.conn); err != nil {
			return err
		}
		if s.UpTo > 0 {
			applied, err = p.UpTo(ctx, s.UpTo)
		} else {
			applied, err = p.Up(ctx)
		}
		var partial *goose.PartialError
		if errors.As(err, &partial) {
			applied, err = partial.Applied, stopped(partial)
		}
		return err
	})
	list := results(applied)
	files, noFiles := s.render()
	for i := range list {
		if text, missing := fs.ReadFile(files, list[i].Name); missing == nil {
			for _, found := range madeProcedure.FindAllStringSubmatch(string(text), -1) {
				_, list[i].CallersLost = before.again(ctx, db, found[1])
			}
		}
	}
	return list, errors.Join(err, noFiles)
}

// stopped is the error of a migration that failed, and names it.
func stopped(p *goose.PartialError) error {
	name := path.Base(p.Failed.Source.Path)
	if whose := ofSystemUser(p.Err); whose != "" {
		return fmt.Errorf("%s was not begun: %s; migrate by such an account does it, and what is to come after it (%w)", name, whose, p.Err)
	}
	return fmt.Errorf("%s: %w", name, p.Err)
}

// ofSystemUser says why MySQL refuses to drop or replace a procedure or a view; empty for every other error.
func ofSystemUser(err error) string {
	if refused(err, errNeedsPrivilege) && strings.Contains(err.Error(), "SYSTEM_USER") {
		return "what it replaces was made by an account with the right SYSTEM_USER, such as root, and MySQL lets no other replace that"
	}
	return ""
}

var madeProcedure = regexp.MustCompile(`(?m)^CREATE PROCEDURE (\w+)`)

// Down undoes every migration: it drops the tables with all that they hold. Where one fails it returns those that it had undone; it can
// be run again. The error is as that of Up where somebody has a table open.
func Down(ctx context.Context, db *sql.DB, s Schema) ([]Migrated, error) {
	var undone []*goose.MigrationResult
	err := s.migrate(ctx, db, func(p *goose.Provider, ddl *DDL) (err error) {
		undone, err = p.DownTo(ctx, 0)
		var partial *goose.PartialError
		if errors.As(err, &partial) {
			undone, err = partial.Applied, stopped(partial)
		}
		if err != nil {
			return err
		}
		return ddl.Exec(ctx, "DROP TABLE IF EXISTS "+s.versionTable()+", "+s.lockTable())
	})
	return results(undone), err
}

// Planned is a migration that the tables lack.
type Planned struct {
	Name string
	// About says what it is for, what it locks, and what it copies.
	About string
	// Statements are what it sends, in their order.
	Statements []string
}

// Plan returns the migrations that the tables lack, in the order in which Up would apply them. It only reads. Where the tables
// are there for another resolution the error wraps ErrResolution, as that of Up does.
func Plan(ctx context.Context, db *sql.DB, s Schema) (list []Planned, err error) {
	if s.Server, s.Dialect, err = s.Dialect.Choose(ctx, db); err != nil {
		return nil, err
	}
	if err := s.sameResolution(ctx, db); err != nil {
		return nil, err
	}
	files, names, err := s.missing(ctx, db)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		about, err := s.Dialect.read(migrationFiles, "migrations/"+name)
		if err != nil {
			return nil, err
		}
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, err
		}
		up, _, _ := strings.Cut(string(text), "-- +goose Down")
		list = append(list, Planned{Name: name, About: strings.ReplaceAll(header(string(about)), "{prefix}", s.Prefix), Statements: splitStatements(up)})
	}
	return list, nil
}

// header is the comment at the beginning of a migration, without its dashes.
func header(migration string) string {
	comment, _, _ := strings.Cut(migration, "-- +goose")
	var b strings.Builder
	for line := range strings.Lines(comment) {
		b.WriteString(strings.TrimPrefix(strings.TrimPrefix(line, "--"), " "))
	}
	return strings.TrimSpace(b.String())
}

// Pending returns how many migrations the tables lack. It only reads.
func Pending(ctx context.Context, db *sql.DB, s Schema) (missing int, err error) {
	_, names, err := s.missing(ctx, db)
	return len(names), err
}

// missing returns the names of the migrations that the tables lack, in their order, and the files of all.
func (s Schema) missing(ctx context.Context, db *sql.DB) (files fs.FS, missing []string, err error) {
	if files, err = s.render(); err != nil {
		return nil, nil, err
	}
	names, err := fs.Glob(files, "*.sql")
	if err != nil {
		return nil, nil, err
	}
	store, err := database.NewStore(database.DialectMySQL, s.versionTable())
	if err != nil {
		return nil, nil, err
	}
	applied, err := store.ListMigrations(ctx, db)
	if err != nil && !noSuchTable(err) {
		return nil, nil, fmt.Errorf("reading which migrations are applied: %w", err)
	}
	done := make(map[int64]bool)
	for _, m := range applied {
		done[m.Version] = true
	}
	slices.Sort(names)
	for _, name := range names {
		version, err := goose.NumericComponent(name)
		if err != nil {
			return nil, nil, err
		}
		if !done[version] {
			missing = append(missing, name)
		}
	}
	return files, missing, nil
}

func (s Schema) versionTable() string { return s.Prefix + "schema_version" }

// sameResolution looks whether tables that are there already, perhaps not all of them, are for the same resolution.
func (s Schema) sameResolution(ctx context.Context, db Querier) error {
	var seconds int64
	rows, err := db.QueryContext(ctx, "SELECT resolution_s FROM "+s.Prefix+"slot_config WHERE id = 1")
	if err == nil {
		defer rows.Close()
		if !rows.Next() {
			return rows.Err()
		}
		err = rows.Scan(&seconds)
	}
	switch there := time.Duration(seconds) * time.Second; {
	case noSuchTable(err):
		return nil
	case err != nil:
		return fmt.Errorf("reading slot_config: %w", err)
	case there != s.Resolution:
		return fmt.Errorf("%w: %s is wanted, but %sslot_config has %s", ErrResolution, s.Resolution, s.Prefix, there)
	}
	return nil
}

func (s Schema) migrate(ctx context.Context, db *sql.DB, do func(*goose.Provider, *DDL) error) error {
	var err error
	if s.Server, s.Dialect, err = s.Dialect.Choose(ctx, db); err != nil {
		return err
	}
	files, err := s.render()
	if err != nil {
		return err
	}
	unlock, err := s.Lock(ctx, db)
	if err != nil {
		return err
	}
	defer unlock()
	store, err := database.NewStore(database.DialectMySQL, s.versionTable())
	if err != nil {
		return err
	}
	return s.altering(ctx, db, func(ddl *DDL) error {
		through := ddl.asDatabase()
		defer through.Close()
		provider, err := goose.NewProvider("", through, files, goose.WithStore(store), goose.WithDisableGlobalRegistry(true))
		if err != nil {
			return fmt.Errorf("reading the migrations: %w", err)
		}
		if err := do(provider, ddl); err != nil {
			return fmt.Errorf("migrating: %w", err)
		}
		return nil
	})
}

// altering calls a function with a connection for what alters the tables.
func (s Schema) altering(ctx context.Context, db *sql.DB, do func(*DDL) error) error {
	return alter(ctx, db, s.Patience, func(ddl *DDL) error {
		ddl.Watch = s.Watch
		// Rows that somebody has locked are waited for as briefly: who wants the row next waits behind this one.
		if _, err := ddl.conn.ExecContext(ctx, fmt.Sprintf("SET SESSION innodb_lock_wait_timeout = %d", tryWaits)); err != nil {
			return fmt.Errorf("bounding the wait for rows: %w", err)
		}
		return do(ddl)
	})
}

// unseen is a class of the characters that prescient.Unseen has, for the CHECKs of names: with ~ for a backslash. It is that of the migrations
// which name it: where characters are added, a new migration has another.
const unseen = "[~x{A0}~x{AD}~x{34F}~x{61C}~x{115F}-~x{1160}~x{1680}~x{17B4}-~x{17B5}~x{180B}-~x{180F}~x{2000}-~x{200F}~x{2028}-~x{202F}~x{205F}-~x{206F}" +
	"~x{2800}~x{3000}~x{3164}~x{FE00}-~x{FE0F}~x{FEFF}~x{FFA0}~x{FFF0}-~x{FFFB}~x{13430}-~x{1343F}~x{1BCA0}-~x{1BCA3}~x{1D173}-~x{1D17A}~x{E0000}-~x{E0FFF}]"

// render fills prefix and resolution into the migration files.
func (s Schema) render() (fs.FS, error) {
	if err := CheckPrefix(s.Prefix); err != nil {
		return nil, err
	}
	// A CHECK holds this too, but MySQL drops the row of an INSERT IGNORE that a CHECK refuses, and says nothing.
	const day = 24 * time.Hour
	if r := s.Resolution; r < time.Second || r > day || r%time.Second != 0 || day%r != 0 {
		return nil, fmt.Errorf("%w: %s: whole seconds that divide a day are", ErrResolution, r)
	}
	seconds := int64(s.Resolution / time.Second)
	fill := strings.NewReplacer("{prefix}", s.Prefix, "{seconds}", strconv.FormatInt(seconds, 10),
		"{micros}", strconv.FormatInt(seconds*1e6, 10), "{unseen}", unseen)
	rendered := afero.NewMemMapFs()
	names, err := fs.Glob(migrationFiles, "migrations/*.sql")
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		text, err := s.Dialect.read(migrationFiles, name)
		if err != nil {
			return nil, err
		}
		if err := afero.WriteFile(rendered, path.Base(name), []byte(marked(fill.Replace(string(text)))), 0o444); err != nil {
			return nil, err
		}
	}
	return afero.NewIOFS(rendered), nil
}

// marked marks each statement of a migration as one, so that goose need not look at every line for its end: it takes a
// buffer of 4 MB for each.
func marked(migration string) string {
	up, down, _ := strings.Cut(migration, "-- +goose Down")
	var b strings.Builder
	write := func(annotation string, statements []string) {
		b.WriteString("-- +goose " + annotation + "\n")
		for _, s := range statements {
			b.WriteString("-- +goose StatementBegin\n" + s + "\n-- +goose StatementEnd\n")
		}
	}
	write("NO TRANSACTION", nil) // DDL commits by itself
	write("Up", splitStatements(up))
	write("Down", splitStatements(down))
	return b.String()
}

func results(all []*goose.MigrationResult) []Migrated {
	var list []Migrated
	for _, m := range all {
		list = append(list, Migrated{Name: m.Source.Path, Took: m.Duration})
	}
	return list
}
