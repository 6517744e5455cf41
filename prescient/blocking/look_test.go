package blocking

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"prescient/prescient"
	"prescient/prescient/internal/rig"
	"prescient/prescient/localserver"
	"prescient/prescient/localserver/servertest"
	text "prescient/sql"
)

// session is one of the database, with an open transaction.
type session struct {
	id   uint64
	conn *sql.Conn
	done chan error // of what it waits with
}

// begins opens a transaction on a connection of its own.
func (r *testRig) begins() *session {
	r.T.Helper()
	conn, err := r.Root.Conn(r.T.Context())
	r.Must(err)
	r.T.Cleanup(func() { _ = conn.Close() })
	s := &session{conn: conn, done: make(chan error, 1)}
	r.Must(conn.QueryRowContext(r.T.Context(), "SELECT CONNECTION_ID()").Scan(&s.id))
	r.does(s, "SET SESSION innodb_lock_wait_timeout = 100, lock_wait_timeout = 100")
	r.does(s, "BEGIN")
	return s
}

func (r *testRig) does(s *session, query string) {
	r.T.Helper()
	_, err := s.conn.ExecContext(r.T.Context(), query)
	r.Must(err)
}

// waits sends what has to wait, and goes on when the others have ended.
func (r *testRig) waits(s *session, query string) {
	r.T.Helper()
	go func() {
		_, err := s.conn.ExecContext(context.WithoutCancel(r.T.Context()), query)
		s.done <- err
	}()
}

// ends rolls back what a session has, and each of those that waited for it as soon as it has what it waited for: in which order they
// get it is up to the server.
func (r *testRig) ends(root *session, behind ...*session) {
	r.T.Helper()
	r.does(root, "ROLLBACK")
	r.settle(behind...)
}

func (r *testRig) settle(behind ...*session) {
	r.T.Helper()
	var wg sync.WaitGroup
	for _, s := range behind {
		wg.Go(func() {
			if err := <-s.done; err != nil {
				r.T.Errorf("session %d: %v", s.id, err)
			}
			if _, err := s.conn.ExecContext(context.WithoutCancel(r.T.Context()), "ROLLBACK"); err != nil {
				r.T.Error(err)
			}
		})
	}
	wg.Wait()
}

// looker is an account that may see all, or only what a role may.
func (r *testRig) looker(rights ...string) *sqlx.DB {
	r.T.Helper()
	db := r.As("operator", time.Time{})
	for _, right := range rights {
		r.Exec("GRANT " + right + " TO '" + r.User("operator") + "'@'%'")
	}
	db.SetMaxIdleConns(0) // rights are those of new connections
	return db
}

// sees is what an account needs to look at all.
var sees = []string{"PROCESS ON *.*", "SELECT ON performance_schema.*"}

// finds waits until a look finds chains as told, and returns it.
func (r *testRig) finds(db *sqlx.DB, want string, about map[*session]string) (found Report) {
	r.T.Helper()
	said := ""
	defer func() {
		if said != want {
			r.T.Errorf("found %s, %+v", said, found)
		}
	}()
	r.Eventually(want, func() bool {
		var err error
		found, err = Look(r.T.Context(), db, Options{Prefix: "p_", Dialect: r.Setting})
		r.Must(err)
		said = told(found.Chains, about)
		return said == want
	})
	return found
}

// told writes chains as a(b(c d)), and what each waits for.
func told(nodes []Node, about map[*session]string) string {
	names := make(map[uint64]string)
	for s, name := range about {
		names[s.id] = name
	}
	var write func(nodes []Node) string
	write = func(nodes []Node) string {
		var list []string
		for _, n := range nodes {
			name := names[n.ID]
			if name == "" {
				name = fmt.Sprint(n.ID)
			}
			if n.Waits != nil {
				name = string(n.Waits.Kind) + " " + n.Waits.Table + " " + name
			}
			if len(n.Behind) > 0 {
				name += "(" + write(n.Behind) + ")"
			}
			list = append(list, name)
		}
		return strings.Join(list, ", ")
	}
	return write(nodes)
}

const lockRow = "SELECT * FROM p_future_job WHERE job_key = X'%032x' FOR UPDATE"

// row is a statement that locks the one or the other of the rows that fill makes.
func (r *testRig) row(n int) string { return fmt.Sprintf(lockRow, n) }

func (r *testRig) fill(n int) {
	r.T.Helper()
	rows := make([]string, n)
	for i := range n {
		rows[i] = fmt.Sprintf("('order', '%d', 'ship', '2026-11-20 13:00:00', X'%032x', '2026-11-20 13:00:00', '2026-11-20 13:00:00', 1)", i, i)
	}
	r.Exec("INSERT INTO p_future_job (entity_name, entity_key, job_exec, due_at, job_key, first_check_at, next_check_at, revision) VALUES " + strings.Join(rows, ", "))
}

