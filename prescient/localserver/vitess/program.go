package vitess

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strconv"
	"time"

	"prescient/prescient/localserver/internal/port"
	"prescient/prescient/localserver/internal/process"
)

// attempts is how often a program is started on other ports after somebody else took those that were free a moment ago.
const attempts = 5

// pause is the time between two looks whether a program answers.
const pause = 20 * time.Millisecond

// A program is one of those that serve as long as the cluster is there.
type program struct {
	name   string                             // of the program, and of its log with what tells it from others
	which  string                             // what tells it from others; empty where there is one
	ports  int                                // how many it listens on
	args   func(ports []int) []string         // of a start on these ports
	answer func(context.Context, []int) error // nil once it serves
}

// serve starts a program on free ports, which it returns, and waits until it answers.
func (c *Cluster) serve(ctx context.Context, p program) (*process.Process, []int, error) {
	for attempt := 1; ; attempt++ {
		ports := make([]int, p.ports)
		for i := range ports {
			var err error
			if ports[i], err = port.Free(); err != nil {
				return nil, nil, err
			}
		}
		run, err := c.serveOn(ctx, p, ports)
		if err == nil || run == nil || attempt == attempts || !run.Logged("address already in use") {
			return run, ports, err
		}
	}
}

// serveOn starts a program on ports, and waits until it answers. One that does not is killed, and returned with the error.
func (c *Cluster) serveOn(ctx context.Context, p program, ports []int) (*process.Process, error) {
	run, err := c.start(p.name, p.name+p.which, p.args(ports))
	if err != nil {
		return nil, err
	}
	if err := answers(ctx, run, func(ctx context.Context) error { return p.answer(ctx, ports) }); err != nil {
		run.Kill()
		return run, fmt.Errorf("%s%s: %w%s", p.name, p.which, err, run.LogTail())
	}
	return run, nil
}

// start starts a program, which ends with the cluster, with this name of its log.
func (c *Cluster) start(name, log string, args []string) (*process.Process, error) {
	started, err := process.Start(process.Command{
		Program: c.programs[name], Args: args, Dir: c.folder.Path, Log: filepath.Join(c.folder.Path, log+".log"), Hidden: c.password, NotRoot: true,
		Env: []string{"TMPDIR=" + c.folder.Files(), "VTDATAROOT=" + c.folder.Files()},
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.running = append(c.running, run{started, name})
	return started, nil
}

// answers waits until a program answers. It returns an error where that ends before.
func answers(ctx context.Context, run *process.Process, answer func(context.Context) error) error {
	for {
		err := answer(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-run.Exited():
			return fmt.Errorf("it ended (%w) before it answered", run.Err())
		case <-ctx.Done():
			return fmt.Errorf("waiting for its answer: %w (last answer: %w)", ctx.Err(), err)
		case <-time.After(pause):
		}
	}
}

// says asks a program by HTTP for a page, which is nil where that is there.
func says(ctx context.Context, port int, page string) error {
	_, err := read(ctx, port, page)
	return err
}

// read asks a program by HTTP for a page.
func read(ctx context.Context, port int, page string) ([]byte, error) {
	client := http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+at(port)+page, nil)
	if err != nil {
		return nil, err
	}
	answer, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(answer.Body, 1000))
		return nil, fmt.Errorf("%s answers %s: %s", page, answer.Status, text)
	}
	return io.ReadAll(answer.Body)
}

// at is the address of a port.
func at(port int) string { return "127.0.0.1:" + strconv.Itoa(port) }
