//go:build cluster

package acceptance

import (
	"context"
	"testing"
	"time"

	"prescient/prescient/connect"
	"prescient/prescient/internal/errno"
	"prescient/prescient/internal/rig"
	"prescient/prescient/internal/store"
	"prescient/prescient/localserver"
	"prescient/prescient/localserver/servertest"
)

func startCluster(t *testing.T, engine localserver.Engine) *localserver.Cluster {
	t.Helper()
	cluster, err := localserver.StartCluster(t.Context(), localserver.ClusterOptions{Engine: engine,
		Server: localserver.Options{Args: []string{"--max-connections=500"}}})
	rig.Fatal(t, err)
	t.Cleanup(func() {
		if err := cluster.Close(); err != nil {
			t.Error(err)
		}
	})
	return cluster
}

func TestAWorkerOnAnotherNodeReadsWhatWasCommittedBefore(t *testing.T) {
	cluster := startCluster(t, localserver.Galera)
	const rows = 300
	root := servertest.Open(t, cluster.Nodes[0].DSN(""), "")
	_, err := root.Exec("CREATE DATABASE shop")
	rig.Fatal(t, err)
	here, err := connect.Open(cluster.Nodes[0].DSN("shop"), 0)
	rig.Fatal(t, err)
	defer here.Close()
	there, err := connect.Open(cluster.Nodes[1].DSN("shop"), 0)
	rig.Fatal(t, err)
	defer there.Close()
	plain := servertest.Open(t, cluster.Nodes[1].DSN("shop"), "")
	_, err = here.Exec("CREATE TABLE written (n INT PRIMARY KEY)")
	rig.Fatal(t, err)
	lagged := 0
	var took time.Duration
	for n := range rows {
		_, err := here.Exec("INSERT INTO written VALUES (?)", n)
		rig.Fatal(t, err)
		var count int
		rig.Fatal(t, plain.QueryRow("SELECT COUNT(*) FROM written").Scan(&count))
		if count <= n {
			lagged++
		}
		_, err = here.Exec("DELETE FROM written WHERE n < 0 OR n = ?", -1)
		rig.Fatal(t, err)
		began := time.Now()
		rig.Fatal(t, there.QueryRow("SELECT COUNT(*) FROM written").Scan(&count))
		took += time.Since(began)
		if count != n+1 {
			t.Fatalf("the other node has %d rows of %d", count, n+1)
		}
	}
	t.Logf("without the wait %d of %d reads lagged; with it a read took %s", lagged, rows, (took / rows).Round(time.Microsecond))
}

// With the majority gone Galera answers with an error and a replication group not at all; either is given up in time.
func TestAClusterWithoutItsMajorityIsGivenUpInTime(t *testing.T) {
	const lease = 6 * time.Second
	for _, engine := range []localserver.Engine{localserver.Galera, localserver.GroupReplication} {
		t.Run(string(engine), func(t *testing.T) {
			cluster := startCluster(t, engine)
			primary := cluster.Primary(t.Context())
			root := servertest.Open(t, primary.DSN(""), "")
			for _, statement := range []string{"CREATE DATABASE shop", "CREATE TABLE shop.written (n INT PRIMARY KEY)"} {
				_, err := root.Exec(statement)
				rig.Fatal(t, err)
			}
			db, err := connect.Open(cluster.DSN("shop"), lease)
			rig.Fatal(t, err)
			defer db.Close()
			rig.Fatal(t, db.Ping())
			for _, s := range cluster.Nodes {
				if s != primary {
					s.Kill()
				}
			}
			// Until the survivor has noticed, Galera holds writes up, and may let one through that it had sent before.
			for n := 0; ; n++ {
				ctx, cancel := context.WithTimeout(t.Context(), store.StatementTime(lease))
				tx, err := db.BeginTx(ctx, nil)
				began := time.Now()
				if err == nil {
					if _, err = tx.ExecContext(ctx, "INSERT INTO written VALUES (?)", n); err == nil {
						began = time.Now()
						err = tx.Commit()
					}
					_ = store.Rollback(tx)
				}
				cancel()
				took := time.Since(began)
				if took > store.StatementTime(lease)+time.Second {
					t.Fatalf("it took %s", took)
				}
				if err != nil {
					t.Logf("after %s: %v", took.Round(time.Millisecond), err)
					if !errno.Passing(err) {
						t.Error("that does not pass by itself")
					}
				}
				if n == 6 {
					if err == nil {
						t.Error("a minority takes writes")
					}
					break
				}
			}
			primary.Kill() // it would wait for the others to stop
		})
	}
}
