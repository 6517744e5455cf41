package group

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// A Mark tells the processes of one call from all others.
type Mark struct {
	Variable string // name=value
	// Limit is that of resident memory (RLIMIT_RSS), in KiB; 0 where there can be none.
	Limit uint64
}

// leastLimit is above what any machine has, lest a program thinks that it may use so little only: 4 EiB, in KiB.
const leastLimit = 1 << 52

// NewMark returns a mark that no other call has, by a variable of that name.
func NewMark(variable string) Mark {
	var b [18]byte
	_, _ = rand.Read(b[:]) // it never fails
	m := Mark{Variable: variable + "=" + hex.EncodeToString(b[:12])}
	var ours unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_RSS, &ours); err == nil && ours.Max == unix.RLIM_INFINITY {
		m.Limit = leastLimit + binary.LittleEndian.Uint64(b[10:])>>16
	}
	return m
}

// on says whether a process carries the mark. The variables of one that has exited, and of another user's, cannot be looked at.
func (m Mark) on(pid int) bool {
	if m.Limit != 0 && softLimitOf(pid) == m.Limit<<10 {
		return true
	}
	env, err := os.ReadFile(proc(pid, "environ"))
	return err == nil && bytes.Contains(env, []byte(m.Variable))
}

// softLimitOf is the limit of a process's resident memory, in bytes; 0 where it cannot be told, or is none.
func softLimitOf(pid int) uint64 {
	text, err := os.ReadFile(proc(pid, "limits"))
	if err != nil {
		return 0
	}
	_, rest, _ := bytes.Cut(text, []byte("\nMax resident set"))
	fields := bytes.Fields(rest[:min(len(rest), 64)])
	if len(fields) == 0 {
		return 0
	}
	n, _ := strconv.ParseUint(string(fields[0]), 10, 64) // "unlimited" is none
	return n
}
