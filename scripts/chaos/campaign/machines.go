package campaign

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"prescient/prescient/localserver"
	"prescient/scripts/chaos/checker"

	"prescient/scripts/chaos/stage"
)

// machines are the scenarios in which the machine under the server is at fault: its clock, its disk. Each has a server of
// its own.
func machines() []stage.Scenario {
	return []stage.Scenario{
		{Name: "server-clock", About: "the server's clock is set forth and back by hours in mid-slot", Server: clockServer, Faults: stepClock,
			Load: stage.Load{Schedules: -1}, Drain: 2 * time.Minute, Rules: func(r *checker.Rules) { r.ClockSteps, r.Crashes = true, true }},
		{Name: "disk-full", About: "the disk under the server is full for seconds, again and again", Server: smallServer, Faults: fillDisk,
			Drain: 3 * time.Minute, Rules: func(r *checker.Rules) { r.MaxLate, r.Crashes = 2*time.Minute, true }},
	}
}

// clockServer starts a server whose clock goes by a file.
func clockServer(ctx context.Context, faketime, name string) (stage.Engine, func() error, error) {
	if faketime == "" {
		return stage.Engine{}, nil, errors.New("it needs libfaketime, which scripts/faketime gets")
	}
	dir, err := os.MkdirTemp("", "chaos-server-clock-")
	if err != nil {
		return stage.Engine{}, nil, err
	}
	file := filepath.Join(dir, "offset")
	if err := setClock(file, 0); err != nil {
		return stage.Engine{}, nil, err
	}
	engine, err := stage.StartServer(ctx, name, localserver.Options{Args: []string{"--max-connections=300"}, Env: []string{"LD_PRELOAD=" + faketime,
		"FAKETIME_TIMESTAMP_FILE=" + file, "FAKETIME_NO_CACHE=1", "FAKETIME_DONT_FAKE_MONOTONIC=1"}})
	if err != nil {
		return stage.Engine{}, nil, errors.Join(fmt.Errorf("the server does not run on a clock that can be set: %w", err), os.RemoveAll(dir))
	}
	engine.ClockFile = file
	return engine, func() error { return errors.Join(engine.Server.Close(), os.RemoveAll(dir)) }, nil
}

// setClock sets the offset of a server's clock, at once for all its threads.
func setClock(file string, offset time.Duration) error {
	next := file + ".next"
	if err := os.WriteFile(next, fmt.Appendf(nil, "%+d\n", int(offset.Seconds())), 0o600); err != nil {
		return err
	}
	return os.Rename(next, file)
}

// stepClock sets the clock two hours forth and one back, again and again, and at the end to later than it ever was, so
// that whatever was asked for at any time comes to be due.
func stepClock(ctx context.Context, s *stage.Stage) {
	dice := s.Dice(1)
	offset, latest := time.Duration(0), time.Duration(0)
	set := func(to time.Duration) {
		s.During("server's clock set", "", 2*stage.Lease, func() {
			if err := setClock(s.Engine.ClockFile, to); err != nil {
				s.Logf("the server's clock: %v", err)
			}
		})
		offset, latest = to, max(latest, to)
	}
	for n := 0; stage.Pause(ctx, 1500*time.Millisecond) && s.IntoSlot(ctx, time.Duration(dice.IntN(300))*time.Millisecond); n++ {
		set(offset + []time.Duration{2 * time.Hour, -time.Hour}[n%2])
	}
	set(latest + time.Minute)
}

// smallServer starts a server on a small disk of its own.
func smallServer(ctx context.Context, _, name string) (stage.Engine, func() error, error) {
	dir, err := os.MkdirTemp("", "chaos-disk-")
	if err != nil {
		return stage.Engine{}, nil, err
	}
	if err := syscall.Mount("chaos", dir, "tmpfs", 0, "size=600m"); err != nil {
		return stage.Engine{}, nil, errors.Join(fmt.Errorf("no small disk can be mounted: %w", err), os.Remove(dir))
	}
	drop := func() error { return errors.Join(syscall.Unmount(dir, syscall.MNT_DETACH), os.Remove(dir)) }
	engine, err := stage.StartServer(ctx, name, localserver.Options{Parent: dir, Args: []string{"--max-connections=300", "--innodb-buffer-pool-size=64M"}})
	if err != nil {
		return stage.Engine{}, nil, errors.Join(fmt.Errorf("the server does not run on a small disk: %w", err), drop())
	}
	engine.Disk = dir
	return engine, func() error { return errors.Join(engine.Server.Close(), drop()) }, nil
}

// fillDisk takes all that is left of the disk for two seconds, and gives it back.
func fillDisk(ctx context.Context, s *stage.Stage) {
	ballast := filepath.Join(s.Engine.Disk, "ballast")
	for stage.Pause(ctx, 2*time.Second) {
		s.During("disk full", "", 2*stage.Lease, func() {
			if err := fill(ballast); !errors.Is(err, syscall.ENOSPC) {
				s.Logf("filling the disk: %v", err)
			}
			stage.Pause(context.WithoutCancel(ctx), 2*time.Second)
			if err := os.Remove(ballast); err != nil {
				s.Logf("freeing the disk: %v", err)
			}
			revive(context.WithoutCancel(ctx), s)
		})
	}
}

// fill writes a file until there is no room any more.
func fill(path string) (err error) {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	for _, size := range []int{1 << 20, 4 << 10} {
		block := make([]byte, size)
		for err = nil; err == nil; {
			_, err = file.Write(block)
		}
	}
	if err == nil {
		err = io.ErrShortWrite
	}
	return err
}

// revive starts a server again that gave up.
func revive(ctx context.Context, s *stage.Stage) {
	asked, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	if err := s.App.PingContext(asked); err == nil || errors.Is(err, context.DeadlineExceeded) {
		return
	}
	s.Logf("%s: the server gave up, and is started again", s.Engine.Name)
	if err := s.Engine.Server.Restart(ctx); err != nil {
		s.Logf("the server does not come back: %v", err)
	}
}
