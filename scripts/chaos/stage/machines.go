package stage

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
)

// machines are the scenarios in which the machine under the server is at fault: its clock, its disk. Each has a server of
// its own.
func machines() []Scenario {
	return []Scenario{
		{Name: "server-clock", About: "the server's clock is set forth and back by hours in mid-slot", server: clockServer, Faults: stepClock,
			Drain: 2 * time.Minute, Rules: func(r *checker.Rules) { r.ClockSteps, r.Crashes = true, true }},
		{Name: "disk-full", About: "the disk under the server is full for seconds, again and again", server: smallServer, Faults: fillDisk,
			Drain: 3 * time.Minute, Rules: func(r *checker.Rules) { r.MaxLate, r.Crashes = 2*time.Minute, true }},
	}
}

// clockServer starts a server whose clock goes by a file.
func clockServer(ctx context.Context, c Campaign, name string) (Engine, func() error, error) {
	if c.Faketime == "" {
		return Engine{}, nil, errors.New("it needs libfaketime, which scripts/faketime gets")
	}
	dir, err := os.MkdirTemp("", "chaos-server-clock-")
	if err != nil {
		return Engine{}, nil, err
	}
	file := filepath.Join(dir, "offset")
	if err := setClock(file, 0); err != nil {
		return Engine{}, nil, err
	}
	engine, err := startServer(ctx, name, localserver.Options{Args: []string{"--max-connections=300"}, Env: []string{"LD_PRELOAD=" + c.Faketime,
		"FAKETIME_TIMESTAMP_FILE=" + file, "FAKETIME_NO_CACHE=1", "FAKETIME_DONT_FAKE_MONOTONIC=1"}})
	if err != nil {
		return Engine{}, nil, errors.Join(fmt.Errorf("the server does not run on a clock that can be set: %w", err), os.RemoveAll(dir))
	}
	engine.clock = file
	return engine, func() error { return errors.Join(engine.server.Close(), os.RemoveAll(dir)) }, nil
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
func stepClock(ctx context.Context, s *stage) {
	dice := s.dice(1)
	offset, latest := time.Duration(0), time.Duration(0)
	set := func(to time.Duration) {
		s.during("server's clock set", "", 2*lease, func() {
			if err := setClock(s.engine.clock, to); err != nil {
				s.log("the server's clock: %v", err)
			}
		})
		offset, latest = to, max(latest, to)
	}
	for n := 0; pause(ctx, 1500*time.Millisecond) && s.intoSlot(ctx, time.Duration(dice.IntN(300))*time.Millisecond); n++ {
		set(offset + []time.Duration{2 * time.Hour, -time.Hour}[n%2])
	}
	set(latest + time.Minute)
}

// smallServer starts a server on a small disk of its own.
func smallServer(ctx context.Context, _ Campaign, name string) (Engine, func() error, error) {
	dir, err := os.MkdirTemp("", "chaos-disk-")
	if err != nil {
		return Engine{}, nil, err
	}
	if err := syscall.Mount("chaos", dir, "tmpfs", 0, "size=600m"); err != nil {
		return Engine{}, nil, errors.Join(fmt.Errorf("no small disk can be mounted: %w", err), os.Remove(dir))
	}
	drop := func() error { return errors.Join(syscall.Unmount(dir, syscall.MNT_DETACH), os.Remove(dir)) }
	engine, err := startServer(ctx, name, localserver.Options{Parent: dir, Args: []string{"--max-connections=300", "--innodb-buffer-pool-size=64M"}})
	if err != nil {
		return Engine{}, nil, errors.Join(fmt.Errorf("the server does not run on a small disk: %w", err), drop())
	}
	engine.disk = dir
	return engine, func() error { return errors.Join(engine.server.Close(), drop()) }, nil
}

// fillDisk takes all that is left of the disk for two seconds, and gives it back.
func fillDisk(ctx context.Context, s *stage) {
	ballast := filepath.Join(s.engine.disk, "ballast")
	for pause(ctx, 2*time.Second) {
		s.during("disk full", "", 2*lease, func() {
			if err := fill(ballast); !errors.Is(err, syscall.ENOSPC) {
				s.log("filling the disk: %v", err)
			}
			pause(context.WithoutCancel(ctx), 2*time.Second)
			if err := os.Remove(ballast); err != nil {
				s.log("freeing the disk: %v", err)
			}
			s.revive(context.WithoutCancel(ctx))
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
func (s *stage) revive(ctx context.Context) {
	asked, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	if err := s.app.PingContext(asked); err == nil || errors.Is(err, context.DeadlineExceeded) {
		return
	}
	s.log("%s: the server gave up, and is started again", s.engine.Name)
	if err := s.engine.server.Restart(ctx); err != nil {
		s.log("the server does not come back: %v", err)
	}
}