func TestAChainOfRowsIsFoundFromItsRoot(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.ThreadStates)
		r.fill(3)
		db := r.looker(sees...)
		if found := r.finds(db, "", nil); len(found.Unseen) > 0 {
			t.Errorf("unseen: %+v", found.Unseen)
		}
		a, b, c, d := r.begins(), r.begins(), r.begins(), r.begins()
		names := map[*session]string{a: "a", b: "b", c: "c", d: "d"}
		r.does(a, r.row(0))
		r.does(b, r.row(1))
		r.waits(b, r.row(0))
		r.finds(db, "a(row p_future_job b)", names)
		r.waits(c, r.row(1))
		r.waits(d, r.row(1))
		// Of two that wait for the same row, neither stands behind the other.
		found := r.finds(db, "a(row p_future_job b(row p_future_job c, row p_future_job d))", names)
		if r.Server == text.MySQL || found.Chains[0].Behind[0].Behind[0].ID == c.id {
			root := found.Chains[0]
			if root.End != fmt.Sprintf("KILL %d", a.id) || root.Command != "Sleep" || root.User != "root" || root.Waits != nil || root.Waiting() != 3 {
				t.Errorf("%+v", root)
			}
			if last := "FOR UPDATE"; r.Server == text.MySQL && !strings.Contains(root.Last, last) || root.Statement != "" {
				t.Errorf("the root sent %q last, and does %q", root.Last, root.Statement)
			}
			if s := root.Behind[0]; !strings.Contains(s.Statement, "SELECT * FROM p_future_job") || s.Waits.Index == "" || s.Waits.Schema != r.D.Name {
				t.Errorf("%+v, %+v", s, s.Waits)
			}
		}
		r.Eventually("they wait for a second", func() bool {
			found, err := Look(t.Context(), db, Options{Prefix: "p_", Dialect: r.Setting})
			r.Must(err)
			return len(found.Chains) == 1 && found.Chains[0].Longest() > 0 && found.Chains[0].Open > 0
		})
		_, err := r.Root.Exec(found.Chains[0].End)
		r.Must(err)
		r.settle(b, c, d)
	})
}

// What prescient waits for may stand at the tables of others, and what waits there does not concern it.
func TestAChainThroughTheTablesOfOthersIsFoundWhereItComesToOurs(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.ThreadStates)
		r.fill(1)
		r.Exec("CREATE TABLE orders (id INT PRIMARY KEY, n INT) ENGINE = InnoDB")
		r.Exec("INSERT INTO orders VALUES (1, 0), (2, 0)")
		db := r.looker(sees...)
		a, b, c, d := r.begins(), r.begins(), r.begins(), r.begins()
		names := map[*session]string{a: "a", b: "b", c: "c", d: "d"}
		r.does(a, "UPDATE orders SET n = 1 WHERE id = 1")
		r.waits(d, "SELECT * FROM orders WHERE id = 1 FOR UPDATE")
		r.does(b, r.row(0))
		r.waits(b, "UPDATE orders SET n = 2 WHERE id = 1")
		r.finds(db, "", names)
		r.waits(c, r.row(0))
		r.finds(db, "a(row orders b(row p_future_job c))", names)
		all, err := Look(t.Context(), db, Options{Prefix: "p_", Dialect: r.Setting, All: true})
		r.Must(err)
		if said := told(all.Chains, names); !strings.Contains(said, "row orders d") || !strings.Contains(said, "row orders b(row p_future_job c)") {
			t.Errorf("all: %s", said)
		}
		r.ends(a, b, c, d)
	})
}

// changeOfTable is a change of the table that waits for who has used it, and for which all others wait.
const changeOfTable = "ALTER TABLE p_future_job COMMENT = 'changed'"

func (r *testRig) chainOfMetadata(db *sqlx.DB, table string, after func(names map[*session]string)) {
	r.T.Helper()
	a, b, c := r.begins(), r.begins(), r.begins()
	names := map[*session]string{a: "a", b: "b", c: "c"}
	r.does(a, "SELECT COUNT(*) FROM p_future_job")
	r.waits(b, changeOfTable)
	r.finds(db, "a(metadata "+table+" b)", names)
	r.waits(c, "SELECT COUNT(*) FROM p_future_job")
	after(names)
	r.ends(a, b, c)
}

