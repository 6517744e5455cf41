//go:build unix

package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"
)

// notify returns a context that ends when somebody asks this program to end.
func notify() (context.Context, context.CancelFunc) {
	return signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
}

// execute runs the command to its end and returns its exit code. A signal that asks this program to end asks the command
// and all that it started: go test would leave the tests behind.
func execute(ctx context.Context, command, environment []string) (int, error) {
	child := exec.CommandContext(ctx, command[0], command[1:]...)
	child.Env = environment
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
