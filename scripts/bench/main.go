// Command bench measures prescient beside what the server itself needs for the
// same work, and beside what one would use instead. See the flags with --help.
//
// Each section measures its contestants in one run, alternating, so that what
// else goes on on the machine hits all alike; the page has medians and ratios.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/pflag"
)

// defaultPool is the buffer pool's size.
const defaultPool = "2G"

// bench is one run of the command.
type bench struct {
	engines []engine // those asked for; none: all that a section has
	scale   float64
	rows    int
	rounds  int
	only    []string // contestants whose names hold one of these; none: all
	pool    string
	again   bool
	keep    bool
	more    []string
	dir     string
	results string
	dsn     string
	log     io.Writer
	book    *book
}

// section is one thing to measure.
type section struct {
	name, about string
	run         func(ctx context.Context, b *bench, s *server) error
	args        func(b *bench) []string // further arguments of the server
	noBinlog    bool                    // to be measured on MySQL without binlog, too
}

// sections in the order in which they are run and shown.
var sections = []section{
	floorSection,
	endsSection,
	insertSection,
	ordersSection,
	txSection,
	queueSection,
	riverSection,
	asynqSection,
	cronSection,
	latenessSection,
	neighboursSection,
	remoteSection,
	growthSection,
	purgeSection,
	slotsSection,
	idleSection,
	historySection,
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	b := bench{log: os.Stderr}
	var engines []string
	flags := pflag.NewFlagSet("bench", pflag.ContinueOnError)
	flags.StringSliceVar(&engines, "engine", nil, "servers to measure, of mariadb, mysql, mysql-nobinlog (default: the first two, and the third in floor and ends)")
	flags.Float64Var(&b.scale, "scale", 1, "multiplies the numbers of rows; 0.05 is a try-out")
	flags.IntVar(&b.rows, "rows", 0, "rows of history in section history (default 50 million, times scale)")
	flags.IntVar(&b.rounds, "rounds", 3, "how often each contestant has its turn")
	flags.StringSliceVar(&b.only, "only", nil, "contestants whose names hold one of these; of the sections where each has its turn on the same rows; the page shows what a section measured last, so give --results a folder (default: all)")
	flags.StringVar(&b.pool, "buffer-pool", defaultPool, "innodb_buffer_pool_size")
	flags.BoolVar(&b.again, "again", false, "measure again what has results already")
	flags.StringVar(&b.dir, "dir", "", "where the servers keep their data (default: the temporary folder)")
	flags.StringVar(&b.results, "results", "results", "folder for results.jsonl and the page")
	flags.StringVar(&b.dsn, "dsn", "", "measure on this server in place of an own one; give one --engine with it. Its databases bench_… are dropped")
	flags.StringArrayVar(&b.more, "server-arg", nil, "a further argument of the servers")
	flags.BoolVar(&b.keep, "keep", false, "leave the databases, and use those that are there already; for --dsn")
	page := flags.Bool("page", false, "write the page from the results that are there, and measure nothing")
	hold := flags.Bool("hold", false, "start the servers, print their DSNs, and wait for a signal")
	flags.Usage = func() {
		fmt.Fprintf(os.Stderr, "usage: scripts/bench/run [FLAGS] [SECTION...]\n\nsections, all of them by default:\n")
		for _, s := range sections {
			fmt.Fprintf(os.Stderr, "  %-10s %s\n", s.name, s.about)
		}
		fmt.Fprintf(os.Stderr, "\nflags:\n%s", flags.FlagUsages())
	}
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, pflag.ErrHelp) {
			return nil
		}
		return err
	}
	if handled, err := asChild(flags.Args()); handled {
		return err
	}
	for _, name := range engines {
		if e := engine(name); e != mariaDB && e != mySQL && e != mysqlNoBinlog {
			return fmt.Errorf("--engine %q: mariadb, mysql or mysql-nobinlog", name)
		}
		b.engines = append(b.engines, engine(name))
	}
	if b.dsn != "" && len(b.engines) != 1 {
		return errors.New("--dsn: say with --engine which server it is")
	}
	wanted, err := choose(flags.Args())
	if err != nil {
		return err
	}
	if b.dir != "" {
		// The servers make their folders in the temporary one.
		if b.dir, err = filepath.Abs(b.dir); err != nil {
			return err
		}
		if err := os.MkdirAll(b.dir, 0o755); err != nil {
			return err
		}
		os.Setenv("TMPDIR", b.dir)
	}
	if b.book, err = openBook(b.results); err != nil {
		return err
	}
	defer b.book.close()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	switch {
	case *hold:
		return b.hold(ctx)
	case !*page:
		err = b.measure(ctx, wanted)
	}
	return errors.Join(err, writePage(b.results, b.book.records))
}

