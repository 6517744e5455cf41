package acceptance

import (
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/errno"
	"prescient/prescient/internal/literal"
	"prescient/prescient/internal/rig"
	"prescient/prescient/localserver/servertest"
	text "prescient/sql"
	"prescient/sql/migrate"
)

// installation is what a test makes tables with.
type installation struct {
	t      *testing.T
	d      servertest.Database
	db     *sql.DB
	schema migrate.Schema
}

// eachEmpty runs a test on each server, beside other tests: it mostly waits for DDL.
func eachEmpty(t *testing.T, test func(i installation)) {
	t.Parallel()
	servertest.Each(t, func(t *testing.T, d servertest.Database) {
		test(installation{t: t, d: d, db: d.Open(t, ""), schema: migrate.Schema{Prefix: "p_", Resolution: 15 * time.Minute, Dialect: rig.Dialect()}})
	})
}

// migrations is how many there are.
func (i installation) migrations() int {
	i.t.Helper()
	entries, err := fs.ReadDir(migrate.Newest().Files, "migrations")
	rig.Fatal(i.t, err)
	return len(entries)
}

// up applies all migrations, of which as many must have been missing.
func (i installation) up(wantApplied int) {
	i.t.Helper()
	applied, err := migrate.Up(i.t.Context(), i.db, i.schema)
	if err != nil || len(applied) != wantApplied {
		i.t.Fatalf("applied %v, %v; want %d migrations", applied, err, wantApplied)
	}
	i.pending(0)
}

func (i installation) pending(want int) {
	i.t.Helper()
	if missing, err := migrate.Pending(i.t.Context(), i.db, i.schema); err != nil || missing != want {
		i.t.Fatalf("%d migrations are missing, %v; want %d", missing, err, want)
	}
}

func (i installation) exec(query string, args ...any) {
	i.t.Helper()
	_, err := i.db.ExecContext(i.t.Context(), query, args...)
	rig.Fatal(i.t, err)
}

// tables lists the tables, views and procedures of the database.
func (i installation) tables() []string {
	i.t.Helper()
	rows, err := i.db.Query(`SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE()
		UNION ALL SELECT routine_name FROM information_schema.routines WHERE routine_schema = DATABASE()`)
	rig.Fatal(i.t, err)
	defer rows.Close()
	names := []string{}
	for rows.Next() {
		var name string
		rig.Fatal(i.t, rows.Scan(&name))
		names = append(names, name)
	}
	rig.Fatal(i.t, rows.Err())
	slices.Sort(names)
	return names
}

// works inserts a row as plain SQL does, and looks where it went.
func (i installation) works(due, slot string) {
	i.t.Helper()
	table := i.schema.Prefix + "future_job"
	i.exec("INSERT INTO " + table + " (entity_name, entity_key, job_exec, due_at) VALUES ('order', '42', 'x', '2026-11-20 " + due + "')")
	var first, next, key string
	rig.Fatal(i.t, i.db.QueryRow("SELECT CAST(first_check_at AS CHAR), CAST(next_check_at AS CHAR), HEX(job_key) FROM "+table).Scan(&first, &next, &key))
	if want := "2026-11-20 " + slot; first != want || next != want || key != prescient.KeyOf(prescient.Entity{Name: "order", Key: "42"}, "x", "").String() {
		i.t.Errorf("%s went to %s, %s; want %s", due, first, next, want)
	}
	i.exec("DELETE FROM " + table)
}

// complete checks that the tables are there, and nothing besides but what else has their prefix.
func (i installation) complete() {
	i.t.Helper()
	all := i.tables()
	for _, name := range []string{"future_job", "job_history", "schema_version", "slot_config", "slot_run"} {
		if !slices.Contains(all, i.schema.Prefix+name) {
			i.t.Errorf("%s%s is missing among %q", i.schema.Prefix, name, all)
		}
	}
	for _, name := range all {
		if !strings.HasPrefix(name, i.schema.Prefix) {
			i.t.Errorf("%s has not the prefix", name)
		}
	}
}

