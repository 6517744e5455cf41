package events

import (
	"context"
	"fmt"

	"github.com/jmoiron/sqlx"

	"prescient/prescient/event"

	"prescient/scripts/bench/internal/page"
	"prescient/scripts/bench/internal/rig"
)

// into measures an app's transaction, alone, beside the same row by plain SQL, and beside an event.
func (st *stage) into(ctx context.Context, b *rig.Bench, round int, _ *brokers) error {
	n := b.Scaled(4_000)
	for _, connections := range []int{1, 8, 32} {
		alone := 0.0
		some := st.next(2 * n)
		for i, c := range []struct {
			name string
			with func(ctx context.Context, tx *sqlx.Tx, i int) error
		}{
			{"the order alone", func(context.Context, *sqlx.Tx, int) error { return nil }},
			{"the order and a plain SQL insert of the event", func(ctx context.Context, tx *sqlx.Tx, i int) error {
				e := some[i]
				_, err := tx.ExecContext(ctx, "INSERT INTO event_outbox (shard, id, topic, event_key, generated_at, payload, inserted_at) VALUES (?, ?, ?, ?, UTC_TIMESTAMP(6), ?, UTC_TIMESTAMP(6))",
					event.ShardOf(e.Key), e.ID, e.Topic, e.Key, e.Payload)
				return err
			}},
			{"prescient, the order and Publish", func(ctx context.Context, tx *sqlx.Tx, i int) error { return st.outbox.Publish(ctx, tx, some[n+i]) }},
		} {
			if !b.Wants("into") {
				continue
			}
			_, err := b.TookWith(fmt.Sprintf("into: %s, %d connections", c.name, connections), round, []int{st.Pid}, func() (int, error) {
				return n, rig.InParallel(ctx, connections, n, func(ctx context.Context, i int) error {
					return rig.ReadCommitted(ctx, sqlx.NewDb(st.App, "mysql"), func(tx *sqlx.Tx) error {
						if _, err := tx.ExecContext(ctx, "INSERT INTO orders (placed_at, customer) VALUES (UTC_TIMESTAMP(), 'somebody')"); err != nil {
							return err
						}
						return c.with(ctx, tx, i)
					})
				})
			}, func(r *page.Record) {
				each := r.Seconds * 1e6 * float64(connections) / float64(n)
				r.Figures = map[string]float64{"µs a transaction": each}
				if i == 0 {
					alone = each
				} else {
					r.Figures["µs added"] = each - alone
				}
			})
			if err != nil {
				return err
			}
		}
		if err := st.empty(ctx); err != nil {
			return err
		}
	}
	return nil
}
