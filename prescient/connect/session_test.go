package connect

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"

	"prescient/prescient/internal/errno"
	"prescient/prescient/internal/rig"
)

// A worker's connections are mostly new: what is said on one before its first statement is a round trip each.
func TestANewConnectionIsSetUpByOneStatement(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.AllIsolationLevels)
		db, err := Open(r.D.DSN, 0)
		r.Must(err)
		defer db.Close()
		const want = 2 // that and the one that asks
		for i := range 3 {
			conn, err := db.Connx(t.Context())
			r.Must(err)
			defer conn.Close() // so that the next is another one
			var name string
			var said int
			r.Must(conn.QueryRowContext(t.Context(), "SHOW SESSION STATUS LIKE 'Questions'").Scan(&name, &said))
			if i > 0 && said != want { // the first finds out what there is
				t.Errorf("connection %d was sent %d statements; want %d", i, said, want)
			}
			if level := isolation(t, conn); level != "READ-COMMITTED" {
				t.Errorf("isolation level of connection %d: %s", i, level)
			}
			var refuses string
			err = conn.QueryRowContext(t.Context(), "SHOW SESSION VARIABLES LIKE 'innodb_snapshot_isolation'").Scan(&name, &refuses)
			if known := !errors.Is(err, sql.ErrNoRows); known && (err != nil || refuses != "OFF") {
				t.Errorf("innodb_snapshot_isolation of connection %d: %q, %v", i, refuses, err)
			}
		}
	})
}

// server is one that knows some variables.
type server struct {
	knows []string
	sent  []string
	fails error
}

func (s *server) ExecContext(_ context.Context, query string, _ []driver.NamedValue) (driver.Result, error) {
	s.sent = append(s.sent, query)
	if s.fails != nil {
		return nil, s.fails
	}
	for one := range strings.SplitSeq(strings.TrimPrefix(query, "SET "), ", ") {
		name, _, _ := strings.Cut(strings.TrimPrefix(one, "SESSION "), " ")
		if !slices.Contains(s.knows, name) {
			return nil, &mysql.MySQLError{Number: errno.UnknownVariable, Message: "Unknown system variable '" + name + "'"}
		}
	}
	return driver.ResultNoRows, nil
}

func TestWhatAServerKnowsIsFoundOutOnce(t *testing.T) {
	const isolation, old = "SESSION transaction_isolation = 'READ-COMMITTED'", "SESSION tx_isolation = 'READ-COMMITTED'"
	const snapshot = "SESSION innodb_snapshot_isolation = OFF"
	const galera, group = "SESSION wsrep_sync_wait = 1", "SESSION group_replication_consistency = 'BEFORE_ON_PRIMARY_FAILOVER'"
	for name, test := range map[string]struct{ knows, want string }{
		"MySQL":             {"a transaction_isolation", isolation},
		"Group Replication": {"a transaction_isolation group_replication_consistency", isolation + ", " + group},
		"an older MariaDB":  {"a tx_isolation wsrep_sync_wait", old + ", " + galera},
		"a newer MariaDB":   {"a transaction_isolation innodb_snapshot_isolation wsrep_sync_wait", isolation + ", " + snapshot + ", " + galera},
		"both names":        {"a transaction_isolation tx_isolation", isolation},
	} {
		one := &server{knows: strings.Fields(test.knows)}
		s := &sessions{settings: "a = 1"}
		for range 2 {
			one.sent = nil
			rig.Fatal(t, s.set(t.Context(), one))
		}
		if want := []string{"SET a = 1, " + test.want}; !slices.Equal(one.sent, want) {
			t.Errorf("%s is sent %q; want %q", name, one.sent, want)
		}
		// A server that lacks what the one before had.
		one.knows = []string{"a", "tx_isolation"}
		for range 2 {
			one.sent = nil
			rig.Fatal(t, s.set(t.Context(), one))
		}
		if want := []string{"SET a = 1, " + old}; !slices.Equal(one.sent, want) {
			t.Errorf("after %s another is sent %q; want %q", name, one.sent, want)
		}
	}
}

func TestAConnectionThatCannotBeSetUpIsNone(t *testing.T) {
	gone := errors.New("gone")
	for name, test := range map[string]struct {
		server server
		want   string
	}{
		"a variable of the DSN":   {server{knows: []string{"tx_isolation"}}, "'a'"},
		"no isolation":            {server{knows: []string{"a"}}, "'tx_isolation'"},
		"a server that went away": {server{fails: gone}, "gone"},
	} {
		s := &sessions{settings: "a = 1"}
		for range 2 {
			if err := s.set(t.Context(), &test.server); !rig.Contains(err, test.want) {
				t.Errorf("%s: %v; want %s in it", name, err, test.want)
			}
		}
		if known := s.known.Load(); known != nil {
			t.Errorf("%s: %q is taken for known", name, *known)
		}
	}
}
