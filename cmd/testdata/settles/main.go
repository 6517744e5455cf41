// Command settles is a program as a user has it, with a job_exec that settles everything. Its last line says how much
// memory it had at most.
package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"prescient/cmd"
	"prescient/prescient"
)

func main() {
	code := cmd.Run(context.Background(), cmd.Options{Register: func(_ context.Context, registry *prescient.Registry, _ cmd.Deps) error {
		return registry.Register("check", func(context.Context, prescient.FutureJob) (*time.Time, error) { return nil, nil }, prescient.Guards{})
	}})
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	for line := range strings.Lines(string(status)) {
		if peak, is := strings.CutPrefix(line, "VmHWM:"); is {
			fmt.Println(strings.TrimSpace(peak))
		}
	}
	os.Exit(code)
}
