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
	dsn := flag.String("dsn", "", "test on this server instead of own ones")
	flag.Parse()
	if flag.NArg() == 0 {
		fmt.Fprintln(os.Stderr, "usage: servers [-dsn DSN] -- COMMAND [ARGUMENT...]")
		os.Exit(2)
	}
	code, err := run(*dsn, flag.Args())
	if err != nil {
		fmt.Fprintln(os.Stderr, "servers:", err)
		code = 1
	}
	os.Exit(code)
}

// run provides the servers, runs the command and cleans up.
func run(dsn string, command []string) (code int, err error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	if dsn != "" {
		named, err := name(ctx, dsn)
		if err != nil {
			return 0, err
		}
		return execute(ctx, command, named)
	}
	servers, err := start(ctx)
	defer func() {
		for _, server := range servers {
			err = errors.Join(err, server.Close())
		}
	}()
	if err != nil {
		return 0, err
	}
	var named []string
	for _, server := range servers {
		fmt.Printf("testing on %s %s\n", server.Flavour(), server.Version())
		named = append(named, fmt.Sprintf("%s=%s", server.Flavour(), server.DSN("")))
	}
	return execute(ctx, command, strings.Join(named, " "))
}

// start starts a server of each flavour, both at the same time. It also
// returns those that did start when the other did not.
func start(ctx context.Context) ([]*localserver.Server, error) {
	flavours := []localserver.Flavour{localserver.MariaDB, localserver.MySQL}
	servers := make([]*localserver.Server, len(flavours))
	errs := make([]error, len(flavours))
	var all sync.WaitGroup
	for i, flavour := range flavours {
		all.Go(func() {
			servers[i], errs[i] = localserver.Start(ctx, localserver.Options{
				Flavour: flavour,
				Args:    []string{"--max-connections=500"},
			})
		})
	}
	all.Wait()
	var running []*localserver.Server
	for _, server := range servers {
		if server != nil {
			running = append(running, server)
		}
	}
	return running, errors.Join(errs...)
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
