package agents

import (
	"context"

	"prescient/scripts/bench/internal/rig"
)

// Section measures agents.
var Section = rig.Section{
	Name: "agents",
	About: "agents that share the long runs of a pool, each a process: 1200 runs of a tenth of a second by 1, 2 and 4 of them; how long runs lie there after SIGTERM and after SIGKILL of " +
		"their agent, with leases of 5 s; how 1,000 runs are dealt out to four agents of unequal load; statements a minute of idle agents; lateness of 200 short checks a slot of 5 s " +
		"beside 30 long runs, with a rolling restart of three agents and without",
	Run: func(ctx context.Context, b *rig.Bench, s *rig.Server) error {
		for round := 1; round <= b.Rounds; round++ {
			for _, part := range parts {
				if !b.Wants(part.name) {
					continue
				}
				if err := part.do(ctx, b, s, round); err != nil {
					return err
				}
			}
		}
		return nil
	},
}

// parts are what it measures, by the beginnings of their cases: --only chooses among them.
var parts = []struct {
	name string
	do   func(ctx context.Context, b *rig.Bench, s *rig.Server, round int) error
}{{"shared", share}, {"handed over", handOver}, {"dealt out", deal}, {"idle", idle}, {"rolling", rolling}}
