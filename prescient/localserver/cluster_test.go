//go:build cluster

package localserver

import (
	"context"
	"testing"
	"time"
)

func TestANodeThatWasKilledComesBackToItsCluster(t *testing.T) {
	for _, engine := range []Engine{Galera, GroupReplication} {
		t.Run(string(engine), func(t *testing.T) {
			cluster, err := StartCluster(t.Context(), ClusterOptions{Engine: engine})
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := cluster.Close(); err != nil {
					t.Error(err)
				}
			}()
			write(t, cluster, "CREATE DATABASE shop")
			write(t, cluster, "CREATE TABLE shop.rows_of (n INT PRIMARY KEY)")
			write(t, cluster, "INSERT INTO shop.rows_of VALUES (1)")
			killed := cluster.Primary(t.Context())
			killed.Kill()
			write(t, cluster, "INSERT INTO shop.rows_of VALUES (2)")
			if cluster.Primary(t.Context()) == killed {
				t.Fatal("the killed node takes writes")
			}
			if err := killed.Restart(t.Context()); err != nil {
				t.Fatal(err)
			}
			for _, s := range cluster.Nodes {
				eventuallyHas(t, s, 2)
			}
		})
	}
}

// write executes a statement where writes are taken, as soon as they are.
func write(t *testing.T, cluster *Cluster, statement string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for {
		var err error
		if primary := cluster.Primary(ctx); primary != nil {
			db := open(t, primary.DSN(""))
			_, err = db.ExecContext(ctx, statement)
			if err == nil {
				return
			}
		}
		if ctx.Err() != nil {
			t.Fatalf("%s: %v", statement, err)
		}
		time.Sleep(readyPause)
	}
}

func eventuallyHas(t *testing.T, s *Server, rows int) {
	t.Helper()
	db := open(t, s.DSN(""))
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(readyPause) {
		var n int
		err := db.QueryRow("SELECT COUNT(*) FROM shop.rows_of").Scan(&n)
		if n == rows && err == nil {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("node %s has %d rows (%v), want %d", s.Addr(), n, err, rows)
		}
	}
}
