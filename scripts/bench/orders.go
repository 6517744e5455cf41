package main

import (
	"context"
	"database/sql"
	"strconv"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"

	"prescient/jobs/orders"
	"prescient/prescient"
)

var ordersSection = section{
	name: "orders",
	about: "the orders check, by primary key, where all are shipped: one query for each job against one IN for each batch; as jobs/orders " +
		"does it, which reads the order's alerts too, and as a bare query",
	run: func(ctx context.Context, b *bench, s *server) error {
		return b.onOrders(ctx, s, "orders", b.scaled(200_000), []contestant{
			slotRunOf(ordersEach, "orders-check"),
			slotRunOf(ordersBatch, "orders-checkbatch"),
			slotRunOf(bareEach, "orders-one"),
			slotRunOf(bareBatch, "orders-batch"),
			floors()[0], // all that is left if the query cost nothing
		})
	},
}

const (
	ordersEach  = "prescient, jobs/orders, one query a job"
	ordersBatch = "prescient, jobs/orders, one IN a batch"
	bareEach    = "prescient, one bare query a job"
	bareBatch   = "prescient, one bare IN a batch"
)

var txSection = section{
	name:  "tx",
	about: "an effect in the same database that commits with the end of the row: one transaction for each job by hand, at 1 and 8 connections, against Tx handlers, row by row and for a batch",
	run: func(ctx context.Context, b *bench, s *server) error {
		byHand := func(connections int) func(ctx context.Context, st *stage) error {
			return func(ctx context.Context, st *stage) error { return st.eachByHand(ctx, connections) }
		}
		return b.onOrders(ctx, s, "tx", b.scaled(20_000), []contestant{
			{byHandName(1), byHand(1), all},
			{byHandName(8), byHand(8), all},
			slotRunOf("prescient, Tx handler", "orders-tx"),
			slotRunOf("prescient, Tx batch handler", "orders-txbatch"),
		})
	},
}

func byHandName(connections int) string {
	return "one transaction a job by hand, " + strings.TrimPrefix(floorName(connections), "SQL only, ")
}

// slotRunOf is a slot run in this process.
func slotRunOf(name, form string) contestant {
	return contestant{name: name, ends: all, do: func(ctx context.Context, st *stage) error { return st.runSlot(ctx, workload{Form: form}, 1) }}
}

// onOrders is onStage with an order for each due row, and a table for alerts.
func (b *bench) onOrders(ctx context.Context, s *server, name string, due int, list []contestant) error {
	st, err := b.makeStage(ctx, s, name, due, b.scaled(200_000))
	if err != nil {
		return err
	}
	if !b.keep {
		defer st.drop(ctx)
	}
	if err := orders.CreateTables(ctx, st.app, ordersPrefix); err != nil {
		return err
	}
	for _, query := range []string{
		"INSERT INTO " + ordersPrefix + "orders (id, placed_at, shipped_at) SELECT n, UTC_TIMESTAMP(), UTC_TIMESTAMP() FROM bench_n WHERE n > 0",
		"CREATE TABLE orders (id BIGINT NOT NULL PRIMARY KEY, placed_at DATETIME NOT NULL, shipped_at DATETIME NULL, customer VARCHAR(100) NOT NULL)",
		"INSERT INTO orders SELECT n, UTC_TIMESTAMP(), UTC_TIMESTAMP(), REPEAT('x', 60) FROM bench_n",
		"CREATE TABLE alerts (id BIGINT NOT NULL PRIMARY KEY, at DATETIME(6) NOT NULL)",
	} {
		if _, err := st.exec(ctx, query); err != nil {
			return err
		}
	}
	st.also = []string{"TRUNCATE TABLE alerts"}
	return b.compete(ctx, st, list)
}

// ordersPrefix is that of the tables of jobs/orders.
const ordersPrefix = "shop_"

// checkOf is the check of jobs/orders.
func checkOf(db *sqlx.DB) *orders.Orders {
	o, err := orders.New(orders.Options{DB: db, Prefix: ordersPrefix, JobExec: dueExec})
	if err != nil {
		panic(err)
	}
	return o
}

func oneOrder(db *sqlx.DB) prescient.Func {
	return func(ctx context.Context, job prescient.FutureJob) (*time.Time, error) {
		var shipped sql.NullTime
		if err := db.QueryRowContext(ctx, "SELECT shipped_at FROM orders WHERE id = ?", job.EntityKey).Scan(&shipped); err != nil {
			return nil, err
		}
		return nil, nil
	}
}

func manyOrders(db *sqlx.DB) prescient.BatchFunc {
	return func(ctx context.Context, batch *prescient.Batch) error {
		keys := make([]string, len(batch.Jobs()))
		for i, job := range batch.Jobs() {
			keys[i] = job.EntityKey
		}
		query, args, err := sqlx.In("SELECT id, shipped_at FROM orders WHERE id IN (?)", keys)
		if err != nil {
			return err
		}
		var found []struct {
			ID      int64        `db:"id"`
			Shipped sql.NullTime `db:"shipped_at"`
		}
		if err := db.SelectContext(ctx, &found, query, args...); err != nil {
			return err
		}
		shipped := make(map[string]bool, len(found))
		for _, order := range found {
			shipped[strconv.FormatInt(order.ID, 10)] = order.Shipped.Valid
		}
		for i, key := range keys {
			if shipped[key] {
				batch.Settle(i)
			}
		}
		return nil
	}
}

func alertOrder(ctx context.Context, tx *sqlx.Tx, job prescient.FutureJob) (*time.Time, error) {
	_, err := tx.ExecContext(ctx, "INSERT INTO alerts (id, at) VALUES (?, UTC_TIMESTAMP(6))", job.EntityKey)
	return nil, err
}

// alertOrders is alertOrder for many: one statement.
func alertOrders(ctx context.Context, tx *sqlx.Tx, batch *prescient.Batch) error {
	args := make([]any, len(batch.Jobs()))
	for i, job := range batch.Jobs() {
		args[i] = job.EntityKey
		batch.Settle(i)
	}
	_, err := tx.ExecContext(ctx, "INSERT INTO alerts (id, at) VALUES (?, UTC_TIMESTAMP(6))"+strings.Repeat(", (?, UTC_TIMESTAMP(6))", len(args)-1), args...)
	return err
}

// eachByHand ends rows with an alert, a transaction each.
func (st *stage) eachByHand(ctx context.Context, connections int) error {
	var keys [][]byte
	slot := st.slot.Format(time.DateTime)
	if err := st.db.SelectContext(ctx, &keys, "SELECT job_key FROM future_job WHERE next_check_at = ?", slot); err != nil {
		return err
	}
	return inParallel(ctx, connections, len(keys), func(ctx context.Context, i int) error {
		return readCommitted(ctx, st.db, func(tx *sqlx.Tx) error {
			var id string
			if err := tx.QueryRowContext(ctx, "SELECT entity_key FROM future_job WHERE next_check_at = ? AND job_key = ? FOR UPDATE", slot, keys[i]).Scan(&id); err != nil {
				return err
			}
			if _, err := tx.ExecContext(ctx, "INSERT INTO alerts (id, at) VALUES (?, UTC_TIMESTAMP(6))", id); err != nil {
				return err
			}
			for _, query := range []string{floorInsert, floorDelete} {
				if _, err := tx.ExecContext(ctx, query, slot, keys[i], keys[i]); err != nil {
					return err
				}
			}
			return nil
		})
	})
}