func TestMigrationsGoUpAndDownAndUpAgain(t *testing.T) {
	eachEmpty(t, func(i installation) {
		i.needs(rig.ColumnDefaults)
		n := i.migrations()
		i.pending(n)
		if left := i.tables(); len(left) != 0 {
			i.t.Errorf("a look at what is missing made %q", left)
		}
		for range 2 {
			i.up(n)
			i.up(0)
			i.complete()
			i.works("13:00:00.000001", "13:15:00")
			undone, err := migrate.Down(i.t.Context(), i.db, i.schema)
			if left := i.tables(); err != nil || len(undone) != n || len(left) != 0 {
				i.t.Fatalf("undone %v, %v; %q are left", undone, err, left)
			}
			i.pending(n)
		}
	})
}

func TestTwoInstallationsShareADatabase(t *testing.T) {
	eachEmpty(t, func(i installation) {
		i.needs(rig.ColumnDefaults)
		long := i
		long.schema = migrate.Schema{Prefix: strings.Repeat("l", text.MaxPrefixLen), Resolution: time.Minute}
		none := i
		none.schema = migrate.Schema{Resolution: 24 * time.Hour}
		n := i.migrations()
		i.up(n)
		alone := i.tables()
		long.up(n)
		none.up(n)
		i.works("13:00:00.000001", "13:15:00")
		long.works("13:00:00.000001", "13:01:00")
		none.works("00:00:00", "00:00:00")
		for _, other := range []installation{long, none} {
			_, err := migrate.Down(i.t.Context(), i.db, other.schema)
			rig.Fatal(i.t, err)
		}
		if left := i.tables(); !slices.Equal(left, alone) {
			i.t.Errorf("left are %q; want %q", left, alone)
		}
		i.works("13:15:00", "13:15:00")
	})
}

func TestMigrationsAtTheSameTimeWaitForOneAnother(t *testing.T) {
	eachEmpty(t, func(i installation) {
		i.needs(rig.ColumnDefaults)
		var all sync.WaitGroup
		var mu sync.Mutex
		applied := 0
		for range 4 {
			db := i.d.Open(i.t, "")
			all.Go(func() {
				list, err := migrate.Up(i.t.Context(), db, i.schema)
				mu.Lock()
				defer mu.Unlock()
				applied += len(list)
				if err != nil {
					i.t.Error(err)
				}
			})
		}
		all.Wait()
		if want := i.migrations(); applied != want {
			i.t.Errorf("%d migrations were applied by four at once; want each of the %d once", applied, want)
		}
		i.works("13:00:00.000001", "13:15:00")
	})
}

// DDL commits by itself: what was interrupted has made a table, but has not noted that it did.
func TestAnInterruptedMigrationCanBeRunAgain(t *testing.T) {
	for name, interrupt := range map[string][]string{
		"nothing noted":      {"DELETE FROM p_schema_version WHERE version_id > 0"},
		"the last not noted": {"DELETE FROM p_schema_version ORDER BY version_id DESC LIMIT 1"},
		"half-way": {"DROP TABLE p_slot_run", "DROP TABLE p_job_history", "DROP TABLE p_future_job",
			"DELETE FROM p_slot_config", "DELETE FROM p_schema_version WHERE version_id > 0"},
		"before the first": {"DROP TABLE p_slot_run, p_job_history, p_future_job, p_slot_config", "DELETE FROM p_schema_version WHERE version_id > 0"},
		"the books lost":   {"DROP TABLE p_schema_version"},
	} {
		t.Run(name, func(t *testing.T) {
			eachEmpty(t, func(i installation) {
				i.needs(rig.ColumnDefaults)
				i.up(i.migrations())
				all := i.tables()
				for _, statement := range interrupt {
					i.exec(statement)
				}
				_, err := migrate.Up(i.t.Context(), i.db, i.schema)
				rig.Fatal(i.t, err)
				i.pending(0)
				if got := i.tables(); !slices.Equal(got, all) {
					i.t.Errorf("there are %q; want %q", got, all)
				}
				i.works("13:00:00.000001", "13:15:00")
				var seconds int
				if err := i.db.QueryRow("SELECT resolution_s FROM p_slot_config").Scan(&seconds); err != nil || seconds != 900 {
					i.t.Errorf("resolution %d, %v", seconds, err)
				}
			})
		})
	}
}

