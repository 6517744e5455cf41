package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"prescient/jobs/command/internal/group"
	"prescient/prescient"
	"prescient/prescient/longrun"
	"prescient/prescient/output"
)

func supported() error { return nil }

// ending is how a call ended.
type ending struct {
	state          *os.ProcessState // nil where the program is among those that could not be ended
	stdout, stderr string           // their ends
	stopped        error            // why it was ended; nil where it ended by itself
	left           []string         // processes that could not be ended
	held           string           // who still has its output open, if somebody has
}

// run runs the program until no process of the call is left. It stays on a thread of its own meanwhile, since the kernel kills the
// program with the thread that started it: the way in which it ends with this process.
func (c *Command) run(ctx context.Context, job prescient.FutureJob) (e ending, err error) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		e, err = c.runHere(ctx, job)
	}()
	<-done
	return e, err
}

func (c *Command) runHere(ctx context.Context, job prescient.FutureJob) (e ending, err error) {
	mark := group.NewMark(callVariable)
	streams, err := c.open(ctx, job)
	if err != nil {
		return e, err
	}
	defer streams.close()
	cmd, says, err := c.start(job, prescient.TraceOf(ctx), mark, streams)
	if err != nil {
		return e, err
	}
	defer says.Close()
	p := group.Of(cmd.Process.Pid, mark)
	exited := make(chan struct{})
	go func() {
		awaitExit(cmd.Process.Pid)
		close(exited)
	}()
	if err := isSetUp(says); err != nil {
		p.Kill()
		<-exited
		_ = cmd.Wait()
		return e, err
	}
	watch, over := context.WithCancel(context.Background())
	defer over()
	e.stopped = c.await(ctx, p, exited, p.Watch(watch, c.options.Processes, c.options.Memory))
	over()
	left := p.KillAll(exited) // what it leaves behind, and itself; its id stays its own until Wait
	if len(left) == 0 {
		_ = cmd.Wait()
		e.state = cmd.ProcessState
	} else {
		e.left = c.leave(left, p, cmd)
	}
	e.stdout, e.stderr, e.held = streams.texts()
	if len(left) > 0 {
		e.held = "" // by those that are named already
	}
	return e, nil
}

// leaveEvery is how often those that could not be ended are told again.
const leaveEvery = 5 * time.Second

// leave names those that could not be ended, and has them end when they can be: a setuid program may give its user back.
func (c *Command) leave(left []group.Survivor, p *group.Processes, cmd *exec.Cmd) (names []string) {
	for _, one := range left {
		names = append(names, one.String())
	}
	c.options.Log.Error().Strs("processes", names).Msg(c.String() + ": these could not be ended, and go on")
	go func() {
		for len(p.Sweep()) > 0 {
			select {
			case <-c.closing.Done():
				return
			case <-time.After(leaveEvery):
			}
		}
		_ = cmd.Wait()
		c.options.Log.Info().Strs("processes", names).Msg(c.String() + ": these have ended at last")
	}()
	return names
}

// start starts the program as the leader of a group. Until it has set itself up, it says on the file what goes wrong.
func (c *Command) start(job prescient.FutureJob, trace string, mark group.Mark, s *streams) (*exec.Cmd, *os.File, error) {
	ours, says, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	defer says.Close()
	cmd := &exec.Cmd{Path: shell, Args: append([]string{"sh", "-c", c.options.script(c.nice, mark.Limit), "sh", c.program}, c.arguments(job)...),
		Env: append(append([]string{"PWD=" + c.options.Dir}, c.env...), variables(job, trace, mark.Variable, time.Now())...), Dir: c.options.Dir,
		Stdin: s.stdin, Stdout: s.stdout.child, Stderr: s.stderr.child, ExtraFiles: []*os.File{says},
		SysProcAttr: &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}}
	if u := c.user; u != nil {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: u.uid, Gid: u.gid, Groups: u.groups}
	}
	if err := cmd.Start(); err != nil {
		_ = ours.Close()
		if _, dir := os.Stat(c.options.Dir); dir != nil { // which the error of the start does not tell from the program
			err = dir
		}
		return nil, nil, fmt.Errorf("it could not be started: %w", err)
	}
	s.started()
	return cmd, ours, nil
}

