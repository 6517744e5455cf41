package peers

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// Redis is a Redis of this run's own.
type Redis struct {
	Process *exec.Cmd
	dir     string
	exited  chan error
}

// StartRedis starts a server that writes to disk as fsync says.
func StartRedis(ctx context.Context, fsync string) (*Redis, string, error) {
	program, err := exec.CommandContext(ctx, "./redis").Output()
	if err != nil {
		return nil, "", fmt.Errorf("getting a Redis server: %w", err)
	}
	dir, err := os.MkdirTemp("", "prescient-bench-redis-")
	if err != nil {
		return nil, "", err
	}
	port, err := freePort()
	if err != nil {
		return nil, "", err
	}
	address := "127.0.0.1:" + port
	r := &Redis{dir: dir, exited: make(chan error, 1)}
	r.Process = exec.Command(filepath.Join(strings.TrimSpace(string(program)), "redis-server"), "--bind", "127.0.0.1", "--port", port, "--dir", dir,
		"--appendonly", "yes", "--appendfsync", fsync, "--save", "", "--auto-aof-rewrite-percentage", "0")
	r.Process.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := startDying(r.Process, r.exited); err != nil {
		return nil, "", errors.Join(err, os.RemoveAll(dir))
	}
	for range 200 {
		connection, err := net.DialTimeout("tcp", address, time.Second)
		if err == nil {
			return r, address, connection.Close()
		}
		select {
		case err := <-r.exited:
			return nil, "", errors.Join(fmt.Errorf("redis-server ended: %w", err), os.RemoveAll(dir))
		case <-time.After(50 * time.Millisecond):
		}
	}
	return nil, "", errors.Join(errors.New("redis-server does not answer"), r.Stop())
}

// Stop ends the server and removes its folder.
func (r *Redis) Stop() error {
	end(r.Process, r.exited, syscall.SIGTERM)
	return os.RemoveAll(r.dir)
}
