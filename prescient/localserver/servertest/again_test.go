package servertest

import (
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"prescient/prescient/localserver"
	"prescient/sql/migrate"
)

// lent is a test inside a test: it ends when it is told to.
type lent struct {
	testing.TB
	ends   []func()
	failed bool
}

func (l *lent) Cleanup(end func()) { l.ends = append(l.ends, end) }
func (l *lent) Failed() bool       { return l.failed }
func (l *lent) end() {
	for _, end := range slices.Backward(l.ends) {
		end()
	}
	l.ends = nil
}

const rights = "GRANT SELECT, INSERT ON %s.app_calls TO '%s'@'%%'"

// begin has a test begin that wants the tables of an app, and accounts.
func begin(t *testing.T, kind Kind) (*lent, Database, *sql.DB) {
	t.Helper()
	l := &lent{TB: t}
	schema := migrate.Schema{Prefix: "p_", Resolution: 15 * time.Minute}
	d := kind.New(l).Migrated(l, Tables{Schema: schema, By: "migrations and app", Up: func(d Database) {
		db := d.Open(l, "sql_mode=%27STRICT_ALL_TABLES%27") // as it is where the command migrates
		_, err := migrate.Up(t.Context(), db, schema)
		must(t, err)
		mustDo(t, db, "CREATE TABLE app_settings (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, name VARCHAR(40), data VARBINARY(9)) ENGINE = InnoDB",
			"INSERT INTO app_settings (name, data) VALUES ('"+d.User("app")+"', x'00ff27')",
			"CREATE TABLE app_calls (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, n INT NOT NULL UNIQUE) ENGINE = InnoDB")
	}})
	db := d.Open(l, "multiStatements=true")
	d.Account(l, "app", []string{fmt.Sprintf(rights, d.Name, d.User("app"))}, func(statement string) { mustDo(t, db, statement) })
	return l, d, db
}

