package sql

import (
	"fmt"
	"io/fs"

	"github.com/pressly/goose/v3"
)

// Version returns the number of the newest migration: the schema version that this program needs. It works with every
// later one too, since migrations only add.
func Version() (version int64, err error) {
	names, err := fs.Glob(migrationFiles, "migrations/*.sql")
	if err != nil {
		return 0, err
	}
	for _, name := range names {
		n, err := goose.NumericComponent(name)
		if err != nil {
			return 0, fmt.Errorf("reading the number of %s: %w", name, err)
		}
		version = max(version, n)
	}
	return version, nil
}
