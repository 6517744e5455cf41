package sql

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
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
}

// Migrated is a migration that was applied or undone.
type Migrated struct {
	Name string
	Took time.Duration
}

// ErrLocked is returned when somebody else is migrating the same tables and did not finish in time.
var ErrLocked = errors.New("another migration is running")

// Up applies the migrations that are missing and returns them. It may be called at any time, by several at once: they
// wait for one another. Interrupted, it can be run again: each migration is repeatable.
func Up(ctx context.Context, db *sql.DB, s Schema) ([]Migrated, error) {
	var applied []*goose.MigrationResult
	err := s.migrate(ctx, db, func(p *goose.Provider) (err error) {
		applied, err = p.Up(ctx)
		return err
	})
	return results(applied), err
}

// Down undoes every migration: it drops the tables with all that they hold.
func Down(ctx context.Context, db *sql.DB, s Schema) ([]Migrated, error) {
	var undone []*goose.MigrationResult
	err := s.migrate(ctx, db, func(p *goose.Provider) (err error) {
		undone, err = p.DownTo(ctx, 0)
		return err
	})
	return results(undone), err
}

// Pending returns how many migrations the tables lack.
func Pending(ctx context.Context, db *sql.DB, s Schema) (missing int, err error) {
	err = s.migrate(ctx, db, func(p *goose.Provider) error {
		status, err := p.Status(ctx)
		for _, m := range status {
			if m.State == goose.StatePending {
				missing++
			}
		}
		return err
	})
	return missing, err
}

func (s Schema) migrate(ctx context.Context, db *sql.DB, do func(*goose.Provider) error) error {
	files, err := s.render()
	if err != nil {
		return err
	}
	unlock, err := s.lock(ctx, db)
	if err != nil {
		return err
	}
	defer unlock()
	store, err := database.NewStore(database.DialectMySQL, s.Prefix+"schema_version")
	if err != nil {
		return err
	}
	provider, err := goose.NewProvider("", db, files, goose.WithStore(store), goose.WithDisableGlobalRegistry(true))
	if err != nil {
		return fmt.Errorf("reading the migrations: %w", err)
	}
	if err := do(provider); err != nil {
		return fmt.Errorf("migrating: %w", err)
	}
	return nil
}

// render fills prefix and resolution into the migration files.
func (s Schema) render() (fs.FS, error) {
	if err := CheckPrefix(s.Prefix); err != nil {
		return nil, err
	}
	seconds := int64(s.Resolution / time.Second)
	if seconds <= 0 || s.Resolution%time.Second != 0 {
		return nil, fmt.Errorf("resolution %s: whole seconds are wanted", s.Resolution)
	}
	fill := strings.NewReplacer("{prefix}", s.Prefix, "{seconds}", strconv.FormatInt(seconds, 10),
		"{micros}", strconv.FormatInt(seconds*1e6, 10))
	rendered := afero.NewMemMapFs()
	names, err := fs.Glob(migrationFiles, "migrations/*.sql")
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		text, err := migrationFiles.ReadFile(name)
		if err != nil {
			return nil, err
		}
		if err := afero.WriteFile(rendered, path.Base(name), []byte(fill.Replace(string(text))), 0o444); err != nil {
			return nil, err
		}
	}
	return afero.NewIOFS(rendered), nil
}

// lock keeps two migrations of the same tables apart, on a connection of its own.
func (s Schema) lock(ctx context.Context, db *sql.DB) (unlock func(), err error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	const name = "CONCAT('prescient:', LEFT(SHA2(CONCAT(DATABASE(), '/', ?), 256), 32))"
	const waitSeconds = 60
	var got sql.NullInt64
	err = conn.QueryRowContext(ctx, "SELECT GET_LOCK("+name+", ?)", s.Prefix, waitSeconds).Scan(&got)
	if err == nil && got.Int64 != 1 {
		err = fmt.Errorf("%w: waited %d s", ErrLocked, waitSeconds)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("locking the schema: %w", err), conn.Close())
	}
	return func() {
		// The lock goes with the connection if this fails.
		_, _ = conn.ExecContext(context.WithoutCancel(ctx), "DO RELEASE_LOCK("+name+")", s.Prefix)
		_ = conn.Close()
	}, nil
}

func results(all []*goose.MigrationResult) []Migrated {
	var list []Migrated
	for _, m := range all {
		list = append(list, Migrated{Name: m.Source.Path, Took: m.Duration})
	}
	return list
}
