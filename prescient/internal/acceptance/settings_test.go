package acceptance

import (
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"prescient/prescient"
	"prescient/prescient/connect"
	"prescient/prescient/doctor"
	"prescient/prescient/internal/errno"
	"prescient/prescient/internal/rig"
	"prescient/prescient/localserver"
	"prescient/prescient/localserver/servertest"
	"prescient/prescient/worker"
	"prescient/sql/migrate"
)

// inTheWay is a setting of a server, and how it shows that it's in prescient's way.
type inTheWay struct {
	name, value string
	severity    doctor.Severity
	// harm fails or misses something with connections that the setting holds for, and inDSN cures that; none for a setting that
	// a DSN cannot change.
	harm  func(r *testRig, inDSN string) error
	inDSN string
}

// harmful are settings that a running server takes, on those servers that have them.
func harmful() []inTheWay {
	return []inTheWay{
		{"transaction_read_only", "ON", doctor.SeverityBad, (*testRig).insertsOnAPool, "transaction_read_only=0"},
		{"tx_read_only", "ON", doctor.SeverityBad, (*testRig).insertsOnAPool, "tx_read_only=0"},
		{"autocommit", "OFF", doctor.SeverityBad, (*testRig).insertsOnAPool, "autocommit=1"},
		{"init_connect", "SET autocommit = 0", doctor.SeverityWarn, (*testRig).insertsOnAPool, "autocommit=1"},
		{"completion_type", "CHAIN", doctor.SeverityBad, (*testRig).cancelsTwo, "completion_type=0"},
		{"completion_type", "RELEASE", doctor.SeverityBad, (*testRig).migratesAnother, "completion_type=0"},
		{"sql_select_limit", "1", doctor.SeverityBad, (*testRig).cancelsTwo, "sql_select_limit=18446744073709551615"},
		{"max_join_size", "100", doctor.SeverityWarn, (*testRig).joinsMany, "sql_big_selects=1"},
		{"sql_safe_updates", "ON", doctor.SeverityBad, (*testRig).migratesAnother, "sql_safe_updates=0"},
		{"max_prepared_stmt_count", "0", doctor.SeverityWarn, (*testRig).migratesAnother, ""},
		{"enforce_storage_engine", "Aria", doctor.SeverityWarn, (*testRig).migratesAnother, ""},
		{"max_statement_time", "1", doctor.SeverityWarn, sessionHasNot("max_statement_time"), "max_statement_time=0"},
		{"max_execution_time", "1000", doctor.SeverityWarn, sessionHasNot("max_execution_time"), "max_execution_time=0"},
		{"idle_readonly_transaction_timeout", "1", doctor.SeverityWarn, sessionHasNot("idle_readonly_transaction_timeout"), "idle_readonly_transaction_timeout=0"},
		{"idle_write_transaction_timeout", "1", doctor.SeverityWarn, sessionHasNot("idle_write_transaction_timeout"), "idle_write_transaction_timeout=0"},
		{"max_user_connections", "10", doctor.SeverityWarn, (*testRig).connectsAsOftenAsAWorker, ""},
		{"innodb_deadlock_detect", "OFF", doctor.SeverityWarn, (*testRig).hasADeadlockEnded, ""},
		{"offline_mode", "ON", doctor.SeverityBad, (*testRig).insertsOnAPool, ""},
	}
}

