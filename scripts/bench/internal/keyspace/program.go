package keyspace

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"prescient/cmd"
	"prescient/prescient"
	"prescient/prescient/worker/books"

	"prescient/scripts/bench/internal/rig"
)

// programName is the argument with which this program runs itself as prescient, with a job_exec that does nothing.
const programName = "a-program"

// AsChild is prescient, whose command follows programName. The environment says all else.
func AsChild(args []string) (handled bool, err error) {
	if len(args) != 2 || args[0] != programName {
		return false, nil
	}
	options := cmd.Options{Args: args[1:], ConfigPaths: []string{}, Register: func(_ context.Context, registry *prescient.Registry, _ cmd.Deps) error {
		return registry.Register(rig.DueExec, func(context.Context, prescient.FutureJob) (*time.Time, error) { return nil, nil }, prescient.Guards{})
	}}
	if args[1] == "run" {
		options.Args = append(options.Args, "--json")
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	if code := cmd.Run(ctx, options); code != cmd.ExitOK {
		err = fmt.Errorf("prescient %s ended with %d", args[1], code)
	}
	return true, err
}

// program is a command of prescient on a side.
func (s *side) program(ctx context.Context, command string) (*exec.Cmd, *bytes.Buffer, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, nil, err
	}
	child := exec.CommandContext(ctx, self, programName, command)
	child.Env = slices.Concat(os.Environ(), []string{"PRESCIENT_DSN=" + s.dsn, "PRESCIENT_SLOTS_RESOLUTION=" + rig.Day.String(), "PRESCIENT_WORKER_PACE=full"}, s.environ)
	said := new(bytes.Buffer)
	child.Stderr = said
	return child, said, nil
}

// run runs the slot that is now. It returns how many rows became something, and how long the shard took that took longest.
func (s *side) run(ctx context.Context) (rows int, took time.Duration, err error) {
	child, said, err := s.program(ctx, "run")
	if err != nil {
		return 0, 0, err
	}
	printed, err := child.Output()
	if err != nil {
		return 0, 0, fmt.Errorf("%w: %s", err, said)
	}
	reports := json.NewDecoder(bytes.NewReader(printed))
	for reports.More() {
		var figures books.Figures
		if err := reports.Decode(&figures); err != nil {
			return 0, 0, fmt.Errorf("prescient run printed %.200q: %w", printed, err)
		}
		rows += figures.Rows()
		took = max(took, figures.Took)
	}
	return rows, took, nil
}

// work is a worker that stays up until stop.
func (s *side) work(ctx context.Context) (stop func() error, err error) {
	child, said, err := s.program(ctx, "work")
	if err != nil {
		return nil, err
	}
	if err := child.Start(); err != nil {
		return nil, err
	}
	return func() error {
		if err := errors.Join(child.Process.Signal(syscall.SIGTERM), child.Wait()); err != nil {
			return fmt.Errorf("%w: %s", err, said)
		}
		return nil
	}, nil
}
