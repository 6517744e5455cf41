//go:build unix

// Command cluster starts three nodes of a cluster on the loopback device, prints the DSN that lists them, and stops them
// at its end: when the command that it was given ends, or else when it is interrupted.
//
//	go run ./scripts/cluster -engine galera|group-replication [-nodes N] [-- COMMAND [ARGUMENT...]]
//
// The command finds the list in PRESCIENT_DSN, with an empty database "shop", a node that takes writes in
// PRESCIENT_TEST_DSNS, as tests want it, and the nodes' processes in PRESCIENT_CLUSTER_PIDS, in the order of the list.
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
	"strconv"
	"strings"
	"syscall"
	"time"

	_ "github.com/go-sql-driver/mysql"

	"prescient/prescient/localserver"
)

// database is an empty one that a command finds.
const database = "shop"

func main() {
	engine := flag.String("engine", "", "galera or group-replication")
	nodes := flag.Int("nodes", 3, "how many nodes")
	durable := flag.Bool("durable", false, "each commit is on disk when it returns")
	flag.Parse()
	if *engine != string(localserver.Galera) && *engine != string(localserver.GroupReplication) || *nodes < 1 {
		fmt.Fprintln(os.Stderr, "usage: cluster -engine galera|group-replication [-nodes N] [-durable] [-- COMMAND [ARGUMENT...]]")
		os.Exit(2)
	}
	code, err := run(localserver.ClusterOptions{Engine: localserver.Engine(*engine), Nodes: *nodes,
		Server: localserver.Options{Durable: *durable, Args: []string{"--max-connections=500"}}}, flag.Args())
	if err != nil {
		fmt.Fprintln(os.Stderr, "cluster:", err)
		code = 1
	}
	os.Exit(code)
}

// run starts the cluster, runs the command or waits, and cleans up.
func run(options localserver.ClusterOptions, command []string) (code int, err error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
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
	if len(command) == 0 {
		<-ctx.Done()
		return 0, nil
	}
	return execute(ctx, command, environment(cluster, primary))
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
	var pids []string
	for _, node := range cluster.Nodes {
		pids = append(pids, strconv.Itoa(node.Pid()))
	}
	return append(os.Environ(),
		"PRESCIENT_DSN="+cluster.DSN(database),
		fmt.Sprintf("PRESCIENT_TEST_DSNS=%s=%s", primary.Flavour(), primary.DSN("")),
		"PRESCIENT_CLUSTER_PIDS="+strings.Join(pids, " "))
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
