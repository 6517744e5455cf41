package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"prescient/scripts/bench/internal/peers"
	"prescient/scripts/bench/internal/rig"
	"prescient/scripts/bench/internal/slotrun"
)

var endsSection = rig.Section{
	Name:     "ends",
	NoBinlog: true,
	About:    "slot runs through the public API with job_execs that do nothing, beside the floor, and beside reading each row: ends, moves, mixes; one-job, batch and Tx handlers; 1, 2 and 4 processes",
	Run: func(ctx context.Context, b *rig.Bench, s *rig.Server) error {
		list := slices.Concat(peers.Floors(), peers.Readers())
		for _, c := range append(peers.Readers(), slotrun.Of("prescient, ends", "one")) {
			list = append(list, rig.Away(c, near))
		}
		for _, c := range []struct {
			name string
			job  slotrun.Workload
			of   int // processes
		}{
			{"prescient, ends", slotrun.Workload{Form: "one"}, 1},
			{"prescient, ends, batch handler", slotrun.Workload{Form: "batch"}, 1},
			{"prescient, ends, alone on its server", slotrun.Workload{Form: "one", Alone: true}, 1},
			{"prescient, ends, batch handler, alone on its server", slotrun.Workload{Form: "batch", Alone: true}, 1},
			{"prescient, ends, alone on its server, which purges meanwhile", slotrun.Workload{Form: "one", Alone: true, Purged: true}, 1},
			{"prescient, ends, of 4 job_execs", slotrun.Workload{Form: "one", Execs: 4}, 1},
			{"prescient, ends, Tx handler", slotrun.Workload{Form: "tx"}, 1},
			{"prescient, ends, Tx batch handler", slotrun.Workload{Form: "txbatch"}, 1},
			{"prescient, ends, 2 processes", slotrun.Workload{Form: "one"}, 2},
			{"prescient, ends, 4 processes", slotrun.Workload{Form: "one"}, 4},
			{"prescient, ends, batch handler, 2 processes", slotrun.Workload{Form: "batch"}, 2},
			{"prescient, ends, batch handler, 4 processes", slotrun.Workload{Form: "batch"}, 4},
			{"prescient, 90/10 ends and moves", slotrun.Workload{Form: "one", Moves: 1}, 1},
			{"prescient, 50/50 ends and moves", slotrun.Workload{Form: "one", Moves: 5}, 1},
			{"prescient, moves", slotrun.Workload{Form: "one", Moves: 10}, 1},
			{"prescient, moves, batch handler", slotrun.Workload{Form: "batch", Moves: 10}, 1},
		} {
			list = append(list, rig.Contestant{Name: c.name, Also: c.job.Also(), Ends: func(due int) int { return due - due*c.job.Moves/10 },
				Do: func(ctx context.Context, st *rig.Stage) error { return slotrun.Run(ctx, st, c.job, c.of) }})
		}
		return b.OnStage(ctx, s, "ends", append(list, rig.Contestant{Name: fmt.Sprintf("prescient, ends, swept from %d slots", sweptSlots),
			Also: []string{fmt.Sprintf(`UPDATE future_job SET due_at = UTC_DATE() - INTERVAL 2 + entity_key %% %d DAY, first_check_at = due_at,
				next_check_at = due_at WHERE next_check_at < UTC_DATE() + INTERVAL 2 DAY`, sweptSlots)},
			Ends: rig.All, Do: sweep}))
	},
}

// near is the round trip to a server in the same building.
const near = time.Millisecond

// sweptSlots is how many slots an outage has left behind.
const sweptSlots = 500
