package prescient_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/jmoiron/sqlx"

	"prescient/prescient"
	"prescient/slots"
)

// The check itself: it looks whether the order has shipped, and if not, alerts and looks again later.
func ExampleRegistry_Register() {
	var app *sql.DB

	unshipped := func(ctx context.Context, job prescient.FutureJob) (*time.Time, error) {
		var shipped bool
		err := app.QueryRowContext(ctx, "SELECT shipped_at IS NOT NULL FROM orders WHERE id = ?", job.EntityKey).Scan(&shipped)
		switch {
		case errors.Is(err, sql.ErrNoRows):
			return nil, nil // there is no such order any more: the matter is settled
		case err != nil:
			return nil, err // tried again at a later slot
		case shipped:
			return nil, nil
		}
		// It may be called twice for the same check, so the alert is one row under a unique key.
		_, err = app.ExecContext(ctx, "INSERT IGNORE INTO alerts (order_id, number) VALUES (?, ?)", job.EntityKey, job.CheckCount)
		return prescient.At(job.DueAt.Add(3 * time.Hour)), err
	}

	registry := prescient.NewRegistry()
	err := registry.Register("order-unshipped", unshipped, prescient.Guards{Timeout: 5 * time.Second, MaxChecks: 3})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(registry.Names())
	// Output: [order-unshipped]
}

// All due checks of a batch in one call: one query finds what has shipped, and each row gets its answer.
func ExampleRegistry_RegisterBatch() {
	var app *sqlx.DB

	unshipped := func(ctx context.Context, batch *prescient.Batch) error {
		ids := make([]string, len(batch.Jobs()))
		for i, job := range batch.Jobs() {
			ids[i] = job.EntityKey
		}
		query, args, err := sqlx.In("SELECT id FROM orders WHERE shipped_at IS NULL AND id IN (?)", ids)
		if err != nil {
			return err
		}
		var open []string
		if err := app.SelectContext(ctx, &open, query, args...); err != nil {
			return err // every row of the batch is tried again at a later slot
		}
		waits := make(map[string]bool, len(open))
		for _, id := range open {
			waits[id] = true
		}
		for i, job := range batch.Jobs() {
			if waits[job.EntityKey] {
				batch.Next(i, job.DueAt.Add(time.Hour))
			} else {
				batch.Settle(i)
			}
		}
		return nil
	}

	registry := prescient.NewRegistry()
	if err := registry.RegisterBatch("order-unshipped", unshipped, prescient.Guards{Timeout: time.Minute}); err != nil {
		log.Fatal(err)
	}
	fmt.Println(registry.Names())
	// Output: [order-unshipped]
}

// Effects in this database that happen exactly once: they commit with the end of the check.
func ExampleRegistry_RegisterTx() {
	registry := prescient.NewRegistry()
	err := registry.RegisterTx("reservation-expired", func(ctx context.Context, tx *sqlx.Tx, job prescient.FutureJob) (*time.Time, error) {
		_, err := tx.ExecContext(ctx, "UPDATE stock SET free = free + 1 WHERE id = ?", job.EntityKey)
		return nil, err
	}, prescient.Guards{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(registry.Names())
	// Output: [reservation-expired]
}

// reminder is the payload of a check.
type reminder struct {
	Level int    `json:"level"`
	To    string `json:"to"`
}

// The payload, decoded. One that does not fit is an error of the row, which says why.
func ExampleTyped() {
	remind := prescient.Typed(func(_ context.Context, job prescient.FutureJob, r reminder) (*time.Time, error) {
		fmt.Println(job.Entity(), "level", r.Level, "to", r.To)
		return nil, nil
	})
	registry := prescient.NewRegistry()
	registry.MustRegister("invoice-unpaid", remind, prescient.Guards{})

	job := prescient.FutureJob{EntityName: "invoice", EntityKey: "7", JobExec: "invoice-unpaid", Payload: []byte(`{"level": 2, "to": "sales"}`)}
	_, err := remind(context.Background(), job)
	fmt.Println(err)
	job.Payload = []byte(`{"level": "two"}`)
	_, err = remind(context.Background(), job)
	fmt.Println(err)
	// Output:
	// invoice/7 level 2 to sales
	// <nil>
	// the payload of invoice/7 does not fit a prescient_test.reminder: json: cannot unmarshal string into Go struct field reminder.level of type int
}

// The same for a function that works in the transaction of the row's end.
func ExampleTypedTx() {
	registry := prescient.NewRegistry()
	err := registry.RegisterTx("invoice-unpaid", prescient.TypedTx(func(ctx context.Context, tx *sqlx.Tx, job prescient.FutureJob, r reminder) (*time.Time, error) {
		_, err := tx.ExecContext(ctx, "INSERT INTO reminders (invoice, level, sent_to) VALUES (?, ?, ?)", job.EntityKey, r.Level, r.To)
		return nil, err
	}), prescient.Guards{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(registry.Names())
	// Output: [invoice-unpaid]
}

// What keeps a check from living for ever: here two returned times are accepted, and the third ends it.
func ExampleGuards() {
	grid, err := slots.NewGrid(15 * time.Minute)
	if err != nil {
		log.Fatal(err)
	}
	guards := prescient.Guards{MaxChecks: 2, MaxErrors: prescient.None, Horizon: 7 * 24 * time.Hour}
	now := time.Date(2026, 3, 1, 10, 5, 0, 0, time.UTC)
	job, err := prescient.NewPending(grid, guards, prescient.NewJob{Entity: prescient.Entity{Name: "order", Key: "42"},
		JobExec: "order-unshipped", DueAt: now.Add(3 * time.Hour)}, now)
	if err != nil {
		log.Fatal(err)
	}
	for {
		at := job.NextCheckAt
		v := prescient.Decide(grid, guards, job, prescient.Answer{Next: prescient.At(at.Add(3 * time.Hour))}, at)
		if job = v.Apply(job); v.Outcome != "" {
			fmt.Println(at.Format("15:04"), v.Outcome, "-", v.Reason)
			break
		}
		fmt.Println(at.Format("15:04"), "looks again at", job.NextCheckAt.Format("15:04"))
	}
	_, err = prescient.NewPending(grid, guards, prescient.NewJob{Entity: prescient.Entity{Name: "order", Key: "42"},
		JobExec: "order-unshipped", DueAt: now.AddDate(0, 1, 0)}, now)
	fmt.Println(errors.Is(err, prescient.ErrBeyondHorizon))
	v := prescient.Decide(grid, guards, job, prescient.Answer{Err: errors.New("no answer")}, now.Add(time.Minute))
	fmt.Println(v.Outcome, "-", v.Reason)
	// Output:
	// 13:15 looks again at 16:15
	// 16:15 looks again at 19:15
	// 19:15 max_checks - returned 2026-03-01T22:15:00Z after 2 checks; 2 are allowed
	// true
	// failed - no answer
}

// A check with a Spread has its fixed place in the window after its time.
func ExampleNewJob_spread() {
	grid, err := slots.NewGrid(15 * time.Minute)
	if err != nil {
		log.Fatal(err)
	}
	midnight := time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)
	for _, account := range []string{"a", "b", "c", "a"} {
		job, err := prescient.NewPending(grid, prescient.Guards{}, prescient.NewJob{Entity: prescient.Entity{Name: "account", Key: account},
			JobExec: "statement-missing", DueAt: midnight, Spread: 6 * time.Hour}, midnight.Add(-time.Hour))
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(account, job.NextCheckAt.Format("15:04"))
	}
	// Output:
	// a 04:00
	// b 01:30
	// c 06:00
	// a 04:00
}
