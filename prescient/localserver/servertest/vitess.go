package servertest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"time"

	"prescient/prescient/localserver/vitess"
)

// A database on Vitess is a keyspace, which is dear to make: there are a few for each kind, all on one MySQL, and a test has one for itself for as
// long as it holds a lock of that MySQL. Tests reach the tables behind Vitess by Database.Parts; the next test gets those tables, where they are as
// new. Where tests are targeted at a shard, there is one; untargeted there are two, so that statements are routed.

// keyspaces is how many there are of a kind: a package runs four tests at a time, some of which have a second database, and there are two packages
// at a time. Untargeted, where each has two vttablets, tests wait for one another.
func keyspaces(kind Kind) int {
	if kind == Untargeted {
		return 5
	}
	return 8
}

// shardsOf are those of a keyspace of a kind, each with its database in the MySQL behind.
func shardsOf(kind Kind, keyspace string) [][2]string {
	if kind == Untargeted {
		return [][2]string{{"-80", "vt_" + keyspace + "_to80"}, {"80-", "vt_" + keyspace + "_80to"}}
	}
	return [][2]string{{"-", "vt_" + keyspace}}
}

// Keyspaces are those that tests of some kinds need: unsharded where they are targeted, and else of a VSchema that says where rows lie.
func Keyspaces(kinds []string, vschema string) (list []vitess.KeyspaceOptions) {
	for _, kind := range kinds {
		routes := vschema
		if Kind(kind) == OnShard {
			routes = "{}"
		}
		for i := range keyspaces(Kind(kind)) {
			name := fmt.Sprintf("%c%d", "ku"[len(shardsOf(Kind(kind), ""))-1], i)
			list = append(list, vitess.KeyspaceOptions{Name: name, Shards: len(shardsOf(Kind(kind), name)), VSchema: routes})
		}
	}
	return list
}

// The tables of what tests share behind a Vitess have each keyspace, of how many shards it is, and what it is like: empty, or a digest of like; null
// is for one to be emptied.
const (
	makeKeyspaces = "CREATE DATABASE px_shared CHARACTER SET utf8mb4; CREATE TABLE px_shared.keyspace (name VARCHAR(64) PRIMARY KEY, shards INT, alike CHAR(64))"
	addKeyspace   = "INSERT INTO px_shared.keyspace VALUES (?, ?, '')"
	listKeyspaces = "SELECT name FROM px_shared.keyspace WHERE shards = ? AND (alike = ? OR ? = '') ORDER BY alike = '' DESC, alike IS NULL DESC, RAND()"
	lockKeyspace  = "SELECT GET_LOCK(?, 0) AND (? = '' OR (SELECT alike FROM px_shared.keyspace WHERE name = ?) = ?)"
	isEmpty       = "SELECT COALESCE(alike = '', FALSE) FROM px_shared.keyspace WHERE name = ?"
	noteAlike     = "UPDATE px_shared.keyspace SET alike = ? WHERE name = ?"
	// makeClock has the clock stand still where SET timestamp is refused: a variable that nothing reads is set to what this answers.
	makeClock = "CREATE FUNCTION px_shared.clock(at DECIMAL(20, 6)) RETURNS INT NO SQL BEGIN SET timestamp = at; RETURN 0; END"
)

// PrepareBehind makes what tests share in the MySQL behind a Vitess with keyspaces.
func PrepareBehind(ctx context.Context, dsn string, keyspaces []vitess.KeyspaceOptions) error {
	db, err := sql.Open("mysql", WithParams(dsn, "multiStatements=true"))
	if err != nil {
		return err
	}
	defer db.Close()
	for _, statement := range []string{makeKeyspaces, makeClock} {
		if _, err := db.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("making what tests share behind Vitess: %w", err)
		}
	}
	for _, k := range keyspaces {
		if _, err := db.ExecContext(ctx, addKeyspace, k.Name, k.Shards); err != nil {
			return fmt.Errorf("noting keyspace %s: %w", k.Name, err)
		}
	}
	return nil
}

// Clock is the DSN parameter under which the server's clock stands still for a connection; there is none for a keyspace of Vitess, untargeted.
func Clock(now time.Time) string {
	return clock(now, OnVitess() && !strings.Contains(os.Getenv(dsnsVariable), string(Untargeted)+"="))
}

