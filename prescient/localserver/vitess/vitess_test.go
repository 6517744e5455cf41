package vitess

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
)

func TestShardsAreRangesOfOneSize(t *testing.T) {
	for _, want := range [][]string{{"-"}, {"-80", "80-"}, {"-55", "55-aa", "aa-"}, {"-40", "40-80", "80-c0", "c0-"}} {
		if got := shardNames(len(want)); !slices.Equal(got, want) {
			t.Errorf("%d shards are %q; want %q", len(want), got, want)
		}
	}
	if names := shardNames(256); names[0] != "-01" || names[1] != "01-02" || names[255] != "ff-" {
		t.Errorf("256 shards are %q", names)
	}
}

// start starts a cluster that is closed at the end of the test, or skips the test where there is no Vitess.
func start(t *testing.T, options Options) *Cluster {
	t.Helper()
	if _, err := find(); err != nil {
		t.Skip(err)
	}
	begun := time.Now()
	cluster, err := Start(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d shards are up after %.1f s", len(cluster.Shards), time.Since(begun).Seconds())
	t.Cleanup(func() {
		if err := cluster.Close(); err != nil {
			t.Error(err)
		}
	})
	return cluster
}

func open(t *testing.T, dsn string) *sql.DB {
	t.Helper()
	config, err := mysql.ParseDSN(dsn)
	if err != nil {
		t.Fatal(err)
	}
	config.Logger = &mysql.NopLogger{} // a killed server is what this is about
	connector, err := mysql.NewConnector(config)
	if err != nil {
		t.Fatal(err)
	}
	db := sql.OpenDB(connector)
	t.Cleanup(func() { db.Close() })
	return db
}

func execute(t *testing.T, db *sql.DB, statement string) {
	t.Helper()
	if _, err := db.ExecContext(t.Context(), statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

// eventually waits until a question has an answer, for a minute at most.
func eventually(t *testing.T, db *sql.DB, question, want string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	last := "nothing"
	for {
		var got string
		once, cancel := context.WithTimeout(ctx, 10*time.Second)
		err := db.QueryRowContext(once, question).Scan(&got)
		cancel()
		if got == want && err == nil {
			return
		}
		if ctx.Err() == nil {
			last = fmt.Sprintf("%q, %v", got, err)
		}
		select {
		case <-ctx.Done():
			t.Fatalf("%s: %s, and %q, %v; want %q", question, last, got, err, want)
		case <-time.After(pause):
		}
	}
}

const things = `{"sharded": true, "vindexes": {"hash": {"type": "xxhash"}}, "tables": {"things": {"column_vindexes": [{"column": "id", "name": "hash"}]}}}`

func TestOneShardGoesOnWhereAnotherIsDown(t *testing.T) {
	t.Setenv("TMPDIR", folderOf(t))
	cluster := start(t, Options{VSchema: things})
	first, second, keyspace := open(t, cluster.Shards[0].DSN()), open(t, cluster.Shards[1].DSN()), open(t, cluster.DSN())
	for i, shard := range []*sql.DB{first, second} {
		execute(t, shard, "CREATE TABLE things (id BIGINT PRIMARY KEY, place VARCHAR(10) NOT NULL)")
		execute(t, shard, "INSERT INTO things VALUES ("+[]string{"1, 'first'", "2, 'second'"}[i]+")")
		eventually(t, shard, "SELECT GROUP_CONCAT(place) FROM things", []string{"first", "second"}[i])
	}
	eventually(t, keyspace, "SELECT COUNT(*) FROM things", "2")

	cluster.Shards[0].Server.Kill()
	if _, err := first.ExecContext(t.Context(), "INSERT INTO things VALUES (3, 'first')"); err == nil {
		t.Error("a shard takes a row whose MySQL is dead")
	}
	execute(t, second, "INSERT INTO things VALUES (4, 'second')")
	eventually(t, second, "SELECT COUNT(*) FROM things", "2")
	if err := cluster.Shards[0].Server.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	eventually(t, first, "SELECT COUNT(*) FROM things", "1")
	eventually(t, keyspace, "SELECT COUNT(*) FROM things", "3")

	for range 2 {
		if err := cluster.Close(); err != nil {
			t.Fatal(err)
		}
	}
	wantEmpty(t, os.TempDir())
}

// folderOf makes a folder of the test's own for temporary files, with a path that is short enough for sockets in folders of it.
func folderOf(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "px-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func wantEmpty(t *testing.T, dir string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) > 0 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}

func TestAStartThatFailsSaysWhyAndLeavesNothing(t *testing.T) {
	if _, err := find(); err != nil {
		t.Skip(err)
	}
	t.Setenv("TMPDIR", folderOf(t))
	for _, options := range []Options{{Shards: 1, ServerArgs: []string{"--no-such-setting=1"}}, {Shards: 1, TabletArgs: []string{"--no-such-setting"}}} {
		cluster, err := Start(t.Context(), options)
		if err == nil {
			cluster.Close()
		}
		if err == nil || !strings.Contains(err.Error(), "no-such-setting") {
			t.Errorf("%v; want the program's own words in it", err)
		}
		wantEmpty(t, os.TempDir())
	}
	if _, err := Start(t.Context(), Options{Shards: 257}); err == nil || !strings.Contains(err.Error(), "257") {
		t.Error(err)
	}
}
