//go:build unix

// Command cluster starts three nodes of a cluster on the loopback device, prints the DSN that lists them, and stops them
// at its end: when the command that it was given ends, or else when it is interrupted.
//
//	go run ./scripts/cluster -engine galera|group-replication [-nodes N] [-restart 10s] [-durable] [-- COMMAND [ARGUMENT...]]
//
// The command finds the list in PRESCIENT_DSN, with an empty database "shop", a node that takes writes in
// PRESCIENT_TEST_DSNS, as tests want it, and the nodes' folders in CLUSTER_DIRS, in the order of the list: each has the
// node's process id in server.pid. With -restart a node that was killed is started again after that time. TiDB is a single server, without folders.
package main

import (
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"

	_ "github.com/go-sql-driver/mysql"

	"prescient/prescient/localserver"
)

// database is an empty one that a command finds.
const database = "shop"

func main() {
	engine := flag.String("engine", "", "galera, group-replication or tidb")
	tidb := flag.String("tidb", "", "TiDB's server program, for that engine")
	nodes := flag.Int("nodes", 3, "how many nodes")
	restart := flag.Duration("restart", 0, "start a node again so long after it was killed; 0 for never")
	durable := flag.Bool("durable", false, "each commit is on disk when it returns")
	flag.Parse()
	var code int
	var err error
	switch {
	case *engine == "tidb" && *tidb != "":
		code, err = runTiDB(*tidb, flag.Args())
	case (*engine == string(localserver.Galera) || *engine == string(localserver.GroupReplication)) && *nodes > 0:
		code, err = run(localserver.ClusterOptions{Engine: localserver.Engine(*engine), Nodes: *nodes,
			Server: localserver.Options{Durable: *durable, Args: []string{"--max-connections=500"}}}, *restart, flag.Args())
	default:
		fmt.Fprintln(os.Stderr, "usage: cluster -engine galera|group-replication [-nodes N] [-restart DURATION] [-durable] [-- COMMAND [ARGUMENT...]]")
		code = 2
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "cluster:", err)
		code = 1
	}
	os.Exit(code)
}

// run starts the cluster, runs the command or waits, and cleans up.
func run(options localserver.ClusterOptions, restart time.Duration, command []string) (code int, err error) {
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
	look := time.NewTicker(time.Second)
	defer look.Stop()
	var dead time.Time
	for {
		select {
		case <-ctx.Done():
			return
		case <-look.C:
		}
		switch {
		case node.Pid() != 0:
			dead = time.Time{}
		case dead.IsZero():
			dead = time.Now()
		case time.Since(dead) >= after:
			if err := node.Restart(ctx); err != nil && ctx.Err() == nil {
				fmt.Fprintln(os.Stderr, "cluster:", err)
			}
		}
	}
}

// notify returns a context that ends when somebody asks this program to end.
func notify() (context.Context, context.CancelFunc) {
	return signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
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

// execute runs the command to its end and returns its exit code. A signal that asks this program to end asks the command
// and all that it started.
func execute(ctx context.Context, command, environment []string) (int, error) {
	child := exec.CommandContext(ctx, command[0], command[1:]...)
	child.Env = environment
	child.Stdin, child.Stdout, child.Stderr = os.Stdin, os.Stdout, os.Stderr
	child.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	child.Cancel = func() error { return syscall.Kill(-child.Process.Pid, syscall.SIGTERM) }
	child.WaitDelay = 30 * time.Second
	err := child.Run()
	if child.ProcessState == nil {
		return 0, fmt.Errorf("running %s: %w", command[0], err)
	}
	if code := child.ProcessState.ExitCode(); code >= 0 {
		return code, nil
	}
	return 0, fmt.Errorf("%s: %w", command[0], err)
}
