package prescient_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log"
	"os/signal"
	"syscall"
	"time"

	"prescient/prescient"
	"prescient/slots"

	"prescient/prescient/client"
	"prescient/prescient/connect"
	"prescient/prescient/worker"
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

// The check commits with the order, or not at all.
func ExampleClient_Insert() {
	ctx := context.Background()
	var app *sql.DB // any connection of the app's

	client, err := client.New(ctx, app, client.Options{})
	if err != nil {
		log.Fatal(err)
	}
	placeOrder := func(id string, placed time.Time) error {
		tx, err := app.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		defer tx.Rollback()
		if _, err := tx.ExecContext(ctx, "INSERT INTO orders (id, placed_at) VALUES (?, ?)", id, placed.UTC()); err != nil {
			return err
		}
		_, err = client.Insert(ctx, tx, prescient.NewJob{
			Entity:  prescient.Entity{Name: "order", Key: id},
			JobExec: "order-unshipped",
			DueAt:   placed.Add(3 * time.Hour),
		})
		if err != nil {
			return err
		}
		return tx.Commit()
	}
	if err := placeOrder("42", time.Now()); err != nil {
		log.Print(err)
	}
}

// A cancel commits with what made the check needless. To cancel what is not pending is no error.
func ExampleClient_Cancel() {
	ctx := context.Background()
	var app *sql.DB
	var client *client.Client

	shipOrder := func(id string) error {
		tx, err := app.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelReadCommitted})
		if err != nil {
			return err
		}
		defer tx.Rollback()
		if _, err := tx.ExecContext(ctx, "UPDATE orders SET shipped_at = UTC_TIMESTAMP(6) WHERE id = ?", id); err != nil {
			return err
		}
		order := prescient.Entity{Name: "order", Key: id}
		cancelled, err := client.Cancel(ctx, tx, order, "order-unshipped")
		if err != nil {
			return err
		}
		log.Printf("order %s: %d checks cancelled", id, cancelled)
		return tx.Commit()
	}
	if err := shipOrder("42"); err != nil {
		log.Print(err)
	}
}

// For cron and systemd timers: runs the slot that is now, and returns.
func ExampleWorker_Run() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	db, err := connect.Open("app:secret@tcp(127.0.0.1:3306)/shop", prescient.DefaultLease)
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	worker, err := worker.New(ctx, db, worker.Options{Registry: prescient.NewRegistry()})
	if err != nil {
		log.Fatal(err)
	}
	figures, err := worker.Run(ctx)
	switch {
	case errors.Is(err, prescient.ErrNotAssigned):
		return // another worker's slot
	case err != nil:
		log.Fatal(err)
	}
	log.Printf("slot %s: %d rows, %d of them ended", figures.Slot, figures.Rows(), figures.Ended())
}

// Stays up: runs the slots of the hour and the half hour when they come, sweeps in between, and stops gracefully.
func ExampleWorker_Work() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	db, err := connect.Open("app:secret@tcp(127.0.0.1:3306)/shop", prescient.DefaultLease)
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	grid, err := slots.NewGrid(15 * time.Minute)
	if err != nil {
		log.Fatal(err)
	}
	assigned, err := slots.ParseMinutes(grid, "0,30")
	if err != nil {
		log.Fatal(err)
	}
	worker, err := worker.New(ctx, db, worker.Options{
		Registry:   prescient.NewRegistry(),
		Assignment: assigned,
		StopGrace:  10 * time.Second,
	})
	if err != nil {
		log.Fatal(err)
	}
	if err := worker.Work(ctx); err != nil {
		log.Fatal(err)
	}
}
