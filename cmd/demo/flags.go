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
	keep, steps, rules, advised, page   bool
	vitess                              bool
}

// scenes is how many of those are asked for that are played in place of the orders, or with the page.
func (f *demoFlags) scenes() (n int) {
	for _, asked := range []bool{f.steps, f.rules, f.advised, f.page, f.vitess} {
		if asked {
			n++
		}
	}
	return n
}

// check refuses flags that do not go together.
func (f *demoFlags) check() error {
	if f.escalateAfter <= f.alertAfter {
		return exit.Usage(fmt.Errorf("--escalate-after %s: more than --alert-after (%s) is allowed", f.escalateAfter, f.alertAfter))
	}
	return nil
}
