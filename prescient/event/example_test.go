package event_test

import (
	"context"
	"database/sql"
	"time"

	"prescient/prescient"
	"prescient/prescient/client"
	"prescient/prescient/event"
)

// An app publishes an event in the transaction of what happened.
func ExampleOutbox_Publish() {
	ship := func(ctx context.Context, db *sql.DB, checks *client.Client) error {
		outbox := event.New(checks)
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		defer tx.Rollback()
		if _, err := tx.ExecContext(ctx, "UPDATE orders SET shipped_at = UTC_TIMESTAMP(6) WHERE id = 42"); err != nil {
			return err
		}
		err = outbox.Publish(ctx, tx, event.Event{ID: "order-42-shipped", Topic: "orders.shipped", Key: "order/42", Payload: []byte(`{"order":42}`)})
		if err != nil {
			return err
		}
		return tx.Commit()
	}
	_ = ship
}

// A job_exec answers with an event: it commits with the end of its check.
func ExampleOutbox_Register() {
	register := func(outbox *event.Outbox, registry *prescient.Registry) error {
		return outbox.Register(registry, "order-unshipped", func(_ context.Context, job prescient.FutureJob) (*time.Time, []event.Event, error) {
			return nil, []event.Event{{Topic: "orders.late", Payload: []byte(`{"order":"` + job.EntityKey + `"}`)}}, nil
		}, prescient.Guards{})
	}
	_ = register
}

// A consumer works on each event once: what it does commits with the note that it did. It acknowledges the message where this returns
// nil.
func ExampleOutbox_Once() {
	consume := func(ctx context.Context, db *sql.DB, outbox *event.Outbox, id string, body []byte) error {
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		defer tx.Rollback()
		if first, err := outbox.Once(ctx, tx, "mailer", id); err != nil || !first {
			return err
		}
		if _, err := tx.ExecContext(ctx, "INSERT INTO mails (body) VALUES (?)", body); err != nil {
			return err
		}
		return tx.Commit()
	}
	_ = consume
}
