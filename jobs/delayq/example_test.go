package delayq_test

import (
	"context"
	"database/sql"
	"fmt"
	"log"
	"os/signal"
	"syscall"
	"time"

	"prescient/jobs/delayq"
	"prescient/prescient"
	"prescient/prescient/client"
	"prescient/prescient/connect"
	"prescient/prescient/worker"
)

// Code that knows Delay and Run, and nothing else.
func Example() {
	db, err := connect.Open("app:secret@tcp(127.0.0.1:3306)/shop", 0)
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	q, err := delayq.New(context.Background(), db, delayq.Options{Client: client.Options{Prefix: "reminders_"}})
	if err != nil {
		log.Fatal(err)
	}
	if err := q.Delay(time.Now().Add(time.Hour), []byte("remind Ada")); err != nil {
		log.Fatal(err)
	}
	err = q.Run(func(data []byte) error {
		fmt.Println(string(data))
		return nil // an error has it called again
	})
	if err != nil {
		log.Fatal(err)
	}
}

// The data is delayed if the transaction commits, and can be taken back by its id.
func ExampleDelayQueue_DelayTx() {
	var q *delayq.DelayQueue // of New
	_ = func(ctx context.Context, tx *sql.Tx, order int64) error {
		// … INSERT INTO orders …
		id, err := q.DelayTx(ctx, tx, time.Now().Add(3*time.Hour), fmt.Appendf(nil, "%d", order))
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, "UPDATE orders SET reminder = ? WHERE id = ?", id, order) // for q.Cancel(ctx, id)
		return err
	}
}

// Two queues, and whatever other job_execs there are, in one worker. Handles that take a context end with it, and know the id.
func ExampleDelayQueue_RegisterContext() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	db, err := connect.Open("app:secret@tcp(127.0.0.1:3306)/shop", 0)
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	registry := prescient.NewRegistry()
	for _, name := range []string{"mails", "news"} {
		q, err := delayq.New(ctx, db, delayq.Options{Name: name, Timeout: time.Minute})
		if err != nil {
			log.Fatal(err)
		}
		err = q.RegisterContext(registry, func(ctx context.Context, item delayq.Item) error {
			fmt.Printf("%s: %s, ready at %s, %d errors so far\n", name, item.ID, item.ReadyTime, item.Errors)
			return ctx.Err()
		})
		if err != nil {
			log.Fatal(err)
		}
	}
	w, err := worker.New(ctx, db, worker.Options{Registry: registry})
	if err != nil {
		log.Fatal(err)
	}
	if err := w.Work(ctx); err != nil {
		log.Fatal(err)
	}
}
