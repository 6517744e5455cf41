package command

import (
	"fmt"
	"os"
	"strconv"
	"sync"

	"golang.org/x/sys/unix"
)

// Shield keeps what this process has from programs of the same user, which is that of its commands unless they have one of their own: none
// may read its environment, memory and files by /proc, or trace it; and a file that this process was started with (as by 5<file in a shell)
// is not passed on. New calls it; a program whose secrets are there before it calls New calls it first of all, as package cmd does once it
// has read commands. Only the first call does something. The process is undumpable then: no core dumps, and no debugger, strace or secrets of
// /proc/PID but for root. A command without a User may do what else the worker's user may: read a dsn_file, the worker's arguments, its parent's
// environment, or end the worker by a signal.
func Shield() error { return shielded() }

var shielded = sync.OnceValue(func() error {
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("PR_SET_DUMPABLE: %w", err)
	}
	// Go closes its own files where another program begins; those that this process has inherited it does not.
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return fmt.Errorf("files that are open: %w", err)
	}
	for _, entry := range entries {
		if fd, err := strconv.Atoi(entry.Name()); err == nil && fd > 2 {
			unix.CloseOnExec(fd)
		}
	}
	return nil
})
