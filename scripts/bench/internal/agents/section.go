package agents

import (
	"context"

	"prescient/scripts/bench/internal/rig"
)

// Section measures agents.
var Section = rig.Section{
	Name: "agents",
	About: "agents that share the long runs of a pool, each a process: 400 runs of a tenth of a second by 1, 2 and 4 of them; how long runs lie there after SIGTERM and after SIGKILL of " +
		"their agent, with leases of 5 s; statements a minute of idle agents; lateness of 200 short checks a slot of 5 s " +
		"beside 30 long runs, with a rolling restart of three agents and without",
	Run: func(ctx context.Context, b *rig.Bench, s *rig.Server) error {
		for round := 1; round <= b.Rounds; round++ {
			for _, part := range []func(ctx context.Context, b *rig.Bench, s *rig.Server, round int) error{share, handOver, idle, rolling} {
				if err := part(ctx, b, s, round); err != nil {
					return err
				}
			}
		}
		return nil
	},
}
