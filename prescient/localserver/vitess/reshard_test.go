package vitess

import (
	"context"
	"fmt"
	"testing"
	"time"
)

// What becomes of a cluster beneath those who use it: another primary, another vtgate, other shards. Rows are where they belong after each.
func TestAClusterIsReparentedAndReshardedAndHasAnotherGate(t *testing.T) {
	t.Setenv("TMPDIR", folderOf(t))
	cluster := start(t, Options{VSchema: things})
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, shard := range cluster.Shards {
		execute(t, open(t, shard.DSN()), "CREATE TABLE things (id BIGINT PRIMARY KEY, place VARCHAR(10) NOT NULL)")
	}
	keyspace := open(t, cluster.DSN())
	inserted := 0
	insert := func() {
		t.Helper()
		for range 50 {
			inserted++
			statement := fmt.Sprintf("INSERT INTO things VALUES (%d, 'x')", inserted)
			for _, err := keyspace.ExecContext(ctx, statement); err != nil; _, err = keyspace.ExecContext(ctx, statement) {
				if ctx.Err() != nil {
					t.Fatal(err)
				}
				time.Sleep(pause)
			}
		}
		eventually(t, keyspace, "SELECT COUNT(*) FROM things", fmt.Sprint(inserted))
	}
	insert()

	first := cluster.Shards[0]
	replica, err := first.AddReplica(ctx)
	must(err)
	must(first.Reparent(ctx, replica))
	insert()
	database := "vt_" + Keyspace
	eventually(t, open(t, first.Server.DSN(database)), "SELECT COUNT(*) FROM things", count(t, replica.Server.DSN(database))) // or the rest would be lost
	replica.Kill()
	must(first.ReparentFromDead(ctx, replica, first.Tablet))
	insert()

	cluster.KillGate()
	must(cluster.StartGate(ctx))
	insert()

	into, err := cluster.AddShards(ctx, "-40", "40-80")
	must(err)
	reshard, err := cluster.Reshard(ctx, cluster.Shards[:1], into)
	must(err)
	insert()
	must(reshard.Copied(ctx))
	must(reshard.Switch(ctx))
	insert()
	must(reshard.Complete(ctx))
	insert()
	eventually(t, keyspace, "SELECT COUNT(*) > 0 FROM things", "1")
	for _, shard := range reshard.Into {
		eventually(t, open(t, shard.DSN()), "SELECT COUNT(*) > 10 FROM things", "1")
	}
	if _, err := open(t, first.DSN()).ExecContext(ctx, "INSERT INTO things VALUES (0, 'x')"); err == nil {
		t.Error("a shard takes a row that was divided")
	}
	cluster.KillGate()
	must(cluster.StartGate(ctx))
	insert()
}

// count counts the things on one MySQL.
func count(t *testing.T, dsn string) (n string) {
	t.Helper()
	if err := open(t, dsn).QueryRowContext(t.Context(), "SELECT COUNT(*) FROM things").Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}
