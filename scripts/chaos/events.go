package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"prescient/prescient/localserver"
	"prescient/scripts/chaos/outbox"
)

// playEvents plays the scenarios of events, one after the other, and prints a line of the page's table for each.
func playEvents(brokers, rabbitMQ, engines, scenarios string, seed uint64, duration time.Duration, dir string, asJSON bool) (good bool, err error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	names, list := outbox.Brokers(), outbox.Scenarios()
	switch {
	case brokers != "all":
		names = strings.Split(brokers, ",")
	case rabbitMQ != "":
		names = append(names, "rabbitmq")
	}
	if scenarios != "" {
		list = strings.Split(scenarios, ",")
	}
	if dir == "" {
		if dir, err = os.MkdirTemp("", "chaos-events-"); err != nil {
			return false, err
		}
		defer func() {
			if good {
				_ = os.RemoveAll(dir) // otherwise its logs say what happened
			}
		}()
	}
	good = true
	for _, engine := range strings.Split(engines, ",") {
		for _, broker := range names {
			for _, scenario := range list {
				r, err := outbox.Run(ctx, outbox.Options{Flavour: localserver.Flavour(engine), Broker: broker, Scenario: scenario, Seed: seed, Duration: duration, RabbitMQ: rabbitMQ,
					Dir: filepath.Join(dir, engine+"-"+broker+"-"+scenario)})
				if err != nil {
					return false, fmt.Errorf("%s, %s, %s: %w (logs in %s)", engine, broker, scenario, err, dir)
				}
				good = good && len(r.Findings) == 0
				if asJSON {
					if err := json.NewEncoder(os.Stdout).Encode(r); err != nil {
						return false, err
					}
					continue
				}
				fmt.Printf("| `%s` | %s | %s | %d | %d | %d | %d | %d |\n", r.Scenario, r.Broker, r.Engine, r.Tried, r.Events, r.Repeats, r.Aside, len(r.Findings))
				for _, f := range r.Findings {
					fmt.Println("  " + f)
				}
			}
		}
	}
	if !good {
		fmt.Fprintln(os.Stderr, "chaos: promises were broken; logs are in", dir)
	}
	return good, nil
}
