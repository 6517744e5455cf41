package worker_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os/signal"
	"syscall"
	"time"

	"prescient/prescient"
	"prescient/prescient/connect"
	"prescient/prescient/worker"
	"prescient/prescient/worker/books"
	"prescient/slots"
)

// For cron and systemd timers: runs the slot that is now, and returns.
func ExampleWorker_Run() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	db, err := connect.Open("app:secret@tcp(127.0.0.1:3306)/shop", prescient.DefaultLease)
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	w, err := worker.New(ctx, db, worker.Options{Registry: prescient.NewRegistry()})
	if err != nil {
		log.Fatal(err)
	}
	figures, err := w.Run(ctx)
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
	w, err := worker.New(ctx, db, worker.Options{
		Registry:   prescient.NewRegistry(),
		Assignment: assigned,
		Times:      worker.Times{StopGrace: 10 * time.Second},
	})
	if err != nil {
		log.Fatal(err)
	}
	if err := w.Work(ctx); err != nil {
		log.Fatal(err)
	}
}

// Figures for one's own metrics: what came of each row, once it is committed, and of each slot run.
func ExampleObserver() {
	late := make(map[string]time.Duration)
	observer := &worker.Observer{
		Answered: func(results []worker.Result) { // from several goroutines: a real one takes a lock
			for _, a := range results {
				late[a.Job.JobExec] = max(late[a.Job.JobExec], a.Lateness)
			}
		},
		SlotRun: func(figures books.Figures, err error) {
			log.Printf("slot %s: %d rows, %d ended, %v", figures.Slot, figures.Rows(), figures.Ended(), err)
		},
	}
	observer.Answered([]worker.Result{{Job: prescient.FutureJob{JobExec: "order-unshipped"}, Lateness: 800 * time.Millisecond}})
	fmt.Println(late) // worker.Options{Observer: observer} makes a worker tell it
	// Output: map[order-unshipped:800ms]
}