// Each setting that is in the way is named by the doctor, does harm, and is cured by what the doctor says.
func TestTheDoctorNamesEachSettingThatIsInTheWay(t *testing.T) {
	t.Parallel()
	servertest.EachKind(t, func(t *testing.T, kind servertest.Kind) {
		// A server that was started without any such limit could not be given one.
		r := newRig(t, servertest.On(t, kind.Private(t, "--max-user-connections=90")), 15*time.Minute)
		r.Needs(t, rig.ColumnDefaults)
		for _, role := range []string{"app-reschedule", "owner", "worker"} {
			r.Account(role)
		}
		root, err := r.Root.Conn(t.Context())
		r.Must(err)
		defer root.Close()
		r.Root.SetMaxIdleConns(0) // each of its connections has the settings of its moment
		r.names("", doctor.SeverityOK)
		for _, s := range harmful() {
			var was sql.NullString
			if root.QueryRowContext(t.Context(), "SELECT @@GLOBAL."+s.name).Scan(&was) != nil {
				continue // this server does not have it
			}
			set := func(value string) {
				if _, err := root.ExecContext(t.Context(), "SET GLOBAL "+s.name+" = "+value); err != nil {
					t.Fatalf("%s: %v", s.name, err)
				}
			}
			set(literalOf(s.value))
			r.names(strings.TrimPrefix(s.name, "tx")+" is "+s.value, s.severity) // two names of one
			if s.harm(r, "") == nil {
				t.Errorf("%s = %s does no harm", s.name, s.value)
			}
			if s.inDSN != "" {
				if err := s.harm(r, s.inDSN); err != nil {
					t.Errorf("%s = %s: %s in the DSN does not help: %v", s.name, s.value, s.inDSN, err)
				}
			}
			back := "NULL"
			if was.Valid {
				back = literalOf(was.String)
			}
			set(back)
			r.Clear()
		}
		r.names("", doctor.SeverityOK)
	})
}

// literalOf is a value for a SET: a number is none where it's in quotes.
func literalOf(value string) string {
	if strings.Trim(value, "0123456789.") == "" && value != "" {
		return value
	}
	return "'" + value + "'"
}

// names fails unless the doctor names a setting, and no other of that severity.
func (r *testRig) names(want string, severity doctor.Severity) {
	r.T.Helper()
	db, err := connect.Open(r.D.DSN, 0) // some settings let no other account in
	r.Must(err)
	defer db.Close()
	found, err := doctor.Examine(r.T.Context(), db, doctor.Options{Prefix: "p_", Dialect: r.Setting, Resolution: 15 * time.Minute})
	r.Must(err)
	var got []string
	for _, f := range found {
		if f.Code != "settings" {
			continue
		}
		if got = append(got, fmt.Sprint(f)); f.Severity == severity && strings.Contains(f.Text, want) {
			return
		}
	}
	r.T.Errorf("the doctor says %q; want %s, %q", got, severity, want)
}

// appWith and ownerWith are pools of new connections.
func (r *testRig) appWith(inDSN string) *sql.DB {
	db, err := sql.Open("mysql", servertest.WithParams(servertest.WithParams(r.Account("app-reschedule"), rig.FixedClock(rig.At("13:00"))), inDSN))
	r.Must(err)
	db.SetMaxOpenConns(1)
	return db
}

func (r *testRig) ownerWith(inDSN string) *sqlx.DB {
	db, err := connect.Open(servertest.WithParams(r.Account("owner"), inDSN), 0)
	r.Must(err)
	return db
}

func (r *testRig) insertsOnAPool(inDSN string) error {
	app := r.appWith(inDSN)
	_, err := r.Client.Insert(r.T.Context(), app, prescient.NewJob{Entity: rig.Order("1" + inDSN), JobExec: "check", DueAt: rig.At("13:05")})
	if err = errors.Join(err, app.Close()); err != nil {
		return err
	}
	if n := r.Count("SELECT COUNT(*) FROM p_future_job WHERE entity_key = ?", "1"+inDSN); n != 1 {
		return fmt.Errorf("%d rows are pending after an insert that went well", n)
	}
	return nil
}

func (r *testRig) cancelsTwo(inDSN string) error {
	app := r.appWith(inDSN)
	defer app.Close()
	orders := []prescient.Entity{rig.Order("2"), rig.Order("3")}
	for _, e := range orders {
		if _, err := r.Client.Insert(r.T.Context(), app, prescient.NewJob{Entity: e, JobExec: "check", DueAt: rig.At("13:05")}); err != nil {
			return err
		}
	}
	for _, want := range []int{2, 0} {
		if n, err := r.Client.CancelMany(r.T.Context(), app, orders); err != nil || n != want {
			return fmt.Errorf("cancelled %d of %d: %w", n, want, err)
		}
	}
	return nil
}

