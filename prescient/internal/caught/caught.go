// Package caught has calls of functions that are not ours, which may end without an answer: by a panic, or by runtime.Goexit.
package caught

import (
	"fmt"
	"runtime/debug"

	"prescient/prescient"
)

// Error is what came of a call that did not return, by what recover gave for it: a panic, or runtime.Goexit where that is nil. A deferred
// function of the call's goroutine calls it, so that the error has the stack. It wraps prescient.ErrPanic.
func Error(recovered any) error {
	if recovered == nil {
		return fmt.Errorf("%w: it called runtime.Goexit", prescient.ErrPanic)
	}
	return fmt.Errorf("%w: %v\n%s", prescient.ErrPanic, recovered, debug.Stack())
}

// Go calls a function in a goroutine of its own. Its answer comes by the channel, or where it gives none what failed makes of the error.
// Nobody need wait for it.
func Go[A any](do func() A, failed func(err error) A) <-chan A {
	came := make(chan A, 1)
	go func() {
		var a A
		returned := false
		defer func() {
			if !returned {
				a = failed(Error(recover()))
			}
			came <- a
		}()
		a = do()
		returned = true
	}()
	return came
}
