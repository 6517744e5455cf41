package connect

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/jmoiron/sqlx"

	"prescient/prescient"
	"prescient/prescient/internal/errno"
	"prescient/prescient/internal/rig"
	"prescient/prescient/internal/store"
	"prescient/prescient/localserver/servertest"
)

const canary = "c4nary-Pa55"

func TestADSNThatCannotBeUsedIsRefusedWithoutShowingIt(t *testing.T) {
	for _, test := range []struct{ dsn, says string }{
		{"", "names no database: want user:password@tcp(host:port)/database"},
		{"root:" + canary + "@tcp(127.0.0.1:3306)", "missing the slash"},
		{"root:" + canary + "@tcp(127.0.0.1:3306)/", "names no database"},
		{"root:" + canary + "@tcp(127.0.0.1:3306)/?parseTime=true", "names no database"},
		{"root:" + canary + "@tcp(127.0.0.1:3306/db", "not terminated"},
		{"root:" + canary + "(127.0.0.1:3306)/db", "stands in the wrong place"},
		{"root:" + canary + "tcp(127.0.0.1:3306)/db", "stands in the wrong place"},
		{"root:a/" + canary + "@tcp(127.0.0.1:3306)", "cannot be parsed"},
		{"root(a)/" + canary + "@tcp(127.0.0.1:3306)", "stands in the wrong place"},
		{"root:" + canary + "/db", "cannot be parsed"},
		{"root:x@" + canary + "/db", "cannot be parsed"},
		{"root:" + canary + "@tcp(127.0.0.1:3306)/db?parseTime=" + canary, "cannot be parsed"},
		{"root:" + canary + "@tcp(127.0.0.1:3306)/db?timeout=" + canary, "cannot be parsed"},
		{"root:" + canary + "@tcp(127.0.0.1:3306)/db?loc=" + canary, "cannot be parsed"},
		{"root:" + canary + "@tcp(127.0.0.1:3306)/db?tls=" + canary, "cannot be parsed"},
		{"root:" + canary + "@tcp(127.0.0.1:3306)/db?strict=true", "not allowed any more"},
		{"root:" + canary + "@tcp(127.0.0.1:3306)/%zz" + canary, "cannot be parsed"},
		{"mysql://root:" + canary + "@127.0.0.1:3306/db", "cannot be parsed"},
		{"root:" + canary + "@tcp(a,)/db", "a host of the list is empty"},
		{"root:" + canary + "@tcp(,a)/db", "a host of the list is empty"},
		{"root:" + canary + "@tcp(a, b)/db", "has a blank in it"},
		{"root:" + canary + "@tcp(a,b:3306,a:3306)/db", "it names host a:3306 twice"},
		{"root:" + canary + "@tcp(a,b)/", "names no database"},
		{"root:" + canary + "@tcp(a,b/db", "not terminated"},
	} {
		db, err := Open(test.dsn, 0)
		if db != nil || !errors.Is(err, prescient.ErrInvalid) || !strings.Contains(err.Error(), test.says) || strings.Contains(err.Error(), canary) {
			t.Errorf("%q: %v; want ErrInvalid with %q and without the password", test.dsn, err, test.says)
		}
	}
}

func TestErrorsOfAConnectionDoNotShowThePassword(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed := listener.Addr().String()
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	dsns := []string{"root:" + canary + "@tcp(" + closed + ")/db", "root:" + canary + "@other(" + closed + ")/db",
		"root:" + canary + "@unix(/nowhere/s.sock)/db"}
	eachServer(t, func(t *testing.T, r *testRig) {
		cfg, err := mysql.ParseDSN(r.D.DSN)
		r.Must(err)
		cfg.Passwd = canary
		for _, dsn := range append(dsns, cfg.FormatDSN()) {
			db, err := Open(dsn, 0)
			r.Must(err)
			defer db.Close()
			if err := db.PingContext(t.Context()); err == nil || strings.Contains(err.Error(), canary) {
				t.Errorf("connecting: %v", err)
			}
		}
	})
}

