package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/hibiken/asynq"
)

var asynqSection = section{
	name:  "asynq",
	about: "Asynq on Redis, for tasks that come due at one instant and are kept when done, beside a slot run",
	run: func(ctx context.Context, b *bench, s *server) error {
		st, err := b.makeStage(ctx, s, "asynq", b.scaled(50_000), b.scaled(200_000))
		if err != nil {
			return err
		}
		if !b.keep {
			defer st.drop(ctx)
		}
		for round := 1; round <= b.rounds; round++ {
			for _, fsync := range []string{"always", "everysec"} {
				if err := b.asynq(ctx, round, fsync, st.due); err != nil {
					return err
				}
			}
			for _, c := range []contestant{slotRunOf("prescient, ends", "one"), slotRunOf("prescient, ends, batch handler", "batch")} {
				if err := st.set(ctx); err != nil {
					return err
				}
				if _, err := b.took(c.name, round, []int{st.pid}, func() (int, error) { return st.due, c.do(ctx, st) }); err != nil {
					return err
				}
			}
		}
		return nil
	},
}

// asynq schedules tasks for one instant, waits for it, and then lets a server work until all are done.
func (b *bench) asynq(ctx context.Context, round int, fsync string, due int) (err error) {
	redis, address, err := startRedis(ctx, fsync)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, redis.stop()) }()
	to := asynq.RedisClientOpt{Addr: address}
	client, inspector := asynq.NewClient(to), asynq.NewInspector(to)
	defer client.Close()
	defer inspector.Close()
	at := time.Now().Add(5*time.Second + time.Duration(due)*time.Millisecond/2)
	if err := inParallel(ctx, 32, due, func(ctx context.Context, i int) error {
		_, err := client.EnqueueContext(ctx, asynq.NewTask(dueExec, []byte(strconv.Itoa(i))), asynq.ProcessAt(at), asynq.Retention(day))
		return err
	}); err != nil {
		return err
	}
	if err := pause(ctx, time.Until(at)); err != nil {
		return err
	}
	_, err = b.took("Asynq on Redis, fsync "+fsync, round, []int{redis.process.Process.Pid}, func() (int, error) {
		// By default it looks for what is due every 5 s.
		server := asynq.NewServer(to, asynq.Config{Concurrency: 32, LogLevel: asynq.FatalLevel, DelayedTaskCheckInterval: 100 * time.Millisecond})
		if err := server.Start(asynq.HandlerFunc(func(context.Context, *asynq.Task) error { return nil })); err != nil {
			return 0, err
		}
		defer server.Shutdown()
		for {
			queue, err := inspector.GetQueueInfo("default")
			if err != nil {
				return 0, err
			}
			if queue.Completed == due {
				return due, nil
			}
			select {
			case <-ctx.Done():
				return 0, ctx.Err()
			case <-time.After(50 * time.Millisecond):
			}
		}
	})
	return err
}

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
		"--appendonly", "yes", "--appendfsync", fsync, "--save", "")
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
