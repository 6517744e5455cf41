package slotrun

import (
	"context"
	"database/sql"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"

	"prescient/jobs/orders"
	"prescient/prescient"

	"prescient/scripts/bench/internal/rig"
)

// OrdersPrefix is that of the tables of jobs/orders.
const OrdersPrefix = "shop_"

// checkOf is the check of jobs/orders.
func checkOf(db *sqlx.DB) *orders.Orders {
	o, err := orders.New(orders.Options{DB: db, Prefix: OrdersPrefix, JobExec: rig.DueExec})
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

// alertMostOrders is alertOrder, which fails for one order in a hundred: that is put off.
func alertMostOrders(ctx context.Context, tx *sqlx.Tx, job prescient.FutureJob) (*time.Time, error) {
	next, err := alertOrder(ctx, tx, job)
	if strings.HasSuffix(job.EntityKey, "50") {
		return nil, errors.New("this order cannot be alerted")
	}
	return next, err
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
