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

// runEach starts servers, or asks the given one for its flavour, runs the command and cleans up.
func runEach(dsn string, names, command []string) (code int, err error) {
	ctx, stop := notify()
	defer stop()
	if dsn != "" {
		named, err := name(ctx, dsn)
		if err != nil {
			return 0, err
		}
		return execute(ctx, command, testing(named, false))
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
	return execute(ctx, command, testing(strings.Join(named, " "), true))
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

// testing is the environment of a command that tests on servers. Where those are the run's own, tests leave databases there for one another.
func testing(named string, own bool) []string {
	shared := ""
	if own {
		shared = "yes"
	}
	return append(os.Environ(), "PRESCIENT_TEST_DSNS="+named, "PRESCIENT_TEST_SHARED="+shared)
}
