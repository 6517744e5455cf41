package orders_test

import (
	"context"
	"fmt"
	"log"

	"prescient/jobs/orders"
	"prescient/prescient"
	"prescient/prescient/client"
	"prescient/prescient/connect"
	"prescient/prescient/worker"
)

// The app: an order and its check are one transaction.
func Example_app() {
	ctx := context.Background()
	db, err := connect.Open("app:password@tcp(127.0.0.1:3306)/shop", 0)
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	client, err := client.New(ctx, db, client.Options{})
	if err != nil {
		log.Fatal(err)
	}
	if err := orders.CreateTables(ctx, db, ""); err != nil {
		log.Fatal(err)
	}
	app, err := orders.New(orders.Options{Client: client})
	if err != nil {
		log.Fatal(err)
	}

	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer tx.Rollback()
	placed, err := app.Place(ctx, tx, orders.NewOrder{})
	if err != nil {
		log.Fatal(err)
	}
	if err := tx.Commit(); err != nil {
		log.Fatal(err)
	}
	fmt.Println("order", placed.ID, "is checked on at", placed.Check.Slot)
}

// The worker: a process that runs the slots as they come.
func Example_worker() {
	ctx := context.Background()
	db, err := connect.Open("app:password@tcp(127.0.0.1:3306)/shop", 0)
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	app, err := orders.New(orders.Options{DB: db, OnAlert: func(_ context.Context, alert orders.Alert) {
		fmt.Println("order", alert.OrderID, "is not shipped:", alert.Level)
	}})
	if err != nil {
		log.Fatal(err)
	}
	registry := prescient.NewRegistry()
	if err := app.Register(registry, prescient.Guards{}); err != nil {
		log.Fatal(err)
	}
	worker, err := worker.New(ctx, db, worker.Options{Registry: registry})
	if err != nil {
		log.Fatal(err)
	}
	if err := worker.Work(ctx); err != nil {
		log.Fatal(err)
	}
}
