package events

import (
	"context"

	"prescient/scripts/bench/internal/rig"
)

// Section measures events.
var Section = rig.Section{
	Name: "events",
	About: "events: beside an app's order in its transaction, at 1, 8 and 32 connections; 100 thousand of 10 thousand keys out of the outbox, to nobody, NATS and Kafka's protocol; " +
		"from commit to acknowledgement at 200 a second; checks that end, with and without an event each; 100 thousand occurrences of one slot, with and without a forwarder beside the slot run",
	Run: func(ctx context.Context, b *rig.Bench, s *rig.Server) error {
		st, err := makeStage(ctx, s)
		if err != nil {
			return err
		}
		if !b.Keep {
			defer st.Drop(ctx)
		}
		to, err := startBrokers(ctx)
		if err != nil {
			return err
		}
		defer to.stop()
		for round := 1; round <= b.Rounds; round++ {
			for _, part := range []func(ctx context.Context, b *rig.Bench, round int, to *brokers) error{st.into, st.out, st.delays, st.answers, st.slots} {
				if err := part(ctx, b, round, to); err != nil {
					return err
				}
			}
		}
		return nil
	},
}
