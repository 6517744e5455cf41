package main

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// machine is what the results were measured on.
type machine struct {
	CPU    string `json:"cpu"`
	Cores  int    `json:"cores"`
	Memory string `json:"memory"`
	OS     string `json:"os"`
	Go     string `json:"go"`
	Load   string `json:"load"` // at the end of the section
}

func thisMachine() machine {
	m := machine{Cores: runtime.NumCPU(), Go: runtime.Version(), OS: runtime.GOOS + "/" + runtime.GOARCH}
	m.CPU = field("/proc/cpuinfo", "model name", ":")
	m.Memory = field("/proc/meminfo", "MemTotal", ":")
	if text, err := os.ReadFile("/proc/loadavg"); err == nil {
		m.Load = strings.TrimSpace(string(text))
	}
	if name := field("/etc/os-release", "PRETTY_NAME", "="); name != "" {
		m.OS = strings.Trim(name, `"`)
	}
	return m
}

// field is the first value of a name in a file of names and values.
func field(file, name, separator string) string {
	text, err := os.ReadFile(file)
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(text)) {
		if key, value, found := strings.Cut(line, separator); found && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// usage is CPU time used so far.
type usage struct {
	at             time.Time
	client, server float64
}

// ticks a second, of /proc/PID/stat; 100 on every Linux that Go runs on.
const ticks = 100

func usageNow(pids ...int) usage {
	u := usage{at: time.Now()}
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var r syscall.Rusage
		if syscall.Getrusage(who, &r) == nil {
			u.client += float64(r.Utime.Nano()+r.Stime.Nano()) / 1e9
		}
	}
	for _, pid := range pids {
		u.server += cpuOf(pid)
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

// peakMemory is the most memory that a process had resident, in bytes.
func peakMemory(pid int) float64 {
	text := field(fmt.Sprintf("/proc/%d/status", pid), "VmHWM", ":")
	kb, _ := strconv.ParseFloat(strings.TrimSuffix(text, " kB"), 64)
	return kb * 1024
}

// took measures one turn of a contestant: do returns how many rows it did.
func (b *bench) took(name string, round int, pids []int, do func() (int, error)) (record, error) {
	return b.tookWith(name, round, pids, do, nil)
}

// tookWith is took with a function that completes the record before it is written.
func (b *bench) tookWith(name string, round int, pids []int, do func() (int, error), complete func(r *record)) (record, error) {
	before := usageNow(pids...)
	rows, err := do()
	after := usageNow(pids...)
	if err != nil {
		return record{}, fmt.Errorf("%s: %w", name, err)
	}
	r := record{Case: name, Round: round, Rows: rows, Seconds: after.at.Sub(before.at).Seconds(),
		ClientCPU: after.client - before.client, ServerCPU: after.server - before.server}
	if complete != nil {
		complete(&r)
	}
	b.say("  %-44s %9d rows %8.2f s %9.0f/s  CPU %5.2f + %5.2f µs a row  %s", name, rows, r.Seconds, r.rate(),
		r.ClientCPU*1e6/float64(max(rows, 1)), r.ServerCPU*1e6/float64(max(rows, 1)), figuresText(r.Figures))
	return r, b.book.add(r)
}

// median of numbers: of an even number of them half-way between the two in the middle; 0 of none.
func median(list []float64) float64 {
	if len(list) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(list))
	return (sorted[(len(sorted)-1)/2] + sorted[len(sorted)/2]) / 2
}

// historyLength is the number of undo logs that purge has before it, by SHOW ENGINE INNODB STATUS.
func historyLength(status string) int {
	_, rest, _ := strings.Cut(status, "History list length ")
	line, _, _ := strings.Cut(rest, "\n")
	n, _ := strconv.Atoi(strings.TrimSpace(line))
	return n
}
