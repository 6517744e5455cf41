package otel_test

import (
	"context"
	"database/sql"
	"log"
	"os"
	"time"

	"prescient/prescient"
	"prescient/prescient/client"
	"prescient/prescient/event"
	"prescient/prescient/otel"
	"prescient/prescient/service"
)

// A process that works has spans by one option. The provider is the one that the program has set for all of OpenTelemetry.
func Example() {
	ctx := context.Background()
	s, err := service.Open(ctx, os.Getenv("DSN"), service.Options{Tracing: otel.New(nil)})
	if err != nil {
		log.Fatal(err)
	}
	s.Registry.MustRegister("order-unshipped", func(context.Context, prescient.FutureJob) (*time.Time, error) { return nil, nil }, prescient.Guards{})
	if err := s.Run(ctx); err != nil {
		log.Fatal(err)
	}
}

// A program that only inserts checks and publishes events has spans of both by these two lines, and what is done with them later is linked to them.
func Example_inserting() {
	open := func(ctx context.Context, db *sql.DB) (*client.Client, *event.Outbox, error) {
		tracing := otel.New(nil)
		checks, err := client.New(ctx, db, client.Options{Trace: tracing.Insert})
		if err != nil {
			return nil, nil, err
		}
		outbox := event.New(checks)
		outbox.Traced(tracing.Publish)
		return checks, outbox, nil
	}
	_ = open
}
