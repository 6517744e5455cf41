package cmd

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// untilSignal returns a context that the first SIGINT or SIGTERM ends; the second ends the process at once.
func untilSignal(parent context.Context, program string, stderr io.Writer) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancel(parent)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		select {
		case <-signals:
		case <-ctx.Done():
			return
		}
		cancel()
		again, ok := (<-signals).(syscall.Signal)
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
