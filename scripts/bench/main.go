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
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/pflag"

	"prescient/scripts/bench/internal/agents"
	"prescient/scripts/bench/internal/events"
	"prescient/scripts/bench/internal/guest"
	"prescient/scripts/bench/internal/keyspace"
	"prescient/scripts/bench/internal/large"
	"prescient/scripts/bench/internal/page"
	"prescient/scripts/bench/internal/rig"
	"prescient/scripts/bench/internal/schedules"
	"prescient/scripts/bench/internal/slotrun"
)

// sections in the order in which they are run and shown.
var sections = []rig.Section{
	floorSection,
	endsSection,
	insertSection,
	occasionsSection,
	ordersSection,
	txSection,
	queueSection,
	riverSection,
	asynqSection,
	cronSection,
	latenessSection,
	neighboursSection,
	guest.Section,
	guest.Stalls,
	remoteSection,
	growthSection,
	purgeSection,
	slotsSection,
	idleSection,
	large.History,
	large.Answers,
	large.API,
	large.Page,
	large.Bulk,
	large.Rules,
	schedules.Section,
	longSection,
	events.Section,
	agents.Section,
	keyspace.Section,
}

// shown are the sections as the page has them.
func shown() (list []page.Section) {
	for _, s := range sections {
		list = append(list, page.Section{Name: s.Name, About: s.About})
	}
	return list
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	b := rig.Bench{Log: os.Stderr}
	var engines []string
	var dir, results string
	flags := pflag.NewFlagSet("bench", pflag.ContinueOnError)
	flags.StringSliceVar(&engines, "engine", nil, "servers to measure, of mariadb, mysql, mysql-nobinlog (default: the first two, and the third in floor and ends)")
	flags.Float64Var(&b.Scale, "scale", 1, "multiplies the numbers of rows; 0.05 is a try-out")
	flags.IntVar(&b.Rows, "rows", 0, "rows of history in section history (default 50 million, times scale)")
	flags.IntVar(&b.Rounds, "rounds", 3, "how often each contestant has its turn")
	flags.StringSliceVar(&b.Only, "only", nil, "contestants whose names hold one of these; of the sections where each has its turn on the same rows; the page shows what a section measured last, so give --results a folder (default: all)")
	flags.StringVar(&b.Pool, "buffer-pool", rig.DefaultPool, "innodb_buffer_pool_size")
	flags.BoolVar(&b.Again, "again", false, "measure again what has results already")
	flags.StringVar(&dir, "dir", "", "where the servers keep their data (default: the temporary folder)")
	flags.StringVar(&results, "results", "results", "folder for results.jsonl and the page")
	flags.StringVar(&b.DSN, "dsn", "", "measure on this server in place of an own one; give one --engine with it. Its databases bench_… are dropped")
	flags.StringArrayVar(&b.More, "server-arg", nil, "a further argument of the servers")
	flags.BoolVar(&b.Keep, "keep", false, "leave the databases, and use those that are there already; for --dsn")
	pageOnly := flags.Bool("page", false, "write the page from the results that are there, and measure nothing")
	hold := flags.Bool("hold", false, "start the servers, print their DSNs, and wait for a signal")
	flags.Usage = func() {
		fmt.Fprintf(os.Stderr, "usage: scripts/bench/run [FLAGS] [SECTION...]\n\nsections, all of them by default:\n")
		for _, s := range sections {
			fmt.Fprintf(os.Stderr, "  %-10s %s\n", s.Name, s.About)
		}
		fmt.Fprintf(os.Stderr, "\nflags:\n%s", flags.FlagUsages())
	}
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, pflag.ErrHelp) {
			return nil
		}
		return err
	}
	for _, asChild := range []func(args []string) (handled bool, err error){slotrun.AsChild, agents.AsChild, keyspace.AsChild} {
		if handled, err := asChild(flags.Args()); handled {
			return err
		}
	}
	for _, name := range engines {
		if e := page.Engine(name); e != page.MariaDB && e != page.MySQL && e != page.MySQLNoBinlog {
			return fmt.Errorf("--engine %q: mariadb, mysql or mysql-nobinlog", name)
		}
		b.Engines = append(b.Engines, page.Engine(name))
	}
	if b.DSN != "" && len(b.Engines) != 1 {
		return errors.New("--dsn: say with --engine which server it is")
	}
	wanted, err := choose(flags.Args())
	if err != nil {
		return err
	}
	if dir != "" {
		// The servers make their folders in the temporary one.
		if dir, err = filepath.Abs(dir); err != nil {
			return err
		}
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
		os.Setenv("TMPDIR", dir)
	}
	if b.Book, err = page.OpenBook(results); err != nil {
		return err
	}
	defer b.Book.Close()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	switch {
	case *hold:
		return b.Hold(ctx)
	case !*pageOnly:
		err = b.Measure(ctx, wanted)
	}
	return errors.Join(err, page.Write(results, b.Book.Records, shown()))
}

// choose finds the sections by name; all of them where none is named.
func choose(names []string) ([]rig.Section, error) {
	if len(names) == 0 {
		return sections, nil
	}
	var list []rig.Section
	for _, name := range names {
		i := slices.IndexFunc(sections, func(s rig.Section) bool { return s.Name == name })
		if i < 0 {
			var all []string
			for _, s := range sections {
				all = append(all, s.Name)
			}
			return nil, fmt.Errorf("no section %q; there are %s", name, strings.Join(all, ", "))
		}
		list = append(list, sections[i])
	}
	return list, nil
}