func clock(now time.Time, onShard bool) string {
	at := fmt.Sprintf("%d.%06d", now.Unix(), now.Nanosecond()/1000)
	if onShard { // there it is refused
		return "default_week_format=px_shared.clock(" + at + ")"
	}
	return "timestamp=" + at
}

// A keyspace is one that a test holds, by a connection to the MySQL behind.
type keyspace struct {
	name string
	kind Kind
	db   *sql.DB
	lock *sql.Conn
}

// holdKeyspace waits for a keyspace of a kind that no test holds, and empties it unless it is. Where alike is given, it returns one of those that are like
// that at once, or nil.
func holdKeyspace(ctx context.Context, kind Kind, alike string) (*keyspace, error) {
	k := &keyspace{kind: kind}
	var err error
	if k.db, err = sql.Open("mysql", WithParams(os.Getenv(BehindVariable), "multiStatements=true&interpolateParams=true")); err != nil {
		return nil, err
	}
	if k.lock, err = k.db.Conn(ctx); err != nil {
		return nil, errors.Join(err, k.db.Close())
	}
	for wait := time.Millisecond; ; wait = min(2*wait, 200*time.Millisecond) {
		list := strings.Replace(listKeyspaces, "?", fmt.Sprint(len(shardsOf(kind, ""))), 1)
		names, err := texts(ctx, k.lock, strings.ReplaceAll(list, "?", "'"+alike+"'"))
		if err != nil {
			return nil, errors.Join(err, k.end())
		}
		for _, k.name = range strings.Fields(names) {
			var held sql.NullBool
			if err := k.lock.QueryRowContext(ctx, lockKeyspace, k.name, alike, k.name, alike).Scan(&held); err != nil {
				return nil, errors.Join(err, k.end())
			}
			if held.Bool {
				if alike == "" {
					err = k.empty(ctx)
				}
				if err = errors.Join(err, k.note(ctx, nil)); err != nil { // as long as a test has it, which may end as it likes
					return nil, errors.Join(fmt.Errorf("emptying keyspace %s (did a transaction stay open?): %w", k.name, err), k.end())
				}
				return k, nil
			}
			if _, err := k.lock.ExecContext(ctx, "DO RELEASE_ALL_LOCKS()"); err != nil {
				return nil, errors.Join(err, k.end())
			}
		}
		if alike != "" {
			return nil, k.end()
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(fmt.Errorf("waiting for a keyspace that no test holds: %w", ctx.Err()), k.end())
		case <-time.After(wait/2 + rand.N(wait)):
		}
	}
}

// empty drops all that is in its databases.
func (k *keyspace) empty(ctx context.Context) error {
	var empty bool
	if err := k.lock.QueryRowContext(ctx, isEmpty, k.name).Scan(&empty); err != nil || empty {
		return err
	}
	for _, shard := range shardsOf(k.kind, k.name) {
		database := shard[1]
		objects, err := texts(ctx, k.lock, strings.ReplaceAll(`SELECT CASE table_type WHEN 'BASE TABLE' THEN 'TABLE' ELSE table_type END, table_name FROM information_schema.tables WHERE table_schema = ?
			UNION ALL SELECT routine_type, routine_name FROM information_schema.routines WHERE routine_schema = ?
			UNION ALL SELECT 'EVENT', event_name FROM information_schema.events WHERE event_schema = ?`, "?", "'"+database+"'"))
		if err != nil {
			return err
		}
		// The database itself stays: vttablet has connections to it.
		drop := []string{"SET foreign_key_checks = 0, lock_wait_timeout = 20; ALTER DATABASE " + database + " CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_ai_ci"}
		for object := range strings.Lines(objects) {
			kind, name, _ := strings.Cut(strings.TrimSpace(object), " ")
			drop = append(drop, "DROP "+kind+" "+database+".`"+name+"`")
		}
		if _, err = k.lock.ExecContext(ctx, strings.Join(drop, "; ")); err != nil {
			return err
		}
	}
	return nil
}

// note notes what it is like from now on.
func (k *keyspace) note(ctx context.Context, alike any) error {
	_, err := k.lock.ExecContext(ctx, noteAlike, alike, k.name)
	return err
}

// end lets another test have it.
func (k *keyspace) end() error { return errors.Join(k.lock.Close(), k.db.Close()) }

// letGo is end with a note of what it is like.
func (k *keyspace) letGo(alike any) error {
	ctx, cancel := context.WithTimeout(context.Background(), cleanupTime)
	defer cancel()
	return errors.Join(k.note(ctx, alike), k.end())
}
