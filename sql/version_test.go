package sql

import (
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/pressly/goose/v3"
)

// What programs look at when they open the tables is set by the migrations themselves.
func TestEachMigrationTellsItsVersion(t *testing.T) {
	const first = 10 // which adds the column
	names, err := fs.Glob(migrationFiles, "migrations/*.sql")
	if err != nil || len(names) == 0 {
		t.Fatalf("%d migrations, %v", len(names), err)
	}
	newest := int64(0)
	for _, name := range names {
		version, err := goose.NumericComponent(name)
		if err != nil {
			t.Fatal(err)
		}
		newest = max(newest, version)
		text, err := migrationFiles.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		up, down, _ := strings.Cut(string(text), "-- +goose Down")
		raises := fmt.Sprintf("UPDATE {prefix}slot_config SET schema_version = GREATEST(schema_version, %d);", version)
		if lines := strings.TrimSpace(up); version >= first && !strings.HasSuffix(lines, raises) {
			t.Errorf("%s does not end with %s", name, raises)
		}
		lowers := fmt.Sprintf("UPDATE {prefix}slot_config SET schema_version = %d;", version-1)
		if version > first && !strings.Contains(down, lowers) {
			t.Errorf("%s does not undo with %s", name, lowers)
		}
	}
	if got, err := Version(); err != nil || got != newest {
		t.Errorf("version %d, %v; want %d", got, err, newest)
	}
}
