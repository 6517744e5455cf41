package forward

import (
	"context"
	"errors"
	"fmt"
	"time"

	"prescient/prescient"
	"prescient/prescient/event/broker"
)

var (
	errNotOurs = errors.New("the shard is not this forwarder's")
	errNoRoute = errors.New("no route takes the topic")
	// errHere is no fault of the topic: the payload cannot be read, or the event was deleted.
	errHere = errors.New("reading its payload")
)

// result is what became of a publication.
type result int

const (
	settles result = iota // it was acknowledged or set aside: it is to be deleted
	fails                 // its chain waits
	passes                // it is left, and read again
)

// publish publishes one event.
func (f *Forwarder) publish(s *shard, one row) result {
	select {
	case f.places <- struct{}{}:
	case <-s.ctx.Done():
		return passes
	}
	defer func() { <-f.places }()
	if err := s.alive(); err != nil {
		return passes
	}
	t := f.topics.of(one.Topic)
	done, err := t.circuit.Allow()
	if err != nil {
		return passes
	}
	hold, err := f.send(s, one)
	if err != nil && s.ctx.Err() != nil {
		err = context.Canceled
	}
	done(err)
	switch {
	case err == nil:
		return f.settle(settled{shard: s, row: one})
	case errors.Is(err, context.Canceled) || errors.Is(err, errHere):
		return passes
	}
	if errors.Is(err, broker.ErrRefused) && !hold {
		return f.settle(settled{shard: s, row: one, reason: err})
	}
	f.noteFailure(t, one, err)
	if failed := f.options.Observer.Failed; failed != nil {
		failed(one.Topic)
	}
	return fails
}

// send hands an event to its broker. It says whether one that is refused holds up its key.
func (f *Forwarder) send(s *shard, one row) (hold bool, err error) {
	route := routeOf(f.options.Routes, one.Topic)
	if route == nil {
		return true, errNoRoute
	}
	ctx, cancel := context.WithTimeout(s.ctx, publishTime)
	defer cancel()
	payload := one.Payload.V
	if !one.Payload.Valid && one.Bytes > 0 {
		select {
		case f.large <- struct{}{}:
		case <-ctx.Done():
			return true, ctx.Err()
		}
		defer func() { <-f.large }()
		err := f.db.GetContext(ctx, &payload, f.tables.Stmt.Get("event/payload"), s.number, one.Seq)
		if err != nil {
			return true, fmt.Errorf("%w: %w", errHere, err)
		}
	}
	format := route.Format
	if format == nil {
		format = broker.Plain
	}
	m, err := format(broker.Message{ID: one.ID, Topic: one.Topic, Key: one.Key, GeneratedAt: one.GeneratedAt, ContentType: broker.ContentType(payload), Body: payload})
	if err != nil {
		return route.Hold, broker.Refused(err)
	}
	return route.Hold, route.Broker.Publish(ctx, m)
}

// settle hands an event on to be deleted.
func (f *Forwarder) settle(s settled) result {
	s.at = time.Now()
	s.shard.busy.Add(1)
	f.settled[s.shard.number%settlers] <- s
	return settles
}

// noteFailure writes down, every so often, why a topic fails.
func (f *Forwarder) noteFailure(t *topic, one row, why error) {
	if !t.notesFailure(time.Now()) {
		return
	}
	f.options.Log.Warn().Err(why).Str("topic", one.Topic).Str("event", one.ID).Msg("an event could not be published")
	ctx, cancel := context.WithTimeout(context.Background(), f.statementTime())
	defer cancel()
	if _, err := f.db.ExecContext(ctx, f.tables.Stmt.Get("event/failing"), one.Topic, one.ID, prescient.ReasonText(why)); err != nil {
		f.options.Log.Warn().Err(err).Str("topic", one.Topic).Msg("that could not be noted")
	}
}
