package group

import (
	"bytes"
	"fmt"
	"os"
	"os/user"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Processes are those of a call: those of its group, and those that have left it and carry its mark.
type Processes struct {
	leader int
	since  uint64 // when the leader started, in the kernel's ticks
	mark   Mark

	others map[origin]bool // that were found to be somebody else's, which they remain
	ended  map[origin]bool // that had exited when they were looked at, whosever they were
}

// origin tells a process from a later one of the same id.
type origin struct {
	pid     int
	started uint64
}

// Of returns the processes of a call whose program leads its group.
func Of(leader int, mark Mark) *Processes {
	return &Processes{leader: leader, since: startOf(leader), mark: mark}
}

// Kill ends the group: all of it at one time, so that none of it forks out of that.
func (p *Processes) Kill() { p.signal(syscall.SIGKILL) }

// Terminate asks the group to end. A process that was stopped has to go on to hear it.
func (p *Processes) Terminate() {
	p.signal(syscall.SIGTERM)
	p.signal(syscall.SIGCONT)
}

func (p *Processes) signal(s syscall.Signal) { _ = syscall.Kill(-p.leader, s) }

// How long processes are looked for that do not end: those of another user, as of setuid programs, and those that hang in the kernel.
const (
	chase     = 2 * time.Second
	firstPace = 2 * time.Millisecond
	lastPace  = 100 * time.Millisecond
)

// mostUnsure is how often processes are looked for again because some ended meanwhile, which on a machine that starts many is always so.
const mostUnsure = 5

// KillAll ends what is left of the call, and returns those that could not be ended in good time. It is told when the leader has exited.
func (p *Processes) KillAll(exited <-chan struct{}) []Survivor {
	pace, unsure := firstPace, 0
	for end := time.Now().Add(chase); ; time.Sleep(pace) {
		left, sure := p.sweep()
		if !sure && len(left) == 0 {
			unsure++
		}
		is := look{left: len(left), sure: sure || unsure > mostUnsure, late: time.Now().After(end)}
		select {
		case <-exited:
			is.exited = true
		default:
		}
		switch is.says() {
		case gone:
			return nil
		case survives:
			return left
		case hidden:
			return []Survivor{{p.leader, "its program"}}
		}
		pace = min(2*pace, lastPace)
	}
}

// look is what KillAll knows after a look at the processes.
type look struct {
	left   int  // were found
	exited bool // the leader has
	sure   bool // nothing can have escaped the look, or it was repeated often enough
	late   bool // the time for it is over
}

// What becomes of a call after a look.
const (
	again    = iota // look again
	gone            // nothing is left of it
	survives        // what was found could not be ended
	hidden          // its program could not be ended, and /proc does not show others' processes
)

// says is what becomes of the call. A machine that is too busy for a sure look in good time leaves nothing alive that was found: then the call
// is over.
func (l look) says() int {
	switch {
	case l.left == 0 && l.exited && (l.sure || l.late):
		return gone
	case !l.late:
		return again
	case l.left > 0:
		return survives
	default:
		return hidden
	}
}

// Sweep sends KILL to all that is there of the call, once, and returns what that is.
func (p *Processes) Sweep() []Survivor {
	left, _ := p.sweep()
	return left
}

// sweep is Sweep. It is sure where nothing can have escaped it.
func (p *Processes) sweep() (left []Survivor, sure bool) {
	p.Kill()
	found, sure := p.find()
	for _, one := range found {
		p.killOne(one.origin)
		left = append(left, Survivor{one.pid, one.name})
	}
	return left, sure
}

// killOne ends a process, unless its id is another's by now.
func (p *Processes) killOne(o origin) {
	process, err := os.FindProcess(o.pid) // a handle, which stays with the process
	if err != nil {
		return
	}
	defer process.Release()
	if started := startOf(o.pid); started == o.started {
		_ = process.Kill()
	}
}

// A Survivor is a process that did not end when it was told to.
type Survivor struct {
	PID  int
	Name string
}

// String names it for people: 4711 (sudo), of root.
func (s Survivor) String() string {
	text := fmt.Sprintf("%d (%s)", s.PID, s.Name)
	status, err := os.ReadFile(proc(s.PID, "status"))
	if err != nil {
		return text
	}
	_, rest, _ := bytes.Cut(status, []byte("\nUid:"))
	ids := strings.Fields(string(rest[:min(len(rest), 64)]))
	if len(ids) < 2 {
		return text
	}
	if u, err := user.LookupId(ids[1]); err == nil { // the effective one
		return text + ", of " + u.Username
	}
	return text + ", of user " + ids[1]
}

// process is one of a call.
type process struct {
	origin
	name string
}

// find reads which processes the call has now. Those that have exited do not count. Where their parents have ended, and this process is what
// the kernel gave them to (as process 1 of a container, or as a subreaper), it waits for them, lest they stay for ever.
//
// It is not sure where one outside the group ended between the list and the look at it: that may have been the call's, and have started another
// that the list does not have.
func (p *Processes) find() (found []process, sure bool) {
	others, ended, sure := make(map[origin]bool), make(map[origin]bool), true
	eachProcess(func(pid int) {
		s, ok := statOf(pid)
		o := origin{pid, s.started}
		if !ok {
			_, err := os.Lstat(proc(pid, "")) // it is there where only its user may read it
			sure = sure && err == nil
			return
		}
		if s.started < p.since {
			return
		}
		if s.exited && s.group != p.leader {
			sure = sure && (p.ended[o] || p.others[o])
			ended[o] = true
		}
		switch {
		case s.group != p.leader && (p.others[o] || !p.mark.on(pid)):
			others[o] = true
		case !s.exited:
			found = append(found, process{o, s.name})
		case pid != p.leader && s.parent == os.Getpid(): // nobody else waits for what carries the mark; for the leader its Cmd does
			_, _ = unix.Wait4(pid, nil, unix.WNOHANG, nil)
		}
	})
	p.others, p.ended = others, ended
	return found, sure
}

// Holders names the processes, other than this one, that have a pipe open. Those of others cannot be looked at.
func Holders(pipe *os.File) (names []string) {
	info, err := pipe.Stat()
	if err != nil {
		return nil
	}
	link := fmt.Sprintf("pipe:[%d]", info.Sys().(*syscall.Stat_t).Ino)
	eachProcess(func(pid int) {
		entries, err := os.ReadDir(proc(pid, "fd"))
		if err != nil || pid == os.Getpid() {
			return
		}
		for _, entry := range entries {
			if to, err := os.Readlink(proc(pid, "fd/"+entry.Name())); err == nil && to == link {
				s, _ := statOf(pid)
				names = append(names, Survivor{pid, s.name}.String())
				return
			}
		}
	})
	return names
}

// eachProcess calls a function with the id of each process that can be seen.
func eachProcess(do func(pid int)) {
	dir, err := os.Open("/proc")
	if err != nil {
		return
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1) // what could be read
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			do(pid)
		}
	}
}