func TestAWorkersConnectionIsSetAsItNeedsWhateverTheDSNSays(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.AllIsolationLevels)
		hostile := "time_zone=%27%2B14:00%27&TIME_ZONE=%27-08:00%27&sql_mode=%27%27&innodb_lock_wait_timeout=50&wait_timeout=28800&" +
			"autocommit=0&transaction_isolation=%27SERIALIZABLE%27&loc=Asia%2FTokyo&parseTime=false&clientFoundRows=false&" +
			"charset=latin1&collation=latin1_swedish_ci&columnsWithAlias=true&timeTruncate=1h&multiStatements=true&interpolateParams=false"
		if r.D.Flavour == "mariadb" {
			hostile = strings.Replace(hostile, "transaction_isolation", "tx_isolation", 1)
		}
		for dsn, lease := range map[string]time.Duration{r.D.DSN: 0, servertest.WithParams(r.D.DSN, hostile): 5 * time.Second} {
			db, err := Open(dsn, lease)
			r.Must(err)
			defer db.Close()
			conn, err := db.Connx(t.Context())
			r.Must(err)
			defer conn.Close()
			var got struct {
				Zone    string
				Mode    string
				Lock    int
				Wait    int
				Commit  int
				Charset string
			}
			r.Must(conn.GetContext(t.Context(), &got, `SELECT @@time_zone AS zone, @@sql_mode AS mode,
				@@innodb_lock_wait_timeout AS "lock", @@wait_timeout AS wait, @@autocommit AS commit, @@character_set_client AS charset`))
			if got.Zone != "+00:00" || !strings.Contains(got.Mode, "STRICT_ALL_TABLES") || strings.Contains(got.Mode, "ANSI_QUOTES") ||
				got.Lock != 1 || got.Commit != 1 || got.Charset != "utf8mb4" {
				t.Errorf("session: %+v", got)
			}
			if want := max(lease, 5*time.Second); got.Wait >= int(cmp.Or(lease, prescient.DefaultLease)/time.Second) || got.Wait < int(want/time.Second)-1 {
				t.Errorf("wait_timeout %d s; the lease is %s", got.Wait, lease)
			}
			if level := isolation(t, conn); level != "READ-COMMITTED" {
				t.Errorf("isolation level %s", level)
			}
			r.Must(conn.Close())
			checkValues(t, db)
		}
	})
}

func isolation(t *testing.T, conn *sqlx.Conn) (level string) {
	t.Helper()
	var name string
	err := conn.QueryRowxContext(t.Context(), "SHOW SESSION VARIABLES WHERE Variable_name IN ('transaction_isolation', 'tx_isolation')").Scan(&name, &level)
	if err != nil {
		t.Fatal(err)
	}
	return level
}

// checkValues sends values through a connection and back.
func checkValues(t *testing.T, db *sqlx.DB) {
	t.Helper()
	ctx := t.Context()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	conn, err := db.Connx(ctx)
	must(err)
	defer conn.Close()
	_, err = conn.ExecContext(ctx, "CREATE TEMPORARY TABLE v (id INT PRIMARY KEY, at DATETIME(6), said VARCHAR(20) CHARACTER SET utf8mb4)")
	must(err)
	tokyo := rig.At("13:15:00.000001").In(time.FixedZone("", 9*3600))
	_, err = conn.ExecContext(ctx, "INSERT INTO v VALUES (1, ?, ?)", tokyo, "größe 😀")
	must(err)
	var got struct {
		At   time.Time
		Said string
		Text string
	}
	must(conn.GetContext(ctx, &got, "SELECT v.at, v.said, CAST(v.at AS CHAR) AS text FROM v"))
	if !got.At.Equal(tokyo) || got.At.Location() != time.UTC || got.Said != "größe 😀" || got.Text != "2026-11-20 13:15:00.000001" {
		t.Errorf("came back as %+v", got)
	}
	result, err := conn.ExecContext(ctx, "UPDATE v SET said = said WHERE id = 1")
	must(err)
	if n, err := result.RowsAffected(); err != nil || n != 1 {
		t.Errorf("an UPDATE that changes nothing found %d rows (%v); want 1", n, err)
	}
	if _, err := conn.ExecContext(ctx, "INSERT INTO v VALUES (2, NOW(), REPEAT('x', 21))"); err == nil {
		t.Error("a text that is too long was cut")
	}
	if _, err := conn.ExecContext(ctx, "DO 1; DO 2"); err == nil {
		t.Error("two statements went through at once")
	}
	_, err = conn.ExecContext(ctx, "DROP TEMPORARY TABLE v")
	must(err)
}