func TestTablesAreNotMadeForAResolutionThatIsWrong(t *testing.T) {
	eachEmpty(t, func(i installation) {
		refused := func(resolution time.Duration, says ...string) {
			i.t.Helper()
			before := i.tables()
			_, err := migrate.Up(i.t.Context(), i.db, migrate.Schema{Prefix: "p_", Resolution: resolution})
			if !errors.Is(err, migrate.ErrResolution) || slices.ContainsFunc(says, func(s string) bool { return !strings.Contains(err.Error(), s) }) {
				i.t.Errorf("%s: %v; want ErrResolution with %q", resolution, err, says)
			}
			if after := i.tables(); len(before) > 0 && !slices.Equal(before, after) {
				i.t.Errorf("%s: tables %q became %q", resolution, before, after)
			}
		}
		for _, wrong := range []time.Duration{0, -time.Minute, time.Millisecond, 1500 * time.Millisecond, 7 * time.Minute, 48 * time.Hour, 9 * time.Hour} {
			refused(wrong, wrong.String())
		}
		i.up(i.migrations())
		refused(5*time.Minute, "5m0s is wanted", "p_slot_config has 15m0s")
		// Half-way through the first time, when only the first table is there.
		i.exec("DROP TABLE p_slot_run, p_job_history, p_future_job, p_schema_version")
		refused(5*time.Minute, "15m0s")
		i.up(i.migrations())
		_, err := migrate.Up(i.t.Context(), i.db, migrate.Schema{Prefix: "P", Resolution: time.Minute})
		if !errors.Is(err, text.ErrPrefix) {
			i.t.Errorf("%v; want ErrPrefix", err)
		}
	})
}

func TestAMigrationOnAPoolOfOneConnectionIsRefused(t *testing.T) {
	eachEmpty(t, func(i installation) {
		i.db.SetMaxOpenConns(1)
		if _, err := migrate.Up(i.t.Context(), i.db, i.schema); err == nil || !strings.Contains(err.Error(), "second connection") {
			i.t.Errorf("%v; want to hear of the second connection", err)
		}
		i.db.SetMaxOpenConns(2)
		i.up(i.migrations())
	})
}

// Whatever an app's connection is set to, tables that are made on it are the same.
func TestMigrationsBearAnyConnection(t *testing.T) {
	for _, params := range []string{"sql_mode=%27%27", "sql_mode=%27ANSI_QUOTES,PIPES_AS_CONCAT,NO_BACKSLASH_ESCAPES,IGNORE_SPACE%27",
		"time_zone=%27%2B13:00%27&loc=Local&parseTime=true", "charset=latin1", "multiStatements=true&interpolateParams=true"} {
		t.Run(params, func(t *testing.T) {
			eachEmpty(t, func(i installation) {
				i.needs(rig.ColumnDefaults)
				plain := i.db
				i.db = i.d.Open(i.t, params)
				i.up(i.migrations())
				i.db = plain
				i.works("13:00:00.000001", "13:15:00")
				i.works("13:15:00.000000", "13:15:00")
			})
		})
	}
}

