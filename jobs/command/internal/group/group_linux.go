package group

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"syscall"
	"time"
)

// Processes are those of a call: those of its group, and those that have left it and carry its mark in their environment.
type Processes struct {
	leader int
	since  uint64 // when the leader started, in the kernel's ticks
	mark   string // name=value

	others map[origin]bool // that were found to be somebody else's, which they remain
}

// origin tells a process from a later one of the same id.
type origin struct {
	pid     int
	started uint64
}

// Of returns the processes of a call whose program leads its group. The mark is a variable that it has, name=value.
func Of(leader int, mark string) *Processes {
	return &Processes{leader: leader, since: startOf(leader), mark: mark}
}

// Kill ends the group: all of it at one time, so that none of it forks out of that.
func (p *Processes) Kill() { p.Signal(syscall.SIGKILL) }

// Signal sends a signal to the group.
func (p *Processes) Signal(s syscall.Signal) { _ = syscall.Kill(-p.leader, s) }

// How long processes that left the group are looked for.
const (
	chase     = 3 * time.Second
	chasePace = 2 * time.Millisecond
)

// KillAll ends what is left of the call, and says how many could not be ended in good time.
func (p *Processes) KillAll() (left int) {
	for end := time.Now().Add(chase); ; time.Sleep(chasePace) {
		found := p.find()
		left = len(found)
		for _, one := range found {
			p.killOne(one.origin)
		}
		if left == 0 || time.Now().After(end) {
			return left
		}
	}
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

// process is one of a call.
type process struct {
	origin
	memory int64 // of its own, in bytes
}

// find reads which processes the call has now. Those that have exited do not count.
func (p *Processes) find() (found []process) {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1) // what could be read
	others := make(map[origin]bool)
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		s, ok := statOf(pid)
		o := origin{pid, s.started}
		switch {
		case !ok || s.exited || s.started < p.since:
		case s.group != p.leader && (p.others[o] || !p.marked(pid)):
			others[o] = true
		default:
			found = append(found, process{o, memoryOf(pid)})
		}
	}
	p.others = others
	return found
}

// marked says whether a process carries the mark. Another user's cannot be looked at.
func (p *Processes) marked(pid int) bool {
	env, err := os.ReadFile(proc(pid, "environ"))
	return err == nil && bytes.Contains(env, []byte(p.mark))
}

// stat is what /proc says of a process.
type stat struct {
	group   int
	started uint64
	exited  bool
}

// statOf reads it; ok is false where there is no such process.
func statOf(pid int) (s stat, ok bool) {
	text, err := os.ReadFile(proc(pid, "stat"))
	if err != nil {
		return s, false
	}
	fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:]) // the name before it may have anything in it
	if len(fields) < 20 {
		return s, false
	}
	s.group, _ = strconv.Atoi(string(fields[2]))
	s.started, _ = strconv.ParseUint(string(fields[19]), 10, 64)
	s.exited = fields[0][0] == 'Z' || fields[0][0] == 'X'
	return s, true
}

// startOf is when a process started; 0 where there is none.
func startOf(pid int) uint64 {
	s, _ := statOf(pid)
	return s.started
}

// memoryOf is how much memory a process has of its own, without what it shares by files.
func memoryOf(pid int) int64 {
	var size, resident, shared int64
	text, err := os.ReadFile(proc(pid, "statm"))
	if err != nil {
		return 0
	}
	if _, err := fmt.Sscan(string(text), &size, &resident, &shared); err != nil {
		return 0
	}
	return (resident - shared) * int64(os.Getpagesize())
}

func proc(pid int, name string) string { return "/proc/" + strconv.Itoa(pid) + "/" + name }
