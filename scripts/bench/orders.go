package main

import (
	"context"
	"time"

	"github.com/jmoiron/sqlx"

	"prescient/jobs/orders"

	"prescient/scripts/bench/internal/page"
	"prescient/scripts/bench/internal/peers"
	"prescient/scripts/bench/internal/rig"
	"prescient/scripts/bench/internal/slotrun"
)

var ordersSection = rig.Section{
	Name: "orders",
	About: "the orders check, by primary key, where all are shipped: one query for each job against one IN for each batch; as jobs/orders " +
		"does it, which reads the order's alerts too, and as a bare query",
	Run: func(ctx context.Context, b *rig.Bench, s *rig.Server) error {
		return onOrders(ctx, b, s, "orders", b.Scaled(200_000), []rig.Contestant{
			slotrun.Of(page.OrdersEach, "orders-check"),
			slotrun.Of(page.OrdersBatch, "orders-checkbatch"),
			slotrun.Of(page.BareEach, "orders-one"),
			slotrun.Of(page.BareBatch, "orders-batch"),
			peers.Floors()[0], // all that is left if the query cost nothing
		})
	},
}

var txSection = rig.Section{
	Name:  "tx",
	About: "an effect in the same database that commits with the end of the row: one transaction for each job by hand, at 1 and 8 connections, against Tx handlers, row by row and for a batch",
	Run: func(ctx context.Context, b *rig.Bench, s *rig.Server) error {
		byHand := func(connections int) func(ctx context.Context, st *rig.Stage) error {
			return func(ctx context.Context, st *rig.Stage) error { return eachByHand(ctx, st, connections) }
		}
		return onOrders(ctx, b, s, "tx", b.Scaled(20_000), []rig.Contestant{
			{Name: page.ByHandName(1), Do: byHand(1), Ends: rig.All},
			{Name: page.ByHandName(8), Do: byHand(8), Ends: rig.All},
			slotrun.Of("prescient, Tx handler", "orders-tx"),
			slotrun.Of("prescient, Tx batch handler", "orders-txbatch"),
			slotrun.MostOf("prescient, Tx handler that fails for 1 row in 100", "orders-txfails", 100),
		})
	},
}

// onOrders is onStage with an order for each due row, and a table for alerts.
func onOrders(ctx context.Context, b *rig.Bench, s *rig.Server, name string, due int, list []rig.Contestant) error {
	st, err := b.MakeStage(ctx, s, name, due, b.Scaled(200_000))
	if err != nil {
		return err
	}
	if !b.Keep {
		defer st.Drop(ctx)
	}
	if err := orders.CreateTables(ctx, st.App, slotrun.OrdersPrefix); err != nil {
		return err
	}
	for _, query := range []string{
		"INSERT INTO " + slotrun.OrdersPrefix + "orders (id, placed_at, shipped_at) SELECT n, UTC_TIMESTAMP(), UTC_TIMESTAMP() FROM bench_n WHERE n > 0",
		"CREATE TABLE orders (id BIGINT NOT NULL PRIMARY KEY, placed_at DATETIME NOT NULL, shipped_at DATETIME NULL, customer VARCHAR(100) NOT NULL)",
		"INSERT INTO orders SELECT n, UTC_TIMESTAMP(), UTC_TIMESTAMP(), REPEAT('x', 60) FROM bench_n",
		"CREATE TABLE alerts (id BIGINT NOT NULL PRIMARY KEY, at DATETIME(6) NOT NULL)",
	} {
		if _, err := st.Exec(ctx, query); err != nil {
			return err
		}
	}
	st.Also = []string{"TRUNCATE TABLE alerts"}
	return b.Compete(ctx, st, list)
}

// eachByHand ends rows with an alert, a transaction each.
func eachByHand(ctx context.Context, st *rig.Stage, connections int) error {
	var keys [][]byte
	slot := st.Slot.Format(time.DateTime)
	if err := st.DB.SelectContext(ctx, &keys, "SELECT job_key FROM future_job WHERE next_check_at = ?", slot); err != nil {
		return err
	}
	return rig.InParallel(ctx, connections, len(keys), func(ctx context.Context, i int) error {
		return rig.ReadCommitted(ctx, st.DB, func(tx *sqlx.Tx) error {
			var id string
			if err := tx.QueryRowContext(ctx, "SELECT entity_key FROM future_job WHERE next_check_at = ? AND job_key = ? FOR UPDATE", slot, keys[i]).Scan(&id); err != nil {
				return err
			}
			if _, err := tx.ExecContext(ctx, "INSERT INTO alerts (id, at) VALUES (?, UTC_TIMESTAMP(6))", id); err != nil {
				return err
			}
			for _, query := range []string{peers.FloorInsert, peers.FloorDelete} {
				if _, err := tx.ExecContext(ctx, query, slot, keys[i], keys[i]); err != nil {
					return err
				}
			}
			return nil
		})
	})
}
