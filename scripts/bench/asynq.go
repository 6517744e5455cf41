//go:build !noasynq

package main

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"

	"prescient/scripts/bench/internal/page"
	"prescient/scripts/bench/internal/peers"
	"prescient/scripts/bench/internal/rig"
)

// besideAsynq lets Asynq and prescient compete at one number of pending tasks.
func besideAsynq(ctx context.Context, b *rig.Bench, s *rig.Server, due, pending int) (err error) {
	st, err := b.MakeStage(ctx, s, "asynq", due, pending)
	if err != nil {
		return err
	}
	if !b.Keep {
		defer st.Drop(ctx)
	}
	server, address, err := peers.StartRedis(ctx, "no")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Stop()) }()
	a := asynqPeer{to: asynq.RedisClientOpt{Addr: address}, settings: redis.NewClient(&redis.Options{Addr: address}), pid: server.Process.Process.Pid}
	defer a.settings.Close()
	suffix := ""
	if pending > 0 {
		suffix = page.AmongPending
		far := time.Now().Add(2 * rig.Day)
		if err := a.enqueue(ctx, pending, rig.IdleExec, func(i int) time.Time { return far.Add(time.Duration(i%28) * rig.Day) }); err != nil {
			return err
		}
	}
	for round := 1; round <= b.Rounds; round++ {
		for _, fsync := range []string{"always", "everysec"} {
			if err := a.set(ctx, due, fsync); err != nil {
				return err
			}
			var worker *asynq.Server
			_, err := b.Took(page.AsynqName(fsync)+suffix, round, []int{a.pid}, func() (_ int, err error) {
				worker, err = a.work(ctx, due)
				return due, err
			})
			if worker != nil {
				worker.Shutdown()
			}
			if err != nil {
				return err
			}
		}
		if err := slotRuns(ctx, b, st, round, suffix); err != nil {
			return err
		}
	}
	return nil
}

// asynqPeer is Asynq on a server.
type asynqPeer struct {
	to       asynq.RedisClientOpt
	settings *redis.Client
	pid      int
}

// enqueue schedules tasks, whose ends are kept.
func (a *asynqPeer) enqueue(ctx context.Context, n int, name string, at func(i int) time.Time) error {
	client := asynq.NewClient(a.to)
	defer client.Close()
	return rig.InParallel(ctx, 32, n, func(ctx context.Context, i int) error {
		_, err := client.EnqueueContext(ctx, asynq.NewTask(name, []byte(strconv.Itoa(i))), asynq.ProcessAt(at(i)), asynq.Retention(rig.Day))
		return err
	})
}

// set schedules tasks for one instant, in place of those that are done, and waits for it.
func (a *asynqPeer) set(ctx context.Context, due int, fsync string) error {
	if err := a.settings.ConfigSet(ctx, "appendfsync", "no").Err(); err != nil {
		return err
	}
	inspector := asynq.NewInspector(a.to)
	defer inspector.Close()
	queues, err := inspector.Queues()
	if err != nil {
		return err
	}
	for _, queue := range queues {
		if _, err := inspector.DeleteAllCompletedTasks(queue); err != nil {
			return err
		}
	}
	at := time.Now().Add(time.Second + time.Duration(due)*200*time.Microsecond) // when they are there
	if err := a.enqueue(ctx, due, rig.DueExec, func(int) time.Time { return at }); err != nil {
		return err
	}
	if err := rig.Pause(ctx, time.Until(at)); err != nil {
		return err
	}
	return a.settings.ConfigSet(ctx, "appendfsync", fsync).Err()
}

// work lets a server work until all are done. It is to be shut down, which takes its time.
func (a *asynqPeer) work(ctx context.Context, due int) (*asynq.Server, error) {
	inspector := asynq.NewInspector(a.to)
	defer inspector.Close()
	// By default it looks for what is due every 5 s, and sleeps for a second when there was nothing to be done.
	server := asynq.NewServer(a.to, asynq.Config{Concurrency: 32, LogLevel: asynq.FatalLevel, DelayedTaskCheckInterval: 100 * time.Millisecond,
		TaskCheckInterval: 10 * time.Millisecond})
	if err := server.Start(asynq.HandlerFunc(func(context.Context, *asynq.Task) error { return nil })); err != nil {
		return nil, err
	}
	for {
		queue, err := inspector.GetQueueInfo("default")
		if err != nil || queue.Completed == due {
			return server, err
		}
		if err := rig.Pause(ctx, 50*time.Millisecond); err != nil {
			return server, err
		}
	}
}

// idleAsynq is Asynq with its defaults.
func idleAsynq(ctx context.Context, b *rig.Bench) (err error) {
	server, address, err := peers.StartRedis(ctx, "everysec")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Stop()) }()
	to := asynq.RedisClientOpt{Addr: address}
	client := asynq.NewClient(to)
	defer client.Close()
	far := time.Now().Add(2 * rig.Day)
	if err := rig.InParallel(ctx, 32, b.Scaled(1_000_000), func(ctx context.Context, i int) error {
		_, err := client.EnqueueContext(ctx, asynq.NewTask(rig.IdleExec, []byte(strconv.Itoa(i))), asynq.ProcessAt(far.Add(time.Duration(i%28)*rig.Day)))
		return err
	}); err != nil {
		return err
	}
	info := redis.NewClient(&redis.Options{Addr: address})
	defer info.Close()
	i, err := watch(ctx, b, server.Process.Process.Pid, func() (float64, error) {
		stats, err := info.InfoMap(ctx, "stats").Result()
		if err != nil {
			return 0, err
		}
		return strconv.ParseFloat(stats["Stats"]["total_commands_processed"], 64)
	}, func(ctx context.Context) error {
		worker := asynq.NewServer(to, asynq.Config{Concurrency: 32, LogLevel: asynq.FatalLevel})
		if err := worker.Start(asynq.HandlerFunc(func(context.Context, *asynq.Task) error { return nil })); err != nil {
			return err
		}
		<-ctx.Done()
		worker.Shutdown()
		return nil
	})
	if err != nil {
		return err
	}
	return addIdle(b, "Asynq on Redis, its defaults", i.figures(), "commands of Redis, those within its scripts too")
}
