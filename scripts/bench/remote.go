package main

import (
	"context"
	"fmt"
	"time"

	"prescient/prescient/worker"

	"prescient/scripts/bench/internal/rig"
	"prescient/scripts/bench/internal/slotrun"
)

var remoteSection = rig.Section{
	Name: "remote",
	About: "slot runs with 1 ms and 5 ms of round trip between worker and server, by a proxy, beside the same proxy without and no proxy; and " +
		"with as many buckets at a time as where the server is near",
	Run: func(ctx context.Context, b *rig.Bench, s *rig.Server) error {
		list := []rig.Contestant{slotrun.Of("prescient, ends, no proxy", "one")}
		for _, trip := range []time.Duration{0, time.Millisecond, 5 * time.Millisecond} {
			for _, form := range []string{"one", "batch", "tx"} {
				list = append(list, rig.Away(slotrun.Of(fmt.Sprintf("prescient, ends, %s handler", form), form), trip))
			}
			if trip > 0 {
				few := rig.Away(rig.Contestant{Name: "prescient, ends, one handler", Ends: rig.All, Do: func(ctx context.Context, st *rig.Stage) error {
					return slotrun.Run(ctx, st, slotrun.Workload{Form: "one", Buckets: worker.DefaultBuckets}, 1)
				}}, trip)
				few.Name = fmt.Sprintf("%s, %d buckets at a time", few.Name, worker.DefaultBuckets)
				list = append(list, few)
			}
		}
		return b.OnStage(ctx, s, "remote", list)
	},
}
