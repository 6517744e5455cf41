package rig

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"prescient/scripts/bench/internal/page"
)

// Usage is CPU time used so far.
type Usage struct {
	At             time.Time
	Client, Server float64
}

// ticks a second, of /proc/PID/stat; 100 on every Linux that Go runs on.
const ticks = 100

// UsageNow is the use of this process with its children, and of a server's processes.
func UsageNow(pids ...int) Usage {
	u := Usage{At: time.Now()}
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var r syscall.Rusage
		if syscall.Getrusage(who, &r) == nil {
			u.Client += float64(r.Utime.Nano()+r.Stime.Nano()) / 1e9
		}
	}
	for _, pid := range pids {
		u.Server += cpuOf(pid)
	}
	return u
}

// cpuOf is the CPU time of a process and its children, 0 where there is none to be seen. Postgres has a child for each
// connection; those that ended are in their parent's figures.
func cpuOf(pid int) float64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if pid == 0 || err != nil {
		return 0
	}
	// After the name, which is in brackets and may hold blanks.
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	sum := 0.0
	for _, field := range fields[11:15] { // user and system, its own and of children that ended
		n, _ := strconv.ParseFloat(field, 64)
		sum += n / ticks
	}
	children, _ := os.ReadFile(fmt.Sprintf("/proc/%[1]d/task/%[1]d/children", pid))
	for child := range strings.FieldsSeq(string(children)) {
		if n, err := strconv.Atoi(child); err == nil {
			sum += cpuOf(n)
		}
	}
	return sum
}

func readPid(file string) int {
	text, err := os.ReadFile(file)
	if err != nil {
		return 0
	}
	pid, _ := strconv.Atoi(strings.TrimSpace(string(text)))
	return pid
}

// PeakMemory is the most memory that a process had resident, in bytes.
func PeakMemory(pid int) float64 {
	text := page.Field(fmt.Sprintf("/proc/%d/status", pid), "VmHWM", ":")
	kb, _ := strconv.ParseFloat(strings.TrimSuffix(text, " kB"), 64)
	return kb * 1024
}

// Took measures one turn of a contestant: do returns how many rows it did.
func (b *Bench) Took(name string, round int, pids []int, do func() (int, error)) (page.Record, error) {
	return b.TookWith(name, round, pids, do, nil)
}

// TookWith is took with a function that completes the record before it is written.
func (b *Bench) TookWith(name string, round int, pids []int, do func() (int, error), complete func(r *page.Record)) (page.Record, error) {
	before := UsageNow(pids...)
	rows, err := do()
	after := UsageNow(pids...)
	if err != nil {
		return page.Record{}, fmt.Errorf("%s: %w", name, err)
	}
	r := page.Record{Case: name, Round: round, Rows: rows, Seconds: after.At.Sub(before.At).Seconds(),
		ClientCPU: after.Client - before.Client, ServerCPU: after.Server - before.Server}
	if complete != nil {
		complete(&r)
	}
	b.Say("  %-44s %9d rows %8.2f s %9.0f/s  CPU %5.2f + %5.2f µs a row  %s", name, rows, r.Seconds, r.Rate(),
		r.ClientCPU*1e6/float64(max(rows, 1)), r.ServerCPU*1e6/float64(max(rows, 1)), page.FiguresText(r.Figures))
	return r, b.Book.Add(r)
}

// historyLength is the number of undo logs that purge has before it, by SHOW ENGINE INNODB STATUS.
func historyLength(status string) int {
	_, rest, _ := strings.Cut(status, "History list length ")
	line, _, _ := strings.Cut(rest, "\n")
	n, _ := strconv.Atoi(strings.TrimSpace(line))
	return n
}
