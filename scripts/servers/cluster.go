//go:build unix

package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"prescient/prescient/localserver"
)

// database is an empty one that a command finds.
const database = "shop"

// runCluster starts the cluster, runs the command or waits, and cleans up.
func runCluster(options localserver.ClusterOptions, restart time.Duration, command []string) (code int, err error) {
	ctx, stop := notify()
	defer stop()
	cluster, err := localserver.StartCluster(ctx, options)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, cluster.Close()) }()
	primary := cluster.Primary(ctx)
	if primary == nil {
		return 0, errors.New("no node takes writes")
	}
	if err := createDatabase(ctx, primary.DSN("")); err != nil {
		return 0, err
	}
	fmt.Printf("%s: %d nodes of %s %s\n", options.Engine, len(cluster.Nodes), primary.Flavour(), primary.Version())
	for _, node := range cluster.Nodes {
		fmt.Printf("  pid %d at %s in %s\n", node.Pid(), node.Addr(), node.Dir())
	}
	fmt.Println(cluster.DSN(database))
	var restarting sync.WaitGroup
	defer restarting.Wait()
	if restart > 0 {
		ctx, stop := context.WithCancel(ctx)
		defer stop()
		for _, node := range cluster.Nodes {
			restarting.Go(func() { bringBack(ctx, node, restart) })
		}
	}
	if len(command) == 0 {
		<-ctx.Done()
		return 0, nil
	}
	return execute(ctx, command, environment(cluster, primary))
}

// bringBack starts a node again whenever it has been dead for a while.
func bringBack(ctx context.Context, node *localserver.Server, after time.Duration) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	var dead time.Time
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		switch {
		case node.Pid() != 0:
			dead = time.Time{}
		case dead.IsZero():
			dead = time.Now()
		case time.Since(dead) >= after:
			if err := node.Restart(ctx); err != nil && ctx.Err() == nil {
				fmt.Fprintln(os.Stderr, "servers:", err)
			}
		}
	}
}

func createDatabase(ctx context.Context, dsn string) error {
	db, err := sql.Open("mysql", dsn)
	if err != nil {
		return err
	}
	defer db.Close()
	if _, err := db.ExecContext(ctx, "CREATE DATABASE "+database+" CHARACTER SET utf8mb4"); err != nil {
		return fmt.Errorf("creating database %s: %w", database, err)
	}
	return nil
}

func environment(cluster *localserver.Cluster, primary *localserver.Server) []string {
	var dirs []string
	for _, node := range cluster.Nodes {
		dirs = append(dirs, node.Dir())
	}
	return append(os.Environ(),
		"PRESCIENT_DSN="+cluster.DSN(database),
		fmt.Sprintf("PRESCIENT_TEST_DSNS=%s=%s", primary.Flavour(), primary.DSN("")),
		"CLUSTER_DIRS="+strings.Join(dirs, " "))
}
