package command

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"prescient/jobs/command/internal/group"
)

// A program is started by way of a shell, whose script is made of numbers alone: it sets the limits for itself, and then is the program
// (exec), with its id and these limits. The program and its arguments are arguments of the shell, one by one, of which it reads nothing.
// Go has no place between fork and exec for that; prlimit afterwards is too late for what forks at once, and ptrace takes setuid from sudo.
//
// What goes wrong before that it says on descriptor 3.
const (
	setUp = "{ %s; } 2>&3 || exit 125\nexec %s\"$@\" 3>&-"
	// Where the machine runs out of memory, the kernel is to end the command, and not this process or a database.
	killedFirst = "echo 1000 >/proc/self/oom_score_adj"
	noDump      = "ulimit -c 0" // one of some gigabytes helps nobody
)

// moreThreads is how many threads above its processes a command may start, before the kernel refuses it more.
const moreThreads = 32

// script is what the shell does before it is the program. nice is the path of the program of that name; the mark, in KiB, is what its
// processes are known by, 0 for none.
func (o *Options) script(nice string, mark uint64) string {
	steps := []string{killedFirst, noDump}
	if mark != 0 {
		steps = append(steps, fmt.Sprintf("ulimit -S -m %d", mark))
	}
	if o.Files > 0 {
		steps = append(steps, fmt.Sprintf("ulimit -n %d", most(unix.RLIMIT_NOFILE, uint64(o.Files))))
	}
	if o.Processes != None {
		// The kernel counts all threads of the user, and none of root's: what is there already, and this many more. Shells differ in
		// what they call it.
		n := most(unix.RLIMIT_NPROC, uint64(group.ThreadsHere()+o.Processes+moreThreads))
		steps = append(steps, fmt.Sprintf("{ ulimit -u %d 2>/dev/null || ulimit -p %d; }", n, n))
	}
	if o.CPU > 0 { // it is told of the end (SIGXCPU) a second before it is killed
		n := most(unix.RLIMIT_CPU, uint64(o.CPU/time.Second))
		steps = append(steps, fmt.Sprintf("ulimit -S -t %d && ulimit -H -t %d", n, most(unix.RLIMIT_CPU, n+1)))
	}
	if o.Memory != None {
		steps = append(steps, fmt.Sprintf("ulimit -v %d", most(unix.RLIMIT_AS, uint64(o.Memory))>>10))
	}
	by := ""
	if o.Nice != None {
		by = fmt.Sprintf("'%s' -n %d ", strings.ReplaceAll(nice, "'", `'\''`), o.Nice)
	}
	return fmt.Sprintf(setUp, strings.Join(steps, " && "), by)
}

// most is a limit, which is never above that of this process.
func most(limit int, asked uint64) uint64 {
	var ours unix.Rlimit
	if err := unix.Getrlimit(limit, &ours); err != nil {
		return asked
	}
	return min(asked, ours.Max)
}

// howItEnded says how a program ended that was not ended by us.
func howItEnded(state *os.ProcessState, cpu time.Duration) string {
	status, ok := state.Sys().(syscall.WaitStatus)
	if !ok || !status.Signaled() {
		return fmt.Sprintf("exited with %d", state.ExitCode())
	}
	if used := state.UserTime() + state.SystemTime(); cpu > 0 && (status.Signal() == syscall.SIGXCPU || status.Signal() == syscall.SIGKILL && used >= cpu) {
		return fmt.Sprintf("used more than %s of processor time", cpu)
	}
	return "was killed by " + strings.ToUpper(unix.SignalName(status.Signal()))
}
