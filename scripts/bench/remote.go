package main

import (
	"context"
	"errors"
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
				list = append(list, runAway(fmt.Sprintf("prescient, ends, %s handler, %v away", form, trip), trip, slotrun.Workload{Form: form}))
			}
			if trip > 0 {
				list = append(list, runAway(fmt.Sprintf("prescient, ends, one handler, %v away, %d buckets at a time", trip, worker.DefaultBuckets),
					trip, slotrun.Workload{Form: "one", Buckets: worker.DefaultBuckets}))
			}
		}
		return b.OnStage(ctx, s, "remote", list)
	},
}

// runAway is a slot run with a round trip to the server.
func runAway(name string, trip time.Duration, l slotrun.Workload) rig.Contestant {
	return rig.Contestant{Name: name, Ends: rig.All, Do: func(ctx context.Context, st *rig.Stage) error {
		proxy, err := rig.StartProxy(st.Config.Addr, trip/2)
		if err != nil {
			return err
		}
		away := *st
		server := *st.Server
		server.Config = st.Config.Clone()
		server.Config.Net, server.Config.Addr = "tcp", proxy.Address()
		away.Place = &rig.Place{Server: &server, Name: st.Name, App: st.App, DB: st.DB, Client: st.Client}
		return errors.Join(slotrun.Run(ctx, &away, l, 1), proxy.Close())
	}}
}
