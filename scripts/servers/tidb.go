//go:build unix

package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/go-sql-driver/mysql"
)

// startTime bounds the start of TiDB, which makes its system tables first.
const startTime = 2 * time.Minute

// runTiDB starts a TiDB server with its storage in the same process, runs the command or waits, and cleans up.
func runTiDB(program string, command []string) (code int, err error) {
	ctx, stop := notify()
	defer stop()
	dir, err := os.MkdirTemp("", "prescient-tidb-")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	// Without this a statement in no transaction takes no locks: it fails at its end instead, or does not see what it
	// should have waited for.
	settings := filepath.Join(dir, "tidb.toml")
	if err := os.WriteFile(settings, []byte("[pessimistic-txn]\npessimistic-auto-commit = true\n"), 0o600); err != nil {
		return 0, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	port := listener.Addr().(*net.TCPAddr).Port
	if err := listener.Close(); err != nil {
		return 0, err
	}
	server := exec.Command(program, "-config", settings, "-store", "unistore", "-path", filepath.Join(dir, "data"), "-host", "127.0.0.1",
		"-P", strconv.Itoa(port), "-report-status=false", "-socket", filepath.Join(dir, "s.sock"), "-L", "error",
		"-log-file", filepath.Join(dir, "tidb.log"), "-temp-dir", filepath.Join(dir, "tmp"))
	server.Dir = dir
	server.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // so that Ctrl-C is ours to pass on
	if err := server.Start(); err != nil {
		return 0, fmt.Errorf("starting TiDB: %w", err)
	}
	exited := make(chan error, 1)
	go func() { exited <- server.Wait() }()
	defer func() {
		_ = server.Process.Kill() // its data go anyway
		<-exited
	}()
	config := mysql.NewConfig()
	config.User, config.Net, config.Addr = "root", "tcp", fmt.Sprintf("127.0.0.1:%d", port)
	config.Logger = &mysql.NopLogger{}
	version, err := waitFor(ctx, config, exited)
	if err != nil {
		return 0, err
	}
	dsn := config.FormatDSN()
	if err := createDatabase(ctx, dsn); err != nil {
		return 0, err
	}
	config.DBName = database
	fmt.Printf("tidb: %s, pid %d in %s\n%s\n", version, server.Process.Pid, dir, config.FormatDSN())
	if len(command) == 0 {
		<-ctx.Done()
		return 0, nil
	}
	return execute(ctx, command, append(os.Environ(), "PRESCIENT_DSN="+config.FormatDSN(), "PRESCIENT_TEST_DSNS=mysql="+dsn))
}

// waitFor waits until the server answers and returns its version.
func waitFor(ctx context.Context, config *mysql.Config, exited chan error) (version string, err error) {
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	connector, err := mysql.NewConnector(config)
	if err != nil {
		return "", err
	}
	db := sql.OpenDB(connector)
	defer db.Close()
	for {
		answer := db.QueryRowContext(ctx, "SELECT VERSION()").Scan(&version)
		if answer == nil {
			return version, nil
		}
		select {
		case err := <-exited:
			exited <- err
			return "", fmt.Errorf("TiDB ended before it answered: %w", err)
		case <-ctx.Done():
			return "", fmt.Errorf("waiting for TiDB: %w (last answer: %w)", ctx.Err(), answer)
		case <-time.After(200 * time.Millisecond):
		}
	}
}