func (r *testRig) migratesAnother(inDSN string) error {
	db := r.ownerWith(inDSN)
	defer db.Close()
	schema := migrate.Schema{Prefix: "q_", Resolution: time.Hour, Dialect: r.Setting, Set: laterSet(r.T, further)}
	_, err := migrate.Up(r.T.Context(), db.DB, schema)
	if err != nil {
		return err
	}
	_, err = migrate.Down(r.T.Context(), db.DB, schema)
	return err
}

func (r *testRig) joinsMany(inDSN string) error {
	r.ManyDue(rig.At("13:15"), "check", 0, 200)
	defer r.Clear()
	r.Exec("ANALYZE TABLE p_future_job")
	db := r.ownerWith(inDSN)
	defer db.Close()
	var n int
	return db.QueryRow("SELECT COUNT(*) FROM p_future_job a JOIN p_future_job b WHERE a.due_at < b.due_at OR a.payload IS NULL").Scan(&n)
}

func (r *testRig) connectsAsOftenAsAWorker(string) error {
	db := r.ownerWith("")
	defer db.Close()
	for range 2 * worker.DefaultFarBuckets {
		conn, err := db.Conn(r.T.Context())
		if err != nil {
			return err
		}
		defer conn.Close()
	}
	return nil
}

// hasADeadlockEnded is nil where the server ends a deadlock as soon as it is one.
func (r *testRig) hasADeadlockEnded(string) error {
	r.ManyDue(rig.At("13:15"), "check", 0, 2)
	defer r.Clear()
	db := r.ownerWith("innodb_lock_wait_timeout=1")
	defer db.Close()
	a, b := rig.Begin(r.T, db.DB, sql.LevelReadCommitted), rig.Begin(r.T, db.DB, sql.LevelReadCommitted)
	defer a.Rollback()
	defer b.Rollback()
	rows := []string{"", ""}
	r.Must(r.Root.QueryRow("SELECT HEX(MIN(job_key)), HEX(MAX(job_key)) FROM p_future_job").Scan(&rows[0], &rows[1]))
	locks := func(tx *sql.Tx, row string) error {
		_, err := tx.Exec("UPDATE p_future_job SET revision = revision + 1 WHERE next_check_at = '2026-11-20 13:15:00' AND job_key = X'" + row + "'")
		return err
	}
	r.Must(errors.Join(locks(a, rows[0]), locks(b, rows[1])))
	other := make(chan error, 1)
	go func() { other <- locks(a, rows[1]) }()
	err := errors.Join(locks(b, rows[0]))
	_ = b.Rollback()
	if err = errors.Join(err, <-other); errno.Is(err, errno.Deadlock) {
		return nil
	}
	return fmt.Errorf("no deadlock was ended: %w", err)
}

// sessionHasNot says of a setting that the sessions of workers take it as it is.
func sessionHasNot(name string) func(*testRig, string) error {
	return func(r *testRig, inDSN string) error {
		db := r.ownerWith(inDSN)
		defer db.Close()
		var value float64
		if err := db.QueryRow("SELECT @@SESSION." + name).Scan(&value); err != nil || value != 0 {
			return fmt.Errorf("%s is %v in a session: %w", name, value, err)
		}
		return nil
	}
}

// MySQL in recovery refuses all that makes an installation, so that none is at hand there.
func TestTheDoctorNamesARecovery(t *testing.T) {
	t.Parallel()
	servertest.EachKind(t, func(t *testing.T, kind servertest.Kind) {
		if kind.Flavour() == localserver.MariaDB {
			r := newRig(t, servertest.On(t, kind.Private(t, "--innodb-force-recovery=1")), 15*time.Minute)
			r.names("innodb_force_recovery is 1", doctor.SeverityWarn)
		}
	})
}
