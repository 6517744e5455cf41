package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os/exec"
	"runtime"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"prescient/cmd/internal/exit"
	"prescient/cmd/internal/output"
	"prescient/cmd/internal/private"
	"prescient/cmd/internal/program"
	"prescient/prescient/forecast"
	"prescient/prescient/stats"
)

// pageLasts is how long a demonstration takes at which people look by a browser, unless they say.
const pageLasts = 10 * time.Minute

// servePage serves the page of the stage on this machine, to whoever asks, until stop is called. The error wraps what the program or the tables lack.
func (s *stage) servePage(ctx context.Context, prog *program.Program, log zerolog.Logger) (address string, stop func(), err error) {
	if prog.Page == nil {
		return "", nil, exit.Usage(errors.New("--page: this program has no page"))
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, fmt.Errorf("--page: %w", err)
	}
	var forecasts *forecast.Maker
	var stopPage func()
	sums, err := stats.New(ctx, s.db, stats.Options{Prefix: s.prefix, Worker: s.worker.Name(), Log: log})
	if err == nil {
		forecasts, err = forecast.New(ctx, s.db, forecast.Options{Prefix: s.prefix, Name: s.worker.Name(), Log: log})
	}
	if err == nil {
		stopPage, err = private.Page{DB: s.db, Prefix: s.prefix, Place: "demonstration", Colour: "teal", Worker: s.worker.Name(), Log: log}.Serve(ctx, prog, listener)
	}
	if err != nil {
		return "", nil, errors.Join(fmt.Errorf("--page: %w", err), listener.Close())
	}
	beside, end := context.WithCancel(context.WithoutCancel(ctx))
	var all sync.WaitGroup
	all.Go(func() { sums.Serve(beside) })
	all.Go(func() { forecasts.Serve(beside) })
	return private.URL(listener), func() {
		end()
		stopPage()
		all.Wait()
	}, nil
}

// openInBrowser shows a person's browser an address, where there is a person with one. Who has none reads the address.
func openInBrowser(prog *program.Program, w io.Writer, address string) {
	env := func(name string) string { value, _ := prog.Env(name); return value }
	if !output.IsTerminal(w) || runtime.GOOS == "linux" && env("DISPLAY") == "" && env("WAYLAND_DISPLAY") == "" {
		return
	}
	opener := map[string]string{"linux": "xdg-open", "darwin": "open"}[runtime.GOOS]
	if path, err := exec.LookPath(opener); err == nil {
		opening := exec.Command(path, address)
		if opening.Start() == nil {
			go func() { _ = opening.Wait() }()
		}
	}
}
