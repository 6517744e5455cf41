package slotrun

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"

	"prescient/prescient/worker/books"

	"golang.org/x/sync/errgroup"

	"prescient/scripts/bench/internal/rig"
)

// childName is the argument with which this program runs itself.
const childName = "a-worker"

// AsChild is a worker in a process of its own: its workload comes on stdin, its figures go to stdout. A second line of
// input starts the run.
func AsChild(args []string) (handled bool, err error) {
	if len(args) != 1 || args[0] != childName {
		return false, nil
	}
	in := json.NewDecoder(os.Stdin)
	var l Workload
	if err := in.Decode(&l); err != nil {
		return true, err
	}
	fmt.Println(`"ready"`)
	var start string
	if err := in.Decode(&start); err != nil {
		return true, err
	}
	figures, err := l.Run(context.Background())
	return true, errors.Join(err, json.NewEncoder(os.Stdout).Encode(ChildResult{figures, rig.PeakMemory(os.Getpid())}))
}

// ChildResult is what a child says at its end.
type ChildResult struct {
	Figures books.Figures
	Peak    float64 // bytes
}

// InChildren runs a workload in several processes at once.
func InChildren(ctx context.Context, l Workload, n int) ([]ChildResult, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	results := make([]ChildResult, n)
	group, ctx := errgroup.WithContext(ctx)
	for i := range n {
		child := exec.CommandContext(ctx, self, childName)
		child.Stderr = os.Stderr
		stdin, err := child.StdinPipe()
		if err != nil {
			return nil, err
		}
		stdout, err := child.StdoutPipe()
		if err != nil {
			return nil, err
		}
		group.Go(func() error {
			if err := child.Start(); err != nil {
				return err
			}
			return errors.Join(talk(stdin, stdout, l, &results[i]), child.Wait())
		})
	}
	return results, group.Wait()
}

func talk(stdin io.WriteCloser, stdout io.Reader, l Workload, result *ChildResult) error {
	defer stdin.Close()
	in, out := json.NewDecoder(stdout), json.NewEncoder(stdin)
	if err := out.Encode(l); err != nil {
		return err
	}
	var ready string
	if err := in.Decode(&ready); err != nil {
		return err
	}
	if err := out.Encode("go"); err != nil {
		return err
	}
	return in.Decode(result)
}
