package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/errno"
	"prescient/slots"
	text "prescient/sql"
)

// VersionLasts is for how long a client inserts without a look at slot_config's version.
const VersionLasts = 5 * time.Second

// Tables is one installation: its statements, its grid, and the version of slot_config that all of it was read at.
type Tables struct {
	Stmt    text.Statements
	Server  text.Server
	Dialect text.Dialect // Full or Plain
	Prefix  string
	Grid    slots.Grid
	Version uint64
	Keys    Keys // where those of its rows lie
}

// NameTables is OpenTables without a look at the tables: it has no grid and no version.
func NameTables(ctx context.Context, db prescient.DB, prefix string, dialect text.Dialect) (Tables, error) {
	if err := text.CheckPrefix(prefix); err != nil {
		return Tables{}, fmt.Errorf("%w: %w", prescient.ErrInvalid, err)
	}
	server, dialect, err := dialect.Choose(ctx, db)
	if errors.Is(err, text.ErrDialect) {
		return Tables{}, fmt.Errorf("%w: %w", prescient.ErrInvalid, err)
	} else if err != nil {
		return Tables{}, err
	}
	statements, err := text.LoadOn(server, dialect, prefix)
	if err != nil {
		return Tables{}, fmt.Errorf("%w: %w", prescient.ErrInvalid, err)
	}
	t := Tables{Stmt: statements, Server: server, Dialect: dialect, Prefix: prefix}
	if server == text.VitessShard {
		var target string
		if err := QueryRow(ctx, db, []any{&target}, "SELECT DATABASE()"); err != nil {
			return Tables{}, fmt.Errorf("asking for the shard: %w", err)
		}
		t.Keys = KeysOf(target)
	}
	return t, nil
}

// OpenTables reads slot_config, in the dialect that a setting comes to on the server. A resolution of zero takes what is
// there; any other must be the same.
func OpenTables(ctx context.Context, db prescient.DB, prefix string, resolution time.Duration, dialect text.Dialect) (Tables, error) {
	t, err := NameTables(ctx, db, prefix, dialect)
	if err != nil {
		return Tables{}, err
	}
	var seconds, goesTo, schema int64
	err = QueryRow(ctx, db, []any{&seconds, &t.Version, &goesTo, &schema}, t.Stmt.Get("list/config"))
	switch {
	case errno.Is(err, errno.NoSuchColumn):
		return Tables{}, fmt.Errorf("%w: %sslot_config is of an earlier version, and this program needs version %d", prescient.ErrNotMigrated, prefix, text.SchemaVersion)
	case errno.Unrouted(err):
		return Tables{}, fmt.Errorf("%w: the VSchema of the keyspace has no %sslot_config: prescient vschema --apply says to Vitess where rows lie", prescient.ErrNotMigrated, prefix)
	case errno.Is(err, errno.NoSuchTable), errors.Is(err, sql.ErrNoRows):
		return Tables{}, fmt.Errorf("%w: %sslot_config is missing or empty", prescient.ErrNotMigrated, prefix)
	case err != nil:
		return Tables{}, fmt.Errorf("reading slot_config: %w", err)
	}
	stored := time.Duration(seconds) * time.Second
	if goesTo != 0 {
		return Tables{}, unfinishedReslot(stored, time.Duration(goesTo)*time.Second)
	}
	if resolution != 0 && resolution != stored {
		return Tables{}, fmt.Errorf("%w: the tables have %s, not %s; set slots.resolution to %[2]s", prescient.ErrResolution, slots.Short(stored), slots.Short(resolution))
	}
	if err := t.HasSchema(schema); err != nil {
		return Tables{}, err
	}
	t.Grid, err = slots.NewGrid(stored)
	return t, err
}

// HasSchema refuses tables that lack migrations; zero is the version of a first migration that was broken off. Tables that are ahead are
// taken: migrations only add.
func (t *Tables) HasSchema(version int64) error {
	if version >= text.SchemaVersion {
		return nil
	}
	return fmt.Errorf("%w: by %sslot_config they are of version %d, and this program needs version %d",
		prescient.ErrNotMigrated, t.Prefix, version, text.SchemaVersion)
}

// SameVersion checks a version just read against the one at the start.
func (t *Tables) SameVersion(version uint64) error {
	if version != t.Version {
		return fmt.Errorf("%w: it was at version %d and is at %d. Start this program again; if the resolution is another now, set slots.resolution first", prescient.ErrConfigChanged, t.Version, version)
	}
	return nil
}

// Fill puts values for the words in braces into a statement. What is Shared is locked ToChange on TiDB, which refuses to share a lock.
func (t *Tables) Fill(statement string, pairs ...string) string {
	if t.Server == text.TiDB {
		pairs = slices.Clone(pairs)
		for i, value := range pairs {
			if value == Shared {
				pairs[i] = ToChange
			}
		}
	}
	return strings.NewReplacer(pairs...).Replace(t.Stmt.Get(statement))
}

// unfinishedReslot is the error of whoever starts meanwhile.
func unfinishedReslot(from, to time.Duration) error {
	return fmt.Errorf("%w from %s to %s, and nothing runs meanwhile. Run reslot --resolution %[3]s: it waits where another reslot is still running, and ends one that was interrupted. "+
		"Then set slots.resolution to %[3]s", prescient.ErrReslotting, slots.Short(from), slots.Short(to))
}
