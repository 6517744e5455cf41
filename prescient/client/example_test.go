package client_test

import (
	"context"
	"database/sql"
	"errors"
	"log"
	"time"

	"prescient/prescient"
	"prescient/prescient/client"
)

// The check commits with the order, or not at all.
func ExampleClient_Insert() {
	ctx := context.Background()
	var app *sql.DB // any connection of the app's

	checks, err := client.New(ctx, app, client.Options{})
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
		_, err = checks.Insert(ctx, tx, prescient.NewJob{
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

// The app reports what happened, in its transaction. Rules say which checks come of that, and which it ends:
//
//	prescient rule set remind --occasion order.placed --exec send-reminder --delay 2d --ends order.shipped
func ExampleClient_Happened() {
	ctx := context.Background()
	var app *sql.DB
	checks, err := client.New(ctx, app, client.Options{})
	if err != nil {
		log.Fatal(err)
	}
	ship := func(id string, shipped time.Time) error {
		tx, err := app.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		defer tx.Rollback()
		if _, err := tx.ExecContext(ctx, "UPDATE orders SET shipped_at = ? WHERE id = ?", shipped.UTC(), id); err != nil {
			return err
		}
		did, err := checks.Happened(ctx, tx, "order.shipped", prescient.Entity{Name: "order", Key: id}, shipped, []byte(`{"carrier": "dhl"}`))
		if err != nil {
			return err
		}
		log.Printf("order %s: %d checks ended, %d made", id, did.Ended, len(did.Checks))
		return tx.Commit()
	}
	if err := ship("42", time.Now()); err != nil {
		log.Print(err)
	}
}

// What an insert does where the same check is pending already.
func ExampleClient_Insert_onPending() {
	ctx := context.Background()
	var app *sql.DB
	checks, err := client.New(ctx, app, client.Options{})
	if err != nil {
		log.Fatal(err)
	}
	job := prescient.NewJob{Entity: prescient.Entity{Name: "invoice", Key: "7"}, JobExec: "invoice-unpaid", DueAt: time.Now().Add(24 * time.Hour)}
	for _, policy := range []prescient.OnPending{
		prescient.Keep,    // the pending one stays; the default
		prescient.Replace, // this time and payload
		prescient.Earlier, // this one if it is due before the other
		prescient.Later,   // this one if it is due after the other
	} {
		job.OnPending = policy
		did, err := checks.Insert(ctx, app, job)
		if err != nil {
			log.Fatal(err)
		}
		log.Printf("%s: %s, it waits for the slot %s", policy, did.Did, did.Slot)
	}
	job.OnPending = prescient.OnPendingError
	if _, err := checks.Insert(ctx, app, job); errors.Is(err, prescient.ErrPending) {
		log.Print("there was one already")
	}
}

// Many at once: all of them, or none. The midnight herd is spread over the night, each check always at the same place.
func ExampleClient_InsertMany() {
	ctx := context.Background()
	var app *sql.DB
	checks, err := client.New(ctx, app, client.Options{})
	if err != nil {
		log.Fatal(err)
	}
	midnight := time.Now().UTC().Truncate(24 * time.Hour).Add(24 * time.Hour)
	var jobs []prescient.NewJob
	for _, account := range []string{"a", "b", "c"} {
		jobs = append(jobs, prescient.NewJob{Entity: prescient.Entity{Name: "account", Key: account}, JobExec: "statement-missing",
			DueAt: midnight, Spread: 6 * time.Hour})
	}
	did, err := checks.InsertMany(ctx, app, jobs)
	if err != nil {
		log.Fatal(err)
	}
	for i, d := range did {
		log.Printf("%s: %s, due at %s", jobs[i].Entity, d.Did, d.DueAt)
	}
}

// The time of a pending check, changed by the app. A check that is not pending is no reason to fail here.
func ExampleClient_Reschedule() {
	ctx := context.Background()
	var app *sql.DB
	checks, err := client.New(ctx, app, client.Options{})
	if err != nil {
		log.Fatal(err)
	}
	order := prescient.Entity{Name: "order", Key: "42"}
	did, err := checks.Reschedule(ctx, app, order, "order-unshipped", "", time.Now().Add(48*time.Hour))
	switch {
	case errors.Is(err, prescient.ErrNotFound):
		return
	case err != nil:
		log.Fatal(err)
	}
	log.Printf("it is looked at in the slot %s", did.Slot)
}

// A cancel commits with what made the check needless. To cancel what is not pending is no error.
func ExampleClient_Cancel() {
	ctx := context.Background()
	var app *sql.DB
	var checks *client.Client

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
		cancelled, err := checks.Cancel(ctx, tx, order, "order-unshipped")
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