func TestEveryTransactionOfAWorkerIsReadCommitted(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		db := r.Pool(time.Time{})
		_, err := r.Root.Exec("CREATE TABLE seen (n INT AUTO_INCREMENT PRIMARY KEY)")
		r.Must(err)
		tx, err := db.BeginTxx(t.Context(), nil)
		r.Must(err)
		defer func() { r.Must(tx.Rollback()) }()
		for want := range 2 {
			var n int
			r.Must(tx.Get(&n, "SELECT COUNT(*) FROM seen"))
			if n != want {
				t.Errorf("%d rows are seen; want %d", n, want)
			}
			_, err := r.Root.Exec("INSERT INTO seen VALUES ()")
			r.Must(err)
		}
	})
}

// Whatever way a server gets rid of a connection in the middle of a transaction, a worker tries again.
func TestLosingTheConnectionInATransactionIsAPassingError(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.ThreadStates)
		for _, how := range []string{"idle", "killed", "killed in a statement", "statement killed"} {
			t.Run(how, func(t *testing.T) {
				db, err := Open(r.D.DSN, 2*time.Second)
				rig.Fatal(t, err)
				defer db.Close()
				tx, err := db.BeginTxx(t.Context(), nil)
				rig.Fatal(t, err)
				var id int
				rig.Fatal(t, tx.Get(&id, "SELECT CONNECTION_ID()"))
				is := func(state string) int { return r.Sessions("id = ? AND state LIKE ?", id, state) }
				switch how {
				case "idle":
					// The server drops it after its wait_timeout of a second.
					for is("%") > 0 {
					}
					_, err = tx.Exec("DO 1")
				case "killed":
					_, err = r.Root.Exec(fmt.Sprint("KILL ", id))
					rig.Fatal(t, err)
					for is("%") > 0 {
					}
					_, err = tx.Exec("DO 1")
				default:
					kill := "KILL "
					if how == "statement killed" {
						kill = "KILL QUERY "
					}
					answer := make(chan error)
					go func() {
						_, err := tx.Exec("UPDATE p_slot_config SET version = version + SLEEP(20)")
						answer <- err
					}()
					for is("User sleep") == 0 {
					}
					_, err = r.Root.Exec(fmt.Sprint(kill, id))
					rig.Fatal(t, err)
					err = <-answer
				}
				if !errno.Passing(err) {
					t.Errorf("%v, which does not pass", err)
				}
				if err := store.Rollback(tx.Tx); err != nil && !errno.Passing(err) {
					t.Errorf("then the ROLLBACK: %v", err)
				}
				rig.Fatal(t, db.PingContext(t.Context()))
			})
		}
	})
}

// database/sql gives a COMMIT no deadline, whatever the transaction's context says.
func TestACommitThatTheServerNeverAnswersIsGivenUp(t *testing.T) {
	cfg, err := mysql.ParseDSN("root@tcp(127.0.0.1:1)/db")
	rig.Fatal(t, err)
	if configure(cfg, time.Minute, time.Second); cfg.ReadTimeout != 2*time.Minute {
		t.Fatalf("read timeout %s; want two minutes for a lease of one", cfg.ReadTimeout)
	}
	eachServer(t, func(t *testing.T, r *testRig) {
		cfg, err := mysql.ParseDSN(r.D.DSN)
		r.Must(err)
		cfg.Net, cfg.Addr = "tcp", swallowCommits(t, cfg.Net, cfg.Addr)
		cfg.ReadTimeout = 300 * time.Millisecond
		db, err := Open(cfg.FormatDSN(), 0)
		r.Must(err)
		defer db.Close()
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		tx, err := db.BeginTx(ctx, nil)
		r.Must(err)
		if err := tx.Commit(); !errno.Passing(err) || ctx.Err() != nil {
			t.Errorf("%v; want an error that passes, in time", err)
		}
	})
}

// swallowCommits is a proxy to a server that no COMMIT gets through. It returns its address.
func swallowCommits(t *testing.T, network, address string) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial(network, address)
			if err != nil {
				_ = client.Close()
				return
			}
			t.Cleanup(func() { _, _ = client.Close(), server.Close() })
			go func() { _, _ = io.Copy(client, server) }()
			go func() {
				buffer := make([]byte, 1<<16)
				for {
					n, err := client.Read(buffer)
					if err != nil || bytes.Contains(buffer[:n], []byte("\x03COMMIT")) {
						return
					}
					if _, err := server.Write(buffer[:n]); err != nil {
						return
					}
				}
			}()
		}
	}()
	return listener.Addr().String()
}
