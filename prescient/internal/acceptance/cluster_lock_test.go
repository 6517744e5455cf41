//go:build cluster

package acceptance

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"prescient/prescient/connect"
	"prescient/prescient/internal/rig"
	"prescient/prescient/localserver"
	"prescient/prescient/localserver/servertest"
	"prescient/prescient/prune"
	"prescient/sql/migrate"
)

// shopOn makes a database on a cluster, and returns a pool for each of its nodes.
func shopOn(t *testing.T, cluster *localserver.Cluster) (pools []*sqlx.DB) {
	_, err := servertest.Open(t, cluster.Nodes[0].DSN(""), "").Exec("CREATE DATABASE shop CHARACTER SET utf8mb4")
	rig.Fatal(t, err)
	for _, node := range cluster.Nodes {
		db, err := connect.Open(node.DSN("shop"), time.Hour)
		rig.Fatal(t, err)
		t.Cleanup(func() { _ = db.Close() })
		pools = append(pools, db)
	}
	return pools
}

// Galera takes writes on every node, and its named locks hold on one.
func TestMigrationsOnTwoNodesWaitForOneAnother(t *testing.T) {
	cluster := startCluster(t, localserver.Galera)
	pools := shopOn(t, cluster)
	schema := migrate.Schema{Resolution: time.Second}

	t.Run("all at once, each migration is applied once", func(t *testing.T) {
		applied := make([]int, len(pools))
		var all sync.WaitGroup
		for i, db := range pools {
			all.Go(func() {
				done, err := migrate.Up(t.Context(), db.DB, schema)
				if err != nil {
					t.Errorf("node %d: %v", i, err)
				}
				applied[i] = len(done)
			})
		}
		all.Wait()
		sum, most := 0, 0
		for _, n := range applied {
			sum, most = sum+n, max(most, n)
		}
		if sum == 0 || most != sum {
			t.Errorf("%v migrations were applied by node; want all of them on one", applied)
		}
	})

	t.Run("nobody has it while another has", func(t *testing.T) {
		unlock, err := schema.Lock(t.Context(), pools[0].DB)
		rig.Fatal(t, err)
		ctx, cancel := context.WithTimeout(t.Context(), 40*time.Second) // longer than a dead holder's lock is waited for
		defer cancel()
		if other, err := schema.Lock(ctx, pools[1].DB); err == nil {
			other()
			t.Error("two nodes have the lock")
		} else if !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		unlock()
		began := time.Now()
		other, err := schema.Lock(t.Context(), pools[1].DB)
		rig.Fatal(t, err)
		other()
		if d := time.Since(began); d > 10*time.Second {
			t.Errorf("a lock that was given up was had after %s", d)
		}
	})

	t.Run("that of one who died is taken over", func(t *testing.T) {
		_, err := pools[0].Exec("UPDATE schema_lock SET holder = 'dead' WHERE id = 1")
		rig.Fatal(t, err)
		began := time.Now()
		unlock, err := schema.Lock(t.Context(), pools[1].DB)
		rig.Fatal(t, err)
		unlock()
		t.Logf("after %s", time.Since(began).Round(time.Second))
	})
}

func TestPrunesOnTwoNodesWaitForOneAnother(t *testing.T) {
	cluster := startCluster(t, localserver.Galera)
	pools := shopOn(t, cluster)
	_, err := migrate.Up(t.Context(), pools[0].DB, migrate.Schema{Resolution: time.Second})
	rig.Fatal(t, err)
	options := prune.Options{Keep: prune.MinKeep}

	t.Run("all at once, each of them ends", func(t *testing.T) {
		var all sync.WaitGroup
		for i, db := range pools {
			all.Go(func() {
				if _, err := prune.Run(t.Context(), db, options); err != nil {
					t.Errorf("node %d: %v", i, err)
				}
			})
		}
		all.Wait()
	})

	t.Run("nobody prunes while another does", func(t *testing.T) {
		conn, err := pools[0].Conn(t.Context())
		rig.Fatal(t, err)
		defer conn.Close()
		unlock, err := migrate.Schema{}.LockPrune(t.Context(), conn, pools[0].DB)
		rig.Fatal(t, err)
		if _, err := prune.Run(t.Context(), pools[1], options); !errors.Is(err, prune.ErrPruning) {
			t.Errorf("%v; want ErrPruning", err)
		}
		unlock()
		began := time.Now()
		_, err = prune.Run(t.Context(), pools[1], options)
		rig.Fatal(t, err)
		if d := time.Since(began); d > 10*time.Second {
			t.Errorf("a lock that was given up was had after %s", d)
		}
	})

	t.Run("that of one who died is taken over", func(t *testing.T) {
		_, err := pools[0].Exec("UPDATE schema_lock SET holder = 'dead' WHERE id = 3")
		rig.Fatal(t, err)
		began := time.Now()
		_, err = prune.Run(t.Context(), pools[1], options)
		rig.Fatal(t, err)
		t.Logf("after %s", time.Since(began).Round(time.Second))
	})
}
