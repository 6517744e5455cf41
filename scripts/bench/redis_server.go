package main

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

// redisServer is a Redis of this run's own.
type redisServer struct {
	process *exec.Cmd
	dir     string
	exited  chan error
}

func startRedis(ctx context.Context, fsync string) (*redisServer, string, error) {
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
	r := &redisServer{dir: dir, exited: make(chan error, 1)}
	r.process = exec.Command(filepath.Join(strings.TrimSpace(string(program)), "redis-server"), "--bind", "127.0.0.1", "--port", port, "--dir", dir,
		"--appendonly", "yes", "--appendfsync", fsync, "--save", "", "--auto-aof-rewrite-percentage", "0")
	r.process.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := startDying(r.process, r.exited); err != nil {
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
	return nil, "", errors.Join(errors.New("redis-server does not answer"), r.stop())
}

func (r *redisServer) stop() error {
	end(r.process, r.exited, syscall.SIGTERM)
	return os.RemoveAll(r.dir)
}