// stat is what /proc says of a process.
type stat struct {
	name          string
	parent, group int
	started       uint64
	exited        bool
}

// statOf reads it; ok is false where there is no such process.
func statOf(pid int) (s stat, ok bool) {
	text, err := os.ReadFile(proc(pid, "stat"))
	if err != nil {
		return s, false
	}
	begin, end := bytes.IndexByte(text, '('), bytes.LastIndexByte(text, ')') // the name between them may have anything in it
	fields := bytes.Fields(text[end+1:])
	if begin < 0 || end < begin || len(fields) < 20 {
		return s, false
	}
	s.name = strings.ToValidUTF8(string(text[begin+1:end]), "?")
	s.parent, _ = strconv.Atoi(string(fields[1]))
	s.group, _ = strconv.Atoi(string(fields[2]))
	s.started, _ = strconv.ParseUint(string(fields[19]), 10, 64)
	threads, _ := strconv.Atoi(string(fields[17])) // more than one where only the first of them has ended
	s.exited = (fields[0][0] == 'Z' || fields[0][0] == 'X') && threads <= 1
	return s, true
}

// startOf is when a process started; 0 where there is none.
func startOf(pid int) uint64 {
	s, _ := statOf(pid)
	return s.started
}

func proc(pid int, name string) string { return "/proc/" + strconv.Itoa(pid) + "/" + name }
