package demo

import (
	"fmt"
	"time"

	"prescient/cmd/internal/exit"
)

// demoFlags are the flags of demo.
type demoFlags struct {
	lastsFor, alertAfter, escalateAfter time.Duration
	orders                              int
	seed                                uint64
	keep, steps, page                   bool
}

// check refuses flags that do not go together.
func (f *demoFlags) check() error {
	if f.escalateAfter <= f.alertAfter {
		return exit.Usage(fmt.Errorf("--escalate-after %s: more than --alert-after (%s) is allowed", f.escalateAfter, f.alertAfter))
	}
	return nil
}
