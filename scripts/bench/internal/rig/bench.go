package rig

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"prescient/scripts/bench/internal/page"
)

// Bench is one run of the command.
type Bench struct {
	Engines []page.Engine // those asked for; none: all that a section has
	Scale   float64
	Rows    int
	Rounds  int
	Only    []string // contestants whose names hold one of these; none: all
	Pool    string
	Again   bool
	Keep    bool
	More    []string
	DSN     string
	Log     io.Writer
	Book    *page.Book
}

// Section is one thing to measure.
type Section struct {
	Name, About string
	Run         func(ctx context.Context, b *Bench, s *Server) error
	Args        func(b *Bench, on page.Engine) []string // further arguments of the server
	NoBinlog    bool                                    // to be measured on MySQL without binlog, too
	MySQLOnly   bool
}

// DefaultPool is the buffer pool's size.
const DefaultPool = "2G"

// Measure runs the sections that have no results yet, each on each server. One
// that fails does not keep the others from being measured.
func (b *Bench) Measure(ctx context.Context, wanted []Section) error {
	var failed []error
	for _, s := range wanted {
		for _, engine := range b.enginesOf(s) {
			key := fmt.Sprintf("%s %s scale=%v rows=%d pool=%s %v", s.Name, engine, b.Scale, b.Rows, b.Pool, b.More)
			if len(b.Only) > 0 {
				key += fmt.Sprintf(" only=%q", b.Only)
			}
			if b.Book.Done(key) && !b.Again {
				b.Say("%s on %s: there are results already (--again measures again)", s.Name, engine)
				continue
			}
			if err := b.section(ctx, s, engine, key); err != nil {
				failed = append(failed, fmt.Errorf("%s on %s: %w", s.Name, engine, err))
				b.Say("%v", failed[len(failed)-1])
			}
			if ctx.Err() != nil {
				return errors.Join(failed...)
			}
		}
	}
	return errors.Join(failed...)
}

// enginesOf are the servers that a section is measured on.
func (b *Bench) enginesOf(s Section) []page.Engine {
	switch {
	case s.MySQLOnly:
		return []page.Engine{page.MySQL}
	case len(b.Engines) > 0:
		return b.Engines
	case s.NoBinlog:
		return []page.Engine{page.MariaDB, page.MySQL, page.MySQLNoBinlog}
	}
	return []page.Engine{page.MariaDB, page.MySQL}
}

func (b *Bench) section(ctx context.Context, s Section, on page.Engine, key string) (err error) {
	args := b.More
	if s.Args != nil {
		args = slices.Concat(s.Args(b, on), args)
	}
	server, err := b.start(ctx, on, args...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.close()) }()
	b.Say("%s on %s %s", s.Name, on, server.version)
	started := time.Now()
	if err := b.Book.Begin(s.Name, key, b.command(s.Name, on), on, fmt.Sprintf("%s %s", server.Flavour, server.version)); err != nil {
		return err
	}
	if err := s.Run(ctx, b, server); err != nil {
		return err
	}
	b.Say("%s on %s took %v", s.Name, on, time.Since(started).Round(time.Second))
	return b.Book.Finish(key)
}

// command measures one section again, as it is measured now.
func (b *Bench) command(section string, on page.Engine) string {
	parts := []string{"scripts/bench/run", "--engine", string(on), "--scale", fmt.Sprint(b.Scale), "--rounds", fmt.Sprint(b.Rounds)}
	if b.Rows != 0 {
		parts = append(parts, "--rows", fmt.Sprint(b.Rows))
	}
	if b.Pool != DefaultPool {
		parts = append(parts, "--buffer-pool", b.Pool)
	}
	for _, only := range b.Only {
		parts = append(parts, fmt.Sprintf("--only '%s'", only))
	}
	for _, arg := range b.More {
		parts = append(parts, "--server-arg="+arg)
	}
	return strings.Join(append(parts, section), " ")
}

// Hold keeps servers up to be looked into.
func (b *Bench) Hold(ctx context.Context) error {
	for _, engine := range b.enginesOf(Section{}) {
		server, err := b.start(ctx, engine, b.More...)
		if err != nil {
			return err
		}
		defer server.close()
		fmt.Println(engine, server.DSN(""))
	}
	<-ctx.Done()
	return nil
}

// Say tells people what goes on.
func (b *Bench) Say(format string, args ...any) {
	fmt.Fprintf(b.Log, "%s %s\n", time.Now().Format("15:04:05"), fmt.Sprintf(format, args...))
}

// Scaled is a number of rows times --scale.
func (b *Bench) Scaled(n int) int { return max(int(float64(n)*b.Scale), 100) }