func TestAChainOfMetadataIsFoundFromItsRoot(t *testing.T) {
	t.Parallel()
	servertest.EachKind(t, func(t *testing.T, kind servertest.Kind) {
		var args []string
		if kind.Flavour() == localserver.MariaDB {
			args = []string{"--performance-schema=ON", "--performance-schema-instrument=wait/lock/metadata/sql/mdl=ON"}
		}
		r := newRig(t, servertest.On(t, kind.Private(t, args...)))
		r.fill(1)
		db := r.looker(sees...)
		r.chainOfMetadata(db, "p_future_job", func(names map[*session]string) {
			found := r.finds(db, "a(metadata p_future_job b(metadata p_future_job c))", names)
			if len(found.Unseen) > 0 || found.Chains[0].Behind[0].Waits.Perhaps {
				t.Errorf("%+v", found)
			}
		})
		// One that waits for a row is behind who waits for the table.
		a, b, c, d := r.begins(), r.begins(), r.begins(), r.begins()
		r.does(a, "SELECT COUNT(*) FROM p_slot_run")
		r.does(b, "SELECT COUNT(*) FROM p_future_job")
		r.does(b, r.row(0))
		r.waits(b, "ALTER TABLE p_slot_run COMMENT = 'changed'") // commits what b has
		r.finds(db, "a(metadata p_slot_run b)", map[*session]string{a: "a", b: "b"})
		r.ends(a, b)
		r.does(a, "BEGIN")
		r.does(a, "SELECT COUNT(*) FROM p_slot_run")
		r.does(c, r.row(0))
		r.waits(b, "ALTER TABLE p_slot_run COMMENT = 'again'")
		r.finds(db, "a(metadata p_slot_run b)", map[*session]string{a: "a", b: "b"})
		r.waits(c, "SELECT COUNT(*) FROM p_slot_run")
		r.waits(d, r.row(0))
		r.finds(db, "a(metadata p_slot_run b(metadata p_slot_run c(row p_future_job d)))", map[*session]string{a: "a", b: "b", c: "c", d: "d"})
		r.ends(a, b, c, d)
		// A lock of the whole server is everybody's.
		e, f := r.begins(), r.begins()
		r.does(e, "ROLLBACK")
		r.does(e, "FLUSH TABLES WITH READ LOCK")
		r.waits(f, "UPDATE p_slot_run SET token = token")
		r.finds(db, "e(metadata  f)", map[*session]string{e: "e", f: "f"})
		r.does(e, "UNLOCK TABLES")
		r.Must(<-f.done)
	})
}

func TestAMariaDBThatNotesNoMetadataLocksNamesWhoMayHaveThem(t *testing.T) {
	t.Parallel()
	servertest.EachKind(t, func(t *testing.T, kind servertest.Kind) {
		if kind.Flavour() != localserver.MariaDB {
			t.Skip("MySQL notes them")
		}
		r := newRig(t, servertest.On(t, kind.Private(t)))
		db := r.looker(sees...)
		r.chainOfMetadata(db, "", func(names map[*session]string) {
			found := r.finds(db, "a(metadata  b, metadata  c)", names)
			if !found.Chains[0].Perhaps() || !found.Skipped || found.More || len(found.Unseen) != 1 || !strings.Contains(found.Unseen[0].Do, "performance_schema=ON") {
				t.Errorf("%+v", found)
			}
		})
	})
}

func TestWhatARoleMayNotSeeIsSaidWithTheGrantThatHelps(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.ThreadStates)
		found, err := Look(t.Context(), r.looker(), Options{Prefix: "p_", Dialect: r.Setting})
		r.Must(err)
		account := "'" + r.User("operator") + "'@'%'"
		said := fmt.Sprint(found.Unseen)
		for _, want := range []string{"who waits for whose rows", "GRANT PROCESS ON *.* TO " + account} {
			if !strings.Contains(said, want) {
				t.Errorf("%s; want %s", said, want)
			}
		}
		if r.Server == text.MySQL && !strings.Contains(said, "GRANT SELECT ON performance_schema.* TO "+account) {
			t.Error(said)
		}
		if _, err := Look(t.Context(), r.looker(), Options{Prefix: "No!"}); !errors.Is(err, prescient.ErrInvalid) {
			t.Errorf("a bad prefix: %v", err)
		}
	})
}

// Amazon's services have a procedure in place of KILL.
func TestWhereTheServerHasAProcedureForItThatEndsTheRoot(t *testing.T) {
	t.Parallel()
	servertest.EachKind(t, func(t *testing.T, kind servertest.Kind) {
		r := newRig(t, servertest.On(t, kind.Private(t)))
		r.fill(1)
		db := r.looker(append(sees, "EXECUTE ON mysql.*")...)
		r.Exec("CREATE PROCEDURE mysql.rds_kill(IN thread BIGINT) BEGIN KILL thread; END")
		a, b := r.begins(), r.begins()
		r.does(a, r.row(0))
		r.waits(b, r.row(0))
		found := r.finds(db, "a(row p_future_job b)", map[*session]string{a: "a", b: "b"})
		if want := fmt.Sprintf("CALL mysql.rds_kill(%d)", a.id); found.Chains[0].End != want {
			t.Errorf("%q; want %q", found.Chains[0].End, want)
		}
		_, err := r.Root.Exec(found.Chains[0].End)
		r.Must(err)
		if err := <-b.done; err != nil {
			t.Error(err)
		}
	})
}