// choose finds the sections by name; all of them where none is named.
func choose(names []string) ([]section, error) {
	if len(names) == 0 {
		return sections, nil
	}
	var list []section
	for _, name := range names {
		i := slices.IndexFunc(sections, func(s section) bool { return s.name == name })
		if i < 0 {
			var all []string
			for _, s := range sections {
				all = append(all, s.name)
			}
			return nil, fmt.Errorf("no section %q; there are %s", name, strings.Join(all, ", "))
		}
		list = append(list, sections[i])
	}
	return list, nil
}

// measure runs the sections that have no results yet, each on each server. One
// that fails does not keep the others from being measured.
func (b *bench) measure(ctx context.Context, wanted []section) error {
	var failed []error
	for _, s := range wanted {
		for _, engine := range b.enginesOf(s) {
			key := fmt.Sprintf("%s %s scale=%v rows=%d pool=%s %v", s.name, engine, b.scale, b.rows, b.pool, b.more)
			if len(b.only) > 0 {
				key += fmt.Sprintf(" only=%q", b.only)
			}
			if b.book.done(key) && !b.again {
				b.say("%s on %s: there are results already (--again measures again)", s.name, engine)
				continue
			}
			if err := b.section(ctx, s, engine, key); err != nil {
				failed = append(failed, fmt.Errorf("%s on %s: %w", s.name, engine, err))
				b.say("%v", failed[len(failed)-1])
			}
			if ctx.Err() != nil {
				return errors.Join(failed...)
			}
		}
	}
	return errors.Join(failed...)
}

// enginesOf are the servers that a section is measured on.
func (b *bench) enginesOf(s section) []engine {
	switch {
	case len(b.engines) > 0:
		return b.engines
	case s.noBinlog:
		return []engine{mariaDB, mySQL, mysqlNoBinlog}
	}
	return []engine{mariaDB, mySQL}
}

func (b *bench) section(ctx context.Context, s section, on engine, key string) (err error) {
	args := b.more
	if s.args != nil {
		args = slices.Concat(s.args(b), args)
	}
	server, err := b.start(ctx, on, args...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.close()) }()
	b.say("%s on %s %s", s.name, on, server.version)
	started := time.Now()
	if err := b.book.begin(s.name, key, b.command(s.name, on), server); err != nil {
		return err
	}
	if err := s.run(ctx, b, server); err != nil {
		return err
	}
	b.say("%s on %s took %v", s.name, on, time.Since(started).Round(time.Second))
	return b.book.finish(key)
}

// command measures one section again, as it is measured now.
func (b *bench) command(section string, on engine) string {
	parts := []string{"scripts/bench/run", "--engine", string(on), "--scale", fmt.Sprint(b.scale), "--rounds", fmt.Sprint(b.rounds)}
	if b.rows != 0 {
		parts = append(parts, "--rows", fmt.Sprint(b.rows))
	}
	if b.pool != defaultPool {
		parts = append(parts, "--buffer-pool", b.pool)
	}
	for _, only := range b.only {
		parts = append(parts, fmt.Sprintf("--only '%s'", only))
	}
	for _, arg := range b.more {
		parts = append(parts, "--server-arg="+arg)
	}
	return strings.Join(append(parts, section), " ")
}

// hold keeps servers up to be looked into.
func (b *bench) hold(ctx context.Context) error {
	for _, engine := range b.enginesOf(section{}) {
		server, err := b.start(ctx, engine, b.more...)
		if err != nil {
			return err
		}
		defer server.close()
		fmt.Println(engine, server.dsn(""))
	}
	<-ctx.Done()
	return nil
}

func (b *bench) say(format string, args ...any) {
	fmt.Fprintf(b.log, "%s %s\n", time.Now().Format("15:04:05"), fmt.Sprintf(format, args...))
}

// scaled is a number of rows times --scale.
func (b *bench) scaled(n int) int { return max(int(float64(n)*b.scale), 100) }
