package process

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

// stopTimeout is how long a server may take to stop before it is killed.
const stopTimeout = 30 * time.Second

// A Command says what is run and how.
type Command struct {
	Program string
	Args    []string
	Dir     string
	Env     []string  // added to the environment of this process
	Input   io.Reader // nil for none
	Log     string    // the file to which the output goes, after what is in it
	Hidden  string    // is not shown where the log is; empty for nothing
	NotRoot bool      // it refuses to run as root: where this process does, on Linux, it is told that it is somebody else
}

// A Process is one run of a program.
type Process struct {
	Pid     int
	process *os.Process
	exited  chan struct{} // closed when the process is gone
	err     error         // how it ended; read after exited
	log     string
	logFrom int64 // where in the log its own part begins
	hidden  string
}

// Start runs a program. The goroutine that starts it keeps its thread until
// the process ends: the signal that a child gets at its parent's death comes
// at the death of the thread that made it.
func Start(c Command) (*Process, error) {
	p := &Process{exited: make(chan struct{}), log: c.Log, logFrom: size(c.Log), hidden: c.Hidden}
	log, err := os.OpenFile(c.Log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening the error log: %w", err)
	}
	defer log.Close()
	command := exec.Command(c.Program, c.Args...)
	command.Dir = c.Dir
	command.Stdin, command.Stdout, command.Stderr = c.Input, log, log
	if len(c.Env) > 0 {
		command.Env = append(command.Environ(), c.Env...)
	}
	command.SysProcAttr = childAttributes(c)

	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := command.Start()
		started <- err
		if err == nil {
			p.err = command.Wait()
			close(p.exited)
		}
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("running the server program: %w", err)
	}
	p.Pid, p.process = command.Process.Pid, command.Process
	return p, nil
}

// Exited is closed when the process is gone.
func (p *Process) Exited() <-chan struct{} { return p.exited }

// Err returns how the process ended, nil for in order. It may be asked once Exited is closed.
func (p *Process) Err() error { return p.err }

// Gone reports whether the process has ended.
func (p *Process) Gone() bool {
	select {
	case <-p.exited:
		return true
	default:
		return false
	}
}

// Kill ends the process at once.
func (p *Process) Kill() {
	p.process.Kill()
	<-p.exited
}

// Stop asks the process to end and kills it when it takes too long.
func (p *Process) Stop() error {
	if err := p.process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		p.Kill()
		return fmt.Errorf("asking the server to stop: %w", err)
	}
	select {
	case <-p.exited:
		return nil
	case <-time.After(stopTimeout):
		p.Kill()
		return fmt.Errorf("the server did not stop in %v and was killed", stopTimeout)
	}
}