// await returns once the program has exited, or is to be killed or has ended since it was told to: then it says why.
func (c *Command) await(ctx context.Context, p *group.Processes, exited <-chan struct{}, tooMuch <-chan error) (why error) {
	began := time.Now()
	var over <-chan time.Time
	if c.options.Timeout > 0 {
		timer := time.NewTimer(c.options.Timeout)
		defer timer.Stop()
		over = timer.C
	}
	select {
	case <-exited:
		return nil
	case why = <-tooMuch:
		return why
	case <-over:
		why = fmt.Errorf("%w after %s", prescient.ErrTimeout, c.options.Timeout)
	case <-ctx.Done():
		why = fmt.Errorf("ended after %s: %w", time.Since(began).Round(time.Millisecond), context.Cause(ctx))
	}
	if errors.Is(why, longrun.ErrLost) { // another runs it by now
		return why
	}
	p.Terminate()
	grace := time.NewTimer(c.options.Grace)
	defer grace.Stop()
	select {
	case <-exited:
	case <-grace.C:
		why = fmt.Errorf("%w; it ignored TERM for %s and was killed", why, c.options.Grace)
	case also := <-tooMuch:
		why = fmt.Errorf("%w; then %w", why, also)
	}
	return why
}

// awaitExit returns once a child has exited. It leaves it to be waited for, so that its id is nobody else's yet.
func awaitExit(pid int) {
	for {
		err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			return
		}
	}
}

// streams are what a program reads and writes.
type streams struct {
	stdin          *os.File
	stdout, stderr *stream
}

// open has the row on stdin, as JSON, and keeps the ends of stdout and stderr.
func (c *Command) open(ctx context.Context, job prescient.FutureJob) (s *streams, err error) {
	s = new(streams)
	defer func() {
		if err != nil {
			s.close()
		}
	}()
	text, err := json.Marshal(job)
	if err != nil {
		return nil, fmt.Errorf("the row cannot be written as JSON: %w", err)
	}
	if s.stdin, err = fileOf(append(text, '\n')); err != nil {
		return nil, err
	}
	to := output.Of(ctx)
	if s.stdout, err = newStream(c.options.Output, to); err != nil {
		return nil, err
	}
	s.stderr, err = newStream(c.options.Output, to)
	return s, err
}

// fileOf is a file in memory, so that nobody has to write while the program reads, or does not.
func fileOf(text []byte) (*os.File, error) {
	fd, err := unix.MemfdCreate("row", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("memfd_create: %w", err)
	}
	f := os.NewFile(uintptr(fd), "row")
	if _, err = f.Write(text); err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("the row on stdin: %w", err)
	}
	return f, nil
}

func (s *streams) started() {
	_ = s.stdin.Close()
	s.stdout.started()
	s.stderr.started()
}

// texts returns the ends of what was written, and says who keeps an end open still, if somebody does: nobody waits for that one long.
func (s *streams) texts() (stdout, stderr, held string) {
	late := time.Now().Add(lateRead)
	stdout, out := s.stdout.text(late)
	stderr, err := s.stderr.text(late)
	of, what := s.stdout, "stdout was"
	switch {
	case !out && !err:
		return stdout, stderr, ""
	case out && err:
		what = "stdout and stderr were"
	case err:
		of, what = s.stderr, "stderr was"
	}
	by := group.Holders(of.ours)
	if len(by) == 0 {
		by = []string{"a process that cannot be seen from here"}
	}
	return stdout, stderr, what + " held open by " + strings.Join(by, ", ")
}

func (s *streams) close() {
	if s.stdin != nil {
		_ = s.stdin.Close()
	}
	s.stdout.close()
	s.stderr.close()
}

// isSetUp returns once the shell is the program, or an error that says why it could not be.
func isSetUp(says *os.File) error {
	text, err := io.ReadAll(io.LimitReader(says, maxExcerpt))
	switch {
	case err != nil:
		return fmt.Errorf("it could not be set up: %w", err)
	case len(text) > 0:
		return errors.New("it could not be set up: " + strings.TrimSpace(string(text)))
	}
	return nil
}
