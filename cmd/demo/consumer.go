package demo

import (
	"context"
	"fmt"
	"time"

	"github.com/jmoiron/sqlx"

	"prescient/prescient/event"
	"prescient/prescient/event/broker"
	"prescient/prescient/event/forward"
)

// shippedTopic is where the app publishes that an order was shipped.
const shippedTopic = "orders.shipped"

// shippedEvent says that an order was shipped.
func shippedEvent(order int64) event.Event {
	return event.Event{ID: fmt.Sprintf("order-%d-shipped", order), Topic: shippedTopic, Key: fmt.Sprintf("order/%d", order),
		Payload: fmt.Appendf(nil, `{"order":%d,"what":"shipped"}`, order)}
}

// consumer is a broker and its only consumer in one: it is told of the events that there are.
type consumer func(m broker.Message)

// Publish implements broker.Broker.
func (c consumer) Publish(_ context.Context, m broker.Message) error {
	c(m)
	return nil
}

// Close implements broker.Broker.
func (c consumer) Close() error { return nil }

// forwarders publish the outbox to the consumer: one goes beside the worker, and the other publishes what is left.
type forwarders struct{ beside, rest *forward.Forwarder }

func newForwarders(ctx context.Context, db *sqlx.DB, prefix string, outbox *event.Outbox, told consumer) (f forwarders, err error) {
	options := forward.Options{Prefix: prefix, Taken: outbox.Taken(), Name: "demo", Poll: 100 * time.Millisecond,
		Routes: []forward.Route{{Topics: "*", Broker: told}}}
	if f.beside, err = forward.New(ctx, db, options); err != nil {
		return f, err
	}
	f.rest, err = forward.New(ctx, db, options)
	return f, err
}

// publishing has the outbox published while something goes on.
func (f forwarders) publishing(ctx context.Context, do func() error) error {
	forwarding, stop := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan error, 1)
	go func() { ended <- f.beside.Run(forwarding) }()
	err := do()
	stop()
	if failed := <-ended; err == nil {
		err = failed
	}
	return err
}

// publishRest publishes what is in the outbox, or as much of it as a time allows. Nothing may be under way that publishes more.
func (f forwarders) publishRest(ctx context.Context, patience time.Duration) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	return f.rest.RunUntilEmpty(ctx)
}

// checkEvents says what is wrong where the consumer was not told of each shipment.
func checkEvents(shipped, told int) (problems []string) {
	if shipped != told {
		problems = append(problems, fmt.Sprintf("%d orders were shipped, and the consumer was told of %d", shipped, told))
	}
	return problems
}
