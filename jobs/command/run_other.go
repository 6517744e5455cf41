//go:build !linux

package command

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"time"

	"prescient/prescient"
)

// supported says that there are no commands here: limits, and what finds the processes of a call, are Linux's.
func supported() error {
	return fmt.Errorf("%w: commands run on Linux only, this is %s", errors.ErrUnsupported, runtime.GOOS)
}

// Shield does nothing here, where there are no commands.
func Shield() error { return nil }

type ending struct {
	state          *os.ProcessState
	stdout, stderr string
	stopped        error
	left           []string
	held           string
}

func (c *Command) run(context.Context, prescient.FutureJob) (ending, error) {
	return ending{}, supported()
}

func howItEnded(state *os.ProcessState, _ time.Duration) string { return state.String() }
