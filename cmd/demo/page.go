package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"runtime"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"prescient/cmd/internal/exit"
	"prescient/cmd/internal/output"
	"prescient/cmd/internal/program"
	"prescient/prescient/forecast"
	"prescient/prescient/ops"
	"prescient/prescient/ops/door"
	"prescient/prescient/stats"
)

const (
	// pageLasts is how long a demonstration takes at which people look by a browser, unless they say.
	pageLasts = 10 * time.Minute
	// headerTime is for how long a request's header may take.
	headerTime = 10 * time.Second
)

// servePage serves the page of the stage on this machine, to whoever asks, until stop is called. The error wraps what the program or the tables lack.
func (s *stage) servePage(ctx context.Context, prog *program.Program, log zerolog.Logger) (address string, stop func(), err error) {
	if prog.Page == nil {
		return "", nil, exit.Usage(errors.New("--page: this program has no page"))
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, fmt.Errorf("--page: %w", err)
	}
	address = "http://" + listener.Addr().String()
	o, err := ops.Open(ctx, ops.Options{Accounts: ops.Accounts{Viewer: s.db, Operator: s.db, Admin: s.db}, Prefix: s.prefix, Program: prog.Name})
	var handler http.Handler
	var sums *stats.Rollup
	var forecasts *forecast.Maker
	if err == nil {
		sums, err = stats.New(ctx, s.db, stats.Options{Prefix: s.prefix, Worker: s.worker.Name(), Log: log})
	}
	if err == nil {
		forecasts, err = forecast.New(ctx, s.db, forecast.Options{Prefix: s.prefix, Name: s.worker.Name(), Log: log})
	}
	if err == nil {
		handler, err = prog.Page(ctx, door.Serving{Ops: o, Log: log, Page: door.Page{DB: s.db, Prefix: s.prefix, BaseURL: address, Place: "demonstration", Colour: "teal", Open: ops.Admin}})
	}
	if err != nil {
		return "", nil, errors.Join(fmt.Errorf("--page: %w", err), listener.Close())
	}
	server := &http.Server{Handler: door.OnlyFor(listener.Addr().String(), true, handler), ReadHeaderTimeout: headerTime}
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = server.Serve(listener) // until it is closed
	}()
	beside, end := context.WithCancel(context.WithoutCancel(ctx))
	var all sync.WaitGroup
	all.Go(func() { _ = server.Serve(listener) }) // until it is closed
	all.Go(func() { program.WorkBulk(beside, o, s.worker.Name(), log) })
	all.Go(func() { sums.Serve(beside) })
	all.Go(func() { forecasts.Serve(beside) })
	return address, func() {
		end()
		_ = server.Close() // what is asked just now is about tables that go
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
