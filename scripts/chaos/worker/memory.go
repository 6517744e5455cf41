package worker

import (
	"fmt"
	"strconv"
	"syscall"
)

// limitMemory bounds the address space of this process: what wants more ends it.
func limitMemory(bytes string) error {
	if bytes == "" {
		return nil
	}
	n, err := strconv.ParseUint(bytes, 10, 64)
	if err != nil {
		return fmt.Errorf("%s: %w", MemoryVariable, err)
	}
	return syscall.Setrlimit(syscall.RLIMIT_AS, &syscall.Rlimit{Cur: n, Max: n})
}
