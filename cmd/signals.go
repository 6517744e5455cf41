package cmd

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// sameSender is how soon the same signal comes twice from one sender: timeout(1) sends it to the program, and to its group.
const sameSender = 100 * time.Millisecond

// untilSignal returns a context that the first SIGINT or SIGTERM ends; the second ends the process at once.
func untilSignal(parent context.Context, program string, stderr io.Writer) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancel(parent)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		var first os.Signal
		select {
		case first = <-signals:
		case <-ctx.Done():
			return
		}
		cancel()
		again, ok := second(first, signals).(syscall.Signal)
		if !ok {
			return
		}
		// The process ends in any case.
		_, _ = fmt.Fprintf(stderr, "%s: %s again: ending at once\n", program, again)
		os.Exit(128 + int(again))
	}()
	return ctx, func() {
		signal.Stop(signals)
		cancel()
	}
}

// second waits for a signal that somebody sends after the first.
func second(first os.Signal, signals <-chan os.Signal) os.Signal {
	began := time.Now()
	for {
		if again := <-signals; again != first || time.Since(began) > sameSender {
			return again
		}
	}
}
