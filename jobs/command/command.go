package command

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"prescient/prescient"
	"prescient/prescient/longrun"
)

// A Command is a program that is run for the answer of a job_exec. It may be used from several goroutines at once.
type Command struct {
	options  Options
	program  string   // its path
	nice     string   // the path of the program of that name
	fixed    []string // the arguments before those
	replaced []string // in which {…} is replaced
	env      []string // of every call
	user     *account // nil for that of this process
	hide     *strings.Replacer

	closing context.Context // it ends with Close
	close   context.CancelFunc
	mu      sync.Mutex // between a call that begins and Close
	calls   sync.WaitGroup
}

// New returns a command whose Check can be registered as a job_exec. Nothing is run. The error wraps prescient.ErrInvalid, also where
// there is no such program, or errors.ErrUnsupported on systems other than Linux.
func New(options Options) (*Command, error) {
	options.defaults()
	if err := supported(); err != nil {
		return nil, fmt.Errorf("command job_exec: %w", err)
	}
	if err := options.validate(); err != nil {
		return nil, fmt.Errorf("command job_exec: %w", err)
	}
	c := &Command{options: options}
	var err error
	if c.program, c.fixed, c.replaced, err = options.find(); err != nil {
		return nil, fmt.Errorf("command job_exec: %w", err)
	}
	if c.nice, err = niceOf(options); err != nil {
		return nil, fmt.Errorf("command job_exec: %w", err)
	}
	if c.user, err = accountOf(options.User); err != nil {
		return nil, fmt.Errorf("command job_exec: %w", err)
	}
	if err := Shield(); err != nil {
		return nil, fmt.Errorf("command job_exec: shielding this process from its commands: %w", err)
	}
	c.env, c.hide = environment(options, c.user)
	c.closing, c.close = context.WithCancel(context.Background())
	return c, nil
}

// errClosed is why a call ends, or does not begin, once the command was closed.
var errClosed = errors.New("its worker ends")

// Close ends the calls that are under way, as the end of their contexts does, and returns once no process of them is left: within the
// grace, and a few seconds. A program calls it before it ends, however it does; what a program leaves undone has nobody to end it then.
// Check is an error after that.
func (c *Command) Close() {
	c.mu.Lock()
	c.close()
	c.mu.Unlock()
	c.calls.Wait()
}

// begin takes note of a call, unless the command was closed. The context ends with Close, too; the caller calls over once the call is over.
func (c *Command) begin(ctx context.Context) (_ context.Context, over func(), err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closing.Err() != nil {
		return nil, nil, errClosed
	}
	c.calls.Add(1)
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(c.closing, func() { cancel(errClosed) })
	return ctx, func() {
		stop()
		cancel(nil)
		c.calls.Done()
	}, nil
}

// String names the command in errors and logs: the last part of the program's path, or the shell.
func (c *Command) String() string { return "command " + filepath.Base(c.program) }

// endSlack is how long it may take to end a command that has had its grace.
const endSlack = 3 * time.Second

// Guards returns guards whose Timeout lets a command that has run for its Timeout be ended: TERM, the grace, KILL. Where the
// command has no Timeout they are what was given. Register it with them.
func (c *Command) Guards(g prescient.Guards) prescient.Guards {
	if c.options.Timeout > 0 {
		g.Timeout = c.options.Timeout + c.options.Grace + endSlack
	}
	return g
}

// CheckLong is Check for a long run: a longrun.Func. A run that is handed on, or whose worker died, runs the program again from its
// beginning, on another machine it may be.
func (c *Command) CheckLong(ctx context.Context, run *longrun.Run) (*time.Time, error) {
	return c.Check(ctx, run.Job())
}
