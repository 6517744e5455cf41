//go:build unix

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

func main() {
	names := flag.String("start", "mariadb,mariadb-11.8,mysql", "the servers to start")
	dsn := flag.String("dsn", "", "test on this server instead of own ones")
	flag.Parse()
	if flag.NArg() == 0 {
		fmt.Fprintln(os.Stderr, "usage: servers [-start LIST | -dsn DSN] -- COMMAND [ARGUMENT...]")
		os.Exit(2)
	}
	code, err := run(*dsn, strings.Split(*names, ","), flag.Args())
	if err != nil {
		fmt.Fprintln(os.Stderr, "servers:", err)
		code = 1
	}
	os.Exit(code)
}

// run provides the servers, runs the command and cleans up.
func run(dsn string, names, command []string) (code int, err error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	if dsn != "" {
		named, err := name(ctx, dsn)
		if err != nil {
			return 0, err
		}
		return execute(ctx, command, named)
	}
	servers, err := start(ctx, names)
	defer func() {
		for _, server := range servers {
			if server != nil {
				err = errors.Join(err, server.Close())
			}
		}
	}()
	if err != nil {
		return 0, err
	}
	var named []string
	for i, server := range servers {
		fmt.Printf("testing on %s, %s\n", names[i], server.Version())
		named = append(named, fmt.Sprintf("%s=%s", names[i], server.DSN("")))
	}
	return execute(ctx, command, strings.Join(named, " "))
}

// start starts the servers with these names, all at the same time. With an
// error those that did not start are nil.
func start(ctx context.Context, names []string) ([]*localserver.Server, error) {
	servers := make([]*localserver.Server, len(names))
	errs := make([]error, len(names))
	var all sync.WaitGroup
	for i, name := range names {
		all.Go(func() {
			options, err := localserver.Named(name)
			if err != nil {
				errs[i] = err
				return
			}
			options.Args = []string{"--max-connections=500"}
			servers[i], errs[i] = localserver.Start(ctx, options)
		})
	}
	all.Wait()
	return servers, errors.Join(errs...)
}

// name asks a server for its flavour, and returns it with the DSN as
// PRESCIENT_TEST_DSNS has it.
func name(ctx context.Context, dsn string) (string, error) {
	if strings.ContainsAny(dsn, " \t\n") {
		return "", errors.New("the DSN has a space in it, which PRESCIENT_TEST_DSNS cannot carry")
	}
	db, err := sql.Open("mysql", dsn)
	if err != nil {
		return "", fmt.Errorf("the given DSN: %w", err)
	}
	defer db.Close()
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	var version string
	if err := db.QueryRowContext(ctx, "SELECT VERSION()").Scan(&version); err != nil {
		return "", fmt.Errorf("asking the given server for its version: %w", err)
	}
	flavour := localserver.MySQL
	if strings.Contains(version, "MariaDB") {
		flavour = localserver.MariaDB
	}
	fmt.Printf("testing on the given server, %s %s\n", flavour, version)
	return fmt.Sprintf("%s=%s", flavour, dsn), nil
}

// execute runs the command to its end and returns its exit code. A signal that
// asks this program to end asks the command and all that it started: go test
// would leave the tests behind.
func execute(ctx context.Context, command []string, named string) (int, error) {
	child := exec.CommandContext(ctx, command[0], command[1:]...)
	child.Env = append(os.Environ(), "PRESCIENT_TEST_DSNS="+named)
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
