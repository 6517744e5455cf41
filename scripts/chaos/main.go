// Command chaos is what scripts/chaos/run runs: it breaks things on purpose, and says whether the promises were kept. It
// is its own worker: a process that was started as one is the command, with job_execs that report to the checker.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"prescient/scripts/chaos/outbox"
	"prescient/scripts/chaos/stage"
	"prescient/scripts/chaos/worker"

	"prescient/scripts/chaos/campaign"
)

func main() {
	if worker.IsWorker() {
		worker.Main()
	}
	if outbox.IsForwarder() {
		outbox.Main()
	}
	good, err := run()
	if err != nil {
		fmt.Fprintln(os.Stderr, "chaos:", err)
		os.Exit(2)
	}
	if !good {
		os.Exit(1)
	}
}

func run() (good bool, err error) {
	seed := flag.Uint64("seed", uint64(time.Now().UnixNano()%1_000_000), "what happens follows from it")
	duration := flag.Duration("duration", 20*time.Second, "how long each scenario breaks things")
	engines := flag.String("engine", "mariadb,mysql", "servers to start: mariadb, mariadb-11.8, mysql, galera, group-replication, vitess; with --dsn, what to call it")
	dsn := flag.String("dsn", "", "run on this server, or on the hosts that it lists, as in tcp(host1:port,host2:port); the account may create databases")
	scenarios := flag.String("scenario", "", "only these, by name; all by default")
	list := flag.Bool("list", false, "list the scenarios")
	asJSON := flag.Bool("json", false, "print an object a line for each run")
	events := flag.String("events", "", "play the scenarios of events instead, with these brokers: http, redis, nats, kafka, rabbitmq, or all")
	rabbitMQ := flag.String("rabbitmq", "", "with --events: this RabbitMQ, too, by an account that may declare queues: amqp://user:password@host:5672/")
	dir := flag.String("dir", "", "for journals and logs; a temporary folder by default")
	flag.Parse()

	if *events != "" {
		return playEvents(*events, *rabbitMQ, *engines, *scenarios, *seed, *duration, *dir, *asJSON)
	}
	if *list {
		for _, s := range campaign.Scenarios() {
			fmt.Printf("%-18s %s\n", s.Name, s.About)
		}
		return true, nil
	}
	c := campaign.Campaign{Faketime: os.Getenv("CHAOS_FAKETIME"), Seed: *seed, Duration: *duration, Scenarios: campaign.Scenarios(), Dir: *dir,
		Log: func(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }}
	if *scenarios != "" {
		var unknown string
		if c.Scenarios, unknown = campaign.Named(strings.Split(*scenarios, ",")...); unknown != "" {
			return false, fmt.Errorf("no scenario is called %q; see --list", unknown)
		}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if c.Dir == "" {
		if c.Dir, err = os.MkdirTemp("", "chaos-"); err != nil {
			return false, err
		}
		defer func() { _ = os.Remove(c.Dir) }() // only where no finding left anything
	} else if err := os.MkdirAll(c.Dir, 0o700); err != nil {
		return false, err
	}
	if c.NeedsClock() {
		clockDir, err := os.MkdirTemp("", "chaos-clock-")
		if err != nil {
			return false, err
		}
		defer func() { _ = os.RemoveAll(clockDir) }() // the system's temporary folder is cleaned anyway
		if c.Clock, err = campaign.BuildClockWorker(ctx, clockDir, "prescient/scripts/chaos"); err != nil {
			fmt.Fprintln(os.Stderr, "chaos:", err) // its scenario is not played, and says so
		}
	}
	if *dsn != "" {
		engine, err := stage.Given(strings.Split(*engines, ",")[0], *dsn)
		if err != nil {
			return false, err
		}
		c.Engines = append(c.Engines, engine)
	} else {
		for _, name := range strings.Split(*engines, ",") {
			engine, err := stage.Start(ctx, name)
			if err != nil {
				return false, errors.Join(err, c.Close())
			}
			c.Engines = append(c.Engines, engine)
		}
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	fmt.Fprintf(os.Stderr, "seed %d, %s for each of %d scenarios\n", *seed, *duration, len(c.Scenarios))
	encoder := json.NewEncoder(os.Stdout)
	campaign.Quiet()
	c.Done = func(o campaign.Outcome) {
		if *asJSON {
			_ = encoder.Encode(o)
		} else {
			fmt.Fprintln(os.Stderr, o)
		}
	}
	all := c.Run(ctx)
	if !*asJSON {
		campaign.Print(os.Stdout, all)
	}
	if err := ctx.Err(); err != nil {
		return false, err
	}
	return campaign.Judge(all)
}
