package acceptance

import (
	"fmt"
	"io/fs"
	"path"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/pressly/goose/v3"

	"prescient/prescient/internal/rig"
	text "prescient/sql"
	"prescient/sql/migrate"
)

// made is a migration that no version has: what the next one may bring.
type made struct{ full, plain string }

// cancelAnew makes the procedure anew.
var cancelAnew = made{full: "-- +file procedures/cancel.sql\n", plain: "DO 0;\n"}

// further adds a column, an index and a table, and a CHECK unless rows of before do not keep to it.
var further = made{
	full: once("columns", "table_name = '{prefix}slot_config' AND column_name = 'further'", "ALTER TABLE {prefix}slot_config ADD COLUMN further VARCHAR(64) NOT NULL DEFAULT ''none''") +
		once("columns", "table_name = '{prefix}future_job' AND column_name = 'further'", "ALTER TABLE {prefix}future_job ADD COLUMN further VARCHAR(64) NOT NULL DEFAULT ''none'', ADD KEY further (further)") +
		once("columns", "table_name = '{prefix}job_history' AND column_name = 'further'", "ALTER TABLE {prefix}job_history ADD COLUMN further VARCHAR(64) NOT NULL DEFAULT ''none''") +
		once("columns", "table_name = '{prefix}slot_run' AND column_name = 'further'", "ALTER TABLE {prefix}slot_run ADD COLUMN further VARCHAR(64) NOT NULL DEFAULT ''none''") +
		"ALTER TABLE {prefix}job_pause ADD COLUMN further VARCHAR(64) NOT NULL DEFAULT 'none';\n" +
		once("table_constraints", "table_name = '{prefix}future_job' AND constraint_name = '{prefix}future_job_further') OR EXISTS (SELECT 1 FROM {prefix}future_job WHERE tag = 'before'",
			"ALTER TABLE {prefix}future_job ADD CONSTRAINT {prefix}future_job_further CHECK (tag <> ''before'')") +
		"CREATE TABLE IF NOT EXISTS {prefix}further (\n  id INT NOT NULL,\n  PRIMARY KEY (id)\n) ENGINE = InnoDB;\n",
	plain: "ALTER TABLE {prefix}future_job ADD COLUMN further VARCHAR(64) NOT NULL DEFAULT 'none';\nALTER TABLE {prefix}future_job ADD KEY further (further);\n" +
		"CREATE TABLE IF NOT EXISTS {prefix}further (\n  id INT NOT NULL,\n  PRIMARY KEY (id)\n) ENGINE = InnoDB;\n",
}

// once is an ALTER that is left out where it was done.
func once(table, done, alter string) string {
	return "SET @prescient_ddl = IF(EXISTS (SELECT 1 FROM information_schema." + table + " WHERE table_schema = DATABASE() AND " + done + "),\n  'DO 0', '" + alter + "');\n" +
		"PREPARE prescient_step FROM @prescient_ddl;\nEXECUTE prescient_step;\nDEALLOCATE PREPARE prescient_step;\n"
}

// with is a migration that does both.
func (m made) with(other made) made { return made{m.full + other.full, m.plain + other.plain} }

// onlyIn marks lines as those of a dialect.
func onlyIn(dialect text.Dialect, lines string) string {
	return strings.ReplaceAll(lines, "\n", " -- only "+string(dialect)+"\n")
}

// baseline is the version of the first migration, and released how many there are.
const (
	baseline = 36
	released = text.SchemaVersion - baseline + 1
)

// laterSet are the migrations of this program and others that follow.
func laterSet(t testing.TB, later ...made) *migrate.Set {
	t.Helper()
	set := migrate.Newest()
	all := fstest.MapFS{}
	rig.Fatal(t, fs.WalkDir(set.Files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		file, err := fs.ReadFile(set.Files, name)
		all[name] = &fstest.MapFile{Data: file}
		return err
	}))
	for _, m := range later {
		set.Version++
		name := fmt.Sprintf("migrations/%05d_later.sql", set.Version)
		all[name] = &fstest.MapFile{Data: fmt.Appendf(nil, "-- What a later version brings.\n-- Locks what it alters, once the transactions that have used it are over.\n\n"+
			"-- +goose NO TRANSACTION\n-- +goose Up\n%s%sUPDATE {prefix}slot_config SET migrated_to = GREATEST(migrated_to, %d);\n\n"+
			"-- +goose Down\nDROP TABLE IF EXISTS {prefix}further;\nUPDATE {prefix}slot_config SET migrated_to = %d;\n",
			onlyIn(text.Full, m.full), onlyIn(text.Plain, m.plain), set.Version, set.Version-1)}
	}
	set.Files = all
	return &set
}

