package migrate

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strings"
	"time"

	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/database"

	text "prescient/sql"
)

// Migrated is a migration that was applied or undone.
type Migrated struct {
	Name string
	Took time.Duration
	// CallersLost says that it made a procedure anew, and that accounts which called the one before may have to be granted
	// that again: whoever migrated may not do so, or not read who they are.
	CallersLost bool
}

// ErrEarlier is returned where the tables are of a version from before the baseline: nothing brings them up to date.
var ErrEarlier = errors.New("this program cannot bring these tables up to date")

// ofEarlier is what whoever has tables from before the baseline can do.
const ofEarlier = "Go on with the program that made these tables, or have this one make others beside them, under another table_prefix. " +
	"Only if all that they hold may be lost: `migrate down --yes` drops them, and `migrate` makes them empty"

// Up applies the migrations that are missing and returns them, where one fails those before it. It may be called at any time, by several
// at once: they wait for one another. Interrupted, it can be run again: each migration is repeatable. Where the tables, or the first of
// them, are there for another resolution, nothing is done and the error wraps ErrResolution; where they are of a version from before the
// baseline, ErrEarlier. Where somebody had a table open for all of s.Patience, it is a [HeldError] and wraps ErrHeld; others wait for a
// second at a time meanwhile, on MariaDB for three.
func Up(ctx context.Context, db *sql.DB, s Schema) ([]Migrated, error) {
	var applied []*goose.MigrationResult
	before := s.callersOf(ctx, db)
	err := s.migrate(ctx, db, func(p *goose.Provider, ddl *DDL) (err error) {
		if _, err := s.applied(ctx, ddl.conn); err != nil {
			return err
		}
		if err := s.sameResolution(ctx, ddl.conn); err != nil {
			return err
		}
		applied, err = p.Up(ctx)
		var partial *goose.PartialError
		if errors.As(err, &partial) {
			applied, err = partial.Applied, stopped(partial)
		}
		return err
	})
	list := results(applied)
	files, _, noFiles := s.render()
	for i := range list {
		if migration, missing := fs.ReadFile(files, list[i].Name); missing == nil {
			for _, found := range madeProcedure.FindAllStringSubmatch(string(migration), -1) {
				_, lost := before.again(ctx, db, found[1])
				list[i].CallersLost = list[i].CallersLost || lost
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
	if refused(err, errAccessDenied) && strings.Contains(err.Error(), "SYSTEM_USER") {
		return "what it replaces was made by an account with the right SYSTEM_USER, such as root, and MySQL lets no other replace that"
	}
	return ""
}

var madeProcedure = regexp.MustCompile(`(?m)^CREATE PROCEDURE (\w+)`)

// Down undoes every migration: it drops the tables with all that they hold, also those of a version from before the baseline. Where one
// fails it returns those that it had undone; it can be run again. The error is as that of Up where somebody has a table open.
func Down(ctx context.Context, db *sql.DB, s Schema) ([]Migrated, error) {
	var undone []*goose.MigrationResult
	err := s.migrate(ctx, db, func(p *goose.Provider, ddl *DDL) (err error) {
		if _, earlier := s.applied(ctx, ddl.conn); errors.Is(earlier, ErrEarlier) {
			return s.dropEarlier(ctx, ddl)
		}
		undone, err = p.DownTo(ctx, 0)
		var partial *goose.PartialError
		if errors.As(err, &partial) {
			undone, err = partial.Applied, stopped(partial)
		}
		if err != nil {
			return err
		}
		return s.dropNotes(ctx, ddl)
	})
	return results(undone), err
}

// dropEarlier drops what the baseline makes, and the notes of the versions from before it.
func (s Schema) dropEarlier(ctx context.Context, ddl *DDL) error {
	files, names, err := s.render()
	if err != nil {
		return err
	}
	baseline, err := fs.ReadFile(files, names[0])
	if err != nil {
		return err
	}
	_, down, _ := strings.Cut(string(baseline), "-- +goose Down")
	for _, statement := range splitStatements(down) {
		if err := ddl.Exec(ctx, statement); err != nil {
			return err
		}
	}
	if err := ddl.Exec(ctx, "DROP TABLE IF EXISTS "+s.Prefix+"schedule_run"); err != nil { // as long_run was called
		return err
	}
	return s.dropNotes(ctx, ddl)
}

func (s Schema) dropNotes(ctx context.Context, ddl *DDL) error {
	return ddl.Exec(ctx, "DROP TABLE IF EXISTS "+s.versionTable()+", "+s.lockTable())
}

// Planned is a migration that the tables lack.
type Planned struct {
	Name string
	// About says what it is for, what it locks, and what it copies.
	About string
	// Statements are what it sends, in their order, under the comments that they have in their files.
	Statements []string
}

// Plan returns the migrations that the tables lack, in the order in which Up would apply them. It only reads. The errors are those of Up
// where the tables are for another resolution, or from before the baseline.
func Plan(ctx context.Context, db *sql.DB, s Schema) (list []Planned, err error) {
	if s.Server, s.Dialect, err = s.Dialect.Choose(ctx, db); err != nil {
		return nil, err
	}
	names, err := s.missing(ctx, db)
	if err != nil {
		return nil, err
	}
	if err := s.sameResolution(ctx, db); err != nil {
		return nil, err
	}
	for _, name := range names {
		migration, err := s.migration(name)
		if err != nil {
			return nil, err
		}
		up, _, _ := strings.Cut(migration, "-- +goose Down")
		_, up, _ = strings.Cut(up, "-- +goose Up\n")
		list = append(list, Planned{Name: name, About: header(migration), Statements: withComments(up)})
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
	names, err := s.missing(ctx, db)
	return len(names), err
}

// missing returns the names of the migrations that the tables lack, in their order.
func (s Schema) missing(ctx context.Context, db *sql.DB) (missing []string, err error) {
	_, names, err := s.render()
	if err != nil {
		return nil, err
	}
	done, err := s.applied(ctx, db)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		version, err := goose.NumericComponent(name)
		if err != nil {
			return nil, err
		}
		if !done[version] {
			missing = append(missing, name)
		}
	}
	return missing, nil
}

// applied returns which migrations the tables have noted, by their numbers. The error wraps ErrEarlier where one is from before the baseline.
func (s Schema) applied(ctx context.Context, db database.DBTxConn) (map[int64]bool, error) {
	_, names, err := s.render()
	if err != nil {
		return nil, err
	}
	baseline, err := goose.NumericComponent(names[0])
	if err != nil {
		return nil, err
	}
	store, err := database.NewStore(database.DialectMySQL, s.versionTable())
	if err != nil {
		return nil, err
	}
	noted, err := store.ListMigrations(ctx, db)
	if err != nil && !noSuchTable(err) {
		return nil, fmt.Errorf("reading which migrations are applied: %w", err)
	}
	done := make(map[int64]bool)
	for _, m := range noted {
		if m.Version > 0 && m.Version < baseline {
			return nil, fmt.Errorf("%w: %s has version %d, and the earliest that it can is %d. Nothing was changed. %s",
				ErrEarlier, s.versionTable(), m.Version, baseline, ofEarlier)
		}
		done[m.Version] = true
	}
	return done, nil
}

func (s Schema) versionTable() string { return s.Prefix + "schema_version" }

// sameResolution looks whether tables that are there already, perhaps not all of them, are for the same resolution.
func (s Schema) sameResolution(ctx context.Context, db text.Querier) error {
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
	files, _, err := s.render()
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
		provider, err := goose.NewProvider("", through, files, goose.WithStore(versions{store}), goose.WithDisableGlobalRegistry(true))
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

func results(all []*goose.MigrationResult) []Migrated {
	var list []Migrated
	for _, m := range all {
		list = append(list, Migrated{Name: m.Source.Path, Took: m.Duration})
	}
	return list
}