func mustDo(t *testing.T, db *sql.DB, statements ...string) {
	t.Helper()
	for _, statement := range statements {
		if _, err := db.Exec(statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
}

// all is what a test can find out about its database.
func (d Database) all(t *testing.T) string {
	t.Helper()
	ctx := t.Context()
	conn, disconnect, err := d.connect(ctx)
	must(t, err)
	defer disconnect()
	shape, err := d.shape(ctx, conn)
	must(t, err)
	shown, err := d.shown(ctx, conn, "app")
	must(t, err)
	look := []string{"SELECT table_name FROM mysql.innodb_table_stats WHERE database_name = DATABASE() AND table_name IN ('app_calls', 'p_future_job') AND n_rows > 0"}
	if d.Flavour == localserver.MySQL {
		look = append(look, "SET SESSION information_schema_stats_expiry = 0", "SELECT * FROM information_schema.column_statistics WHERE schema_name = DATABASE()")
	} else {
		look = append(look, "SELECT * FROM mysql.column_stats WHERE db_name = DATABASE()", "SELECT * FROM mysql.table_stats WHERE db_name = DATABASE()")
	}
	look = append(look, "SELECT table_name, COALESCE(auto_increment, 1) FROM information_schema.tables WHERE table_schema = DATABASE() ORDER BY table_name",
		"SELECT routine_name, definer FROM information_schema.routines WHERE routine_schema = DATABASE() ORDER BY 1")
	tables, err := texts(ctx, conn, "SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE() AND table_type = 'BASE TABLE' ORDER BY 1")
	must(t, err)
	for _, table := range strings.Fields(tables) {
		columns := table + ".*"
		if table == "p_slot_config" {
			columns = "id, resolution_s, resolution_to_s, version, migrated_to, changed_at BETWEEN UTC_TIMESTAMP(6) - INTERVAL 10 SECOND AND UTC_TIMESTAMP(6)"
		}
		look = append(look, "SELECT '"+table+"', "+columns+" FROM "+table)
	}
	found, err := texts(ctx, conn, strings.Join(look, "; "))
	must(t, err)
	password := strings.Index(shown, "GRANT") // MySQL shows it with salt
	return strings.ReplaceAll(shape+found+shown[password:], d.short(), "{short}")
}

// An app's test may do anything to its database: what the next test gets is as the first one's was.
func TestADatabaseThatIsUsedAgainIsLikeANewOne(t *testing.T) {
	analyze := map[localserver.Flavour]string{
		localserver.MariaDB: "ANALYZE TABLE app_settings PERSISTENT FOR ALL",
		localserver.MySQL:   "ANALYZE TABLE app_settings UPDATE HISTOGRAM ON name",
	}
	EachKind(t, func(t *testing.T, kind Kind) {
		test, d, db := begin(t, kind)
		as := d.all(t)
		beside, other, _ := begin(t, kind)
		if other.Name == d.Name {
			t.Fatal("two tests have the same database at the same time")
		}
		if all := other.all(t); all != as {
			t.Errorf("a database that is made at once is\n%s\nand the first was\n%s", all, as)
		}
		next := func(what string, again bool) {
			t.Helper()
			before := d.Name
			test.end()
			test, d, db = begin(t, kind)
			if (d.Name == before) != again {
				t.Errorf("after %s: the next test gets the same database: %v", what, !again)
			}
			if all := d.all(t); all != as {
				t.Errorf("after %s it is\n%s\nand at first it was\n%s", what, all, as)
			}
		}
		for _, tt := range []struct {
			again bool
			what  []string
		}{
			{true, []string{
				"DO 0",
				"INSERT INTO app_calls (n) VALUES (1), (2)",
				"INSERT INTO app_calls (n) VALUES (1), (2); DELETE FROM app_calls",
				"BEGIN; INSERT INTO app_calls (n) VALUES (1), (2); ROLLBACK",
				"INSERT INTO app_calls (n) SELECT p.id FROM app_settings p; ANALYZE TABLE app_calls",
				"UPDATE app_settings SET data = '1'",
				"DELETE FROM app_settings",
				"DELETE FROM p_schema_version",
				"UPDATE p_slot_config SET changed_at = changed_at - INTERVAL 1 DAY",
				"UPDATE p_slot_config SET version = 2",
				"ALTER TABLE app_calls ADD x INT; ALTER TABLE app_calls DROP x",
			}},
			{false, []string{
				"BEGIN; INSERT INTO app_settings (name) VALUES ('x'); ROLLBACK", // it counts on from there
				"ALTER TABLE app_calls COMMENT 'x'",
				"ALTER TABLE app_calls RENAME COLUMN n TO m",
				"DROP TABLE p_schema_version",
				"CREATE TABLE more (n INT)",
				"CREATE OR REPLACE VIEW p_history_times AS SELECT 1",
				"DROP VIEW p_history_times",
				"DROP PROCEDURE p_cancel",
				"CREATE TRIGGER more BEFORE INSERT ON app_calls FOR EACH ROW SET NEW.n = 1",
				"CREATE EVENT more ON SCHEDULE EVERY 1 DAY DO DO 0",
				"ALTER DATABASE COLLATE utf8mb4_bin",
				analyze[kind.Flavour()],
				"GRANT DELETE ON app_calls TO 'app'",
				"REVOKE INSERT ON app_calls FROM 'app'",
				"ALTER USER 'app' ACCOUNT LOCK",
				"ALTER USER 'app' WITH MAX_USER_CONNECTIONS 1",
				"ALTER USER 'app' IDENTIFIED BY 'other'",
				"DROP USER 'app'",
			}},
		} {
			for _, what := range tt.what {
				mustDo(t, db, strings.ReplaceAll(what, "'app'", "'"+d.User("app")+"'@'%'"))
				next(what, tt.again)
			}
		}
		test.failed = true
		next("a test that fails", false)
		left, err := sql.Open("mysql", d.DSN)
		must(t, err)
		mustDo(t, left, "DO 0")
		next("a test that leaves a connection", false)
		must(t, left.Close())
		beside.end()
		test.end()
	})
}