// baselineAlone is the first migration.
func baselineAlone(t testing.TB) *migrate.Set {
	t.Helper()
	set := laterSet(t)
	all := set.Files.(fstest.MapFS)
	for name := range all {
		if version, err := goose.NumericComponent(path.Base(name)); err == nil && version > baseline {
			delete(all, name)
		}
	}
	set.Version = baseline
	return set
}

// What a later version brings is added to the tables that are there, and mended like what was there before.
func TestALaterMigrationBringsTheTablesUpToDate(t *testing.T) {
	eachEmpty(t, func(i installation) {
		ctx := i.t.Context()
		i.up(released)
		before := i.schema
		i.schema.Set = laterSet(i.t, cancelAnew.with(further))
		i.pending(1)
		plan, err := migrate.Plan(ctx, i.db, i.schema)
		if err != nil || len(plan) != 1 || plan[0].Name != fmt.Sprintf("%05d_later.sql", newest+1) || !strings.Contains(plan[0].About, "Locks what it alters") {
			i.t.Fatalf("%+v, %v", plan, err)
		}
		i.up(1)
		i.up(0)
		i.exec("DELETE FROM p_schema_version WHERE version_id = ?", newest+1) // as where it was interrupted at its end
		i.up(1)
		sound := func() {
			i.t.Helper()
			if found, err := migrate.Damages(ctx, i.db, i.schema); err != nil || len(found) > 0 {
				i.t.Errorf("%+v, %v", found, err)
			}
		}
		sound()
		var version int64
		rig.Fatal(i.t, i.db.QueryRow("SELECT migrated_to FROM p_slot_config").Scan(&version))
		if version != newest+1 {
			i.t.Errorf("the tables are migrated to %d", version)
		}
		i.exec("ALTER TABLE p_future_job DROP KEY further")
		did, err := migrate.Repair(ctx, i.db, i.schema)
		if err != nil || len(did.Done) != 1 || did.Done[0].Name != "further" || len(did.Left) != 0 {
			i.t.Errorf("%+v, %v", did, err)
		}
		sound()
		if list, err := migrate.Up(ctx, i.db, before); err != nil || len(list) != 0 {
			i.t.Errorf("a program of the version before does %+v, %v", list, err)
		}
		undone, err := migrate.Down(ctx, i.db, i.schema)
		if left := i.tables(); err != nil || len(undone) != released+1 || len(left) != 0 {
			i.t.Errorf("undone %v, %v; %q are left", undone, err, left)
		}
	})
}

// A migration goes on wherever it was broken off.
func TestALaterMigrationThatIsBrokenOffGoesOn(t *testing.T) {
	eachEmpty(t, func(i installation) {
		ctx := i.t.Context()
		i.up(released)
		base := i.schema
		i.schema.Set = laterSet(i.t, cancelAnew.with(further))
		plan, err := migrate.Plan(ctx, i.db, i.schema)
		rig.Fatal(i.t, err)
		statements := plan[0].Statements
		for _, n := range []int{1, len(statements) / 2, len(statements)} {
			conn, err := i.db.Conn(ctx) // its statements are prepared on one
			rig.Fatal(i.t, err)
			for _, statement := range statements[:n] {
				_, err := conn.ExecContext(ctx, statement)
				rig.Fatal(i.t, err)
			}
			rig.Fatal(i.t, conn.Close())
			i.up(1)
			if found, err := migrate.Damages(ctx, i.db, i.schema); err != nil || len(found) > 0 {
				i.t.Errorf("after %d statements: %+v, %v", n, found, err)
			}
			_, err = migrate.Down(ctx, i.db, i.schema)
			rig.Fatal(i.t, err)
			_, err = migrate.Up(ctx, i.db, base)
			rig.Fatal(i.t, err)
		}
	})
}
