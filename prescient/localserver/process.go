package localserver

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

// A process is one run of the server program.
type process struct {
	pid     int
	process *os.Process
	exited  chan struct{} // closed when the process is gone
	err     error         // how it ended; read after exited
}

// spawn runs the server program with its output in the error log. The
// goroutine that starts it keeps its thread until the process ends: the
// signal that a child gets at its parent's death comes at the death of the
// thread that made it.
func (s *Server) spawn(args []string, input io.Reader) (*process, error) {
	log, err := os.OpenFile(s.logFile(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening the error log: %w", err)
	}
	defer log.Close()
	command := exec.Command(s.program.Path, args...)
	command.Dir = s.dir
	command.Stdin, command.Stdout, command.Stderr = input, log, log
	if s.member != nil {
		// Galera looks for its transfer script there.
		command.Env = append(os.Environ(), "PATH="+s.dir+":"+os.Getenv("PATH"))
	}
	if len(s.options.Env) > 0 {
		command.Env = append(command.Environ(), s.options.Env...)
	}
	command.SysProcAttr = childAttributes()

	p := &process{exited: make(chan struct{})}
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
	p.pid, p.process = command.Process.Pid, command.Process
	return p, nil
}

func (p *process) gone() bool {
	select {
	case <-p.exited:
		return true
	default:
		return false
	}
}

// kill ends the process at once.
func (p *process) kill() {
	p.process.Kill()
	<-p.exited
}

// stop asks the process to end and kills it when it takes too long.
func (p *process) stop() error {
	if err := p.process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		p.kill()
		return fmt.Errorf("asking the server to stop: %w", err)
	}
	select {
	case <-p.exited:
		return nil
	case <-time.After(stopTimeout):
		p.kill()
		return fmt.Errorf("the server did not stop in %v and was killed", stopTimeout)
	}
}