func TestTheTablesRefuseWhatWouldNeverRun(t *testing.T) {
	eachEmpty(t, func(i installation) {
		i.needs(rig.ColumnDefaults)
		i.up(i.migrations())
		for _, mode := range []string{"STRICT_ALL_TABLES", ""} {
			db := i.d.Open(i.t, "sql_mode=%27"+mode+"%27")
			for _, statement := range []string{
				"INSERT INTO p_slot_config (id, resolution_s) VALUES (2, 900)",
				"INSERT INTO p_slot_config (resolution_s) VALUES (900)",
				"UPDATE p_slot_config SET id = 0",
				"UPDATE p_slot_config SET resolution_s = 420",
				"UPDATE p_slot_config SET resolution_s = 0",
				"UPDATE p_slot_config SET resolution_s = 172800",
				plainInsert("'2026-11-20 13:00:00'", "'2026-11-20 13:00:01'"),
				plainInsert("'2026-11-20 13:00:00'", "'2026-11-20 13:07:30'"),
				plainInsert("'2026-11-20 13:00:00'", "NULL"),
				plainInsert("'0000-00-00'", "'0000-00-00'"),
				plainInsert("'2026-11-20 13:00:00'", "DEFAULT"),
				plainInsert("'0000-00-00'", ""),
				plainInsert("'tomorrow'", ""),
				plainInsert("'9999-12-31 23:59:59'", ""),
				plainInsert("'0001-01-01 00:00:00'", ""),
				"INSERT INTO p_future_job (entity_name, entity_key, job_exec, due_at) SELECT 'order', n, 'x', 'tomorrow' FROM (SELECT 1 AS n UNION SELECT 2) two",
			} {
				if _, err := db.ExecContext(i.t.Context(), statement); err == nil {
					i.t.Errorf("with sql_mode %q this went through: %s", mode, statement)
				}
			}
		}
		i.exec(plainInsert("'2026-11-20 13:07:00'", ""))
		if _, err := i.db.Exec("UPDATE p_future_job SET next_check_at = '2026-11-20 13:07:00'"); !errno.Is(err, errno.CheckMySQL, errno.CheckMariaDB) {
			i.t.Errorf("a row was moved off the grid: %v", err)
		}
		if _, err := i.db.Exec(plainInsert("'2026-11-20 14:07:00'", "")); !errno.Is(err, errno.DuplicateKey) {
			i.t.Errorf("the same job twice: %v", err)
		}
	})
}

// plainInsert gives next_check_at only where one is given.
func plainInsert(due, next string) string {
	columns, values := "entity_name, entity_key, job_exec, due_at", "'order', '42', 'x', "+due
	if next != "" {
		columns, values = columns+", next_check_at", values+", "+next
	}
	return "INSERT INTO p_future_job (" + columns + ") VALUES (" + values + ")"
}

// A plain INSERT and the client come to the same slot and key, for whatever names and times.
func TestDefaultsOfTheTableAgreeWithTheClient(t *testing.T) {
	for _, resolution := range []time.Duration{time.Second, 15 * time.Minute, 24 * time.Hour} {
		t.Run(resolution.String(), func(t *testing.T) {
			eachEmpty(t, func(i installation) {
				i.needs(rig.ColumnDefaults)
				i.schema.Resolution = resolution
				i.up(i.migrations())
				grid := rig.GridOf(i.t, resolution)
				want := make(map[string]string)
				for n := range 200 {
					due := time.Date(1971, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(rand.Int64N(200*365*24*3600)) * time.Second)
					switch n % 4 {
					case 0:
						due = grid.Ceil(due)
					case 1:
						due = grid.Ceil(due).Add(time.Microsecond)
					case 2:
						due = grid.Ceil(due).Add(-time.Microsecond)
					}
					e := prescient.Entity{Name: "Order._-", Key: fmt.Sprintf("%d größe 😀 '\"\\\x00 ", n)}
					tag := []string{"", "T", "ß ", "😀"}[n%4]
					want[prescient.KeyOf(e, "x.y", tag).String()] = grid.Ceil(due).Format(literal.SecondLayout)
					i.exec("INSERT INTO p_future_job (entity_name, entity_key, job_exec, tag, due_at) VALUES (?, ?, ?, ?, ?)",
						e.Name, e.Key, "x.y", tag, due.Format(literal.MicroLayout))
				}
				rows, err := i.db.Query("SELECT job_key, CAST(next_check_at AS CHAR) FROM p_future_job WHERE first_check_at = next_check_at")
				rig.Fatal(i.t, err)
				defer rows.Close()
				n := 0
				for ; rows.Next(); n++ {
					var key []byte
					var slot string
					rig.Fatal(i.t, rows.Scan(&key, &slot))
					if expected := want[strings.ToUpper(hex.EncodeToString(key))]; slot != expected {
						i.t.Errorf("key %X is at %s; want %q", key, slot, expected)
					}
				}
				if err := rows.Err(); err != nil || n != len(want) {
					i.t.Errorf("%d rows, %v; want %d", n, err, len(want))
				}
			})
		})
	}
}
