package changequeue_test

import (
	"context"
	"log"
	"os/signal"
	"syscall"
	"time"

	"github.com/jmoiron/sqlx"

	"prescient/cmd"
	"prescient/jobs/changequeue"
	"prescient/prescient"
	"prescient/prescient/client"
	"prescient/prescient/connect"
	"prescient/prescient/longrun"
	"prescient/prescient/worker"
)

// count is what a read model of one's own does with changes: one statement for all of them, in the transaction of the queue.
func count(ctx context.Context, tx *sqlx.Tx, changes []changequeue.Change) error {
	_, err := tx.ExecContext(ctx, "UPDATE totals SET changes = changes + ?", len(changes))
	return err
}

// A program with every command of prescient. Its command work consumes the table; the check is inserted once:
//
//	prescient insert --entity changequeue/totals --exec totals --in 1s
func Example() {
	cmd.Main(cmd.Options{Register: func(_ context.Context, r *prescient.Registry, deps cmd.Deps) error {
		totals, err := changequeue.New(changequeue.Options{DB: deps.DB, Name: "totals", Table: "shop.change_log", Watch: time.Second, Log: deps.Log})
		if err != nil {
			return err
		}
		return totals.RegisterTx(deps.Long, r, count)
	}})
}

// The same in a program without commands.
func ExampleQueue_Start() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	db, err := connect.Open("app:secret@tcp(127.0.0.1:3306)/shop", 0)
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	checks, err := client.New(ctx, db, client.Options{})
	if err != nil {
		log.Fatal(err)
	}
	runner, err := longrun.New(ctx, db, longrun.Options{Name: "host-7"})
	if err != nil {
		log.Fatal(err)
	}
	totals, err := changequeue.New(changequeue.Options{DB: db, Name: "totals", Table: "change_log"})
	if err != nil {
		log.Fatal(err)
	}
	registry := prescient.NewRegistry()
	if err := totals.RegisterTx(runner, registry, count); err != nil {
		log.Fatal(err)
	}
	if err := totals.Start(ctx, checks, db); err != nil {
		log.Fatal(err)
	}
	w, err := worker.New(ctx, db, worker.Options{Registry: registry, Name: "host-7"})
	if err != nil {
		log.Fatal(err)
	}
	if err := w.Work(ctx); err != nil {
		log.Fatal(err)
	}
	_ = runner.Drain(context.Background()) // hands the queue on
}
