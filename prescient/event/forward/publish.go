package forward

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/semaphore"

	"prescient/prescient/event/broker"
)

var (
	errNotOurs = errors.New("the shard is not this forwarder's")
	errNoRoute = errors.New("no route takes the topic")
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
	t := f.topics.of(one.Topic)
	select {
	case t.places <- struct{}{}:
		defer func() { <-t.places }()
	case <-s.ctx.Done():
		return passes
	}
	if err := s.alive(); err != nil || f.paused.Load() {
		return passes
	}
	done, err := t.circuit.Allow()
	if err != nil {
		return passes
	}
	hold, err := f.send(s, t, one)
	if err != nil && s.ctx.Err() != nil {
		err = context.Canceled
	}
	done(err)
	switch {
	case err == nil:
		return f.settle(settled{shard: s, row: one})
	case errors.Is(err, context.Canceled) || errors.Is(err, sql.ErrNoRows):
		return passes
	case errors.Is(err, errHere):
		f.noteFailure(t, one, err)
		if f.pass == nil {
			return passes
		}
		f.pass.leaves(one, err)
		return fails
	}
	if errors.Is(err, broker.ErrRefused) && !hold {
		return f.settle(settled{shard: s, row: one, reason: err})
	}
	f.noteFailure(t, one, err)
	f.pass.leaves(one, err)
	if failed := f.options.Observer.Failed; failed != nil {
		failed(one.Topic)
	}
	return fails
}

// send hands an event to its broker. It says whether one that is refused holds up its key.
func (f *Forwarder) send(s *shard, t *topic, one row) (hold bool, err error) {
	route := routeOf(f.options.Routes, one.Topic)
	if route == nil {
		return true, errNoRoute
	}
	payload, done, err := f.payload(s, t, one)
	if err != nil {
		return true, err
	}
	defer done()
	m, err := one.message(payload, route.Format)
	if err != nil {
		return route.Hold, broker.Refused(err)
	}
	ctx, cancel := context.WithTimeout(s.ctx, publishTime)
	defer cancel()
	if publishing := f.options.Observer.Publishing; publishing != nil {
		published := publishing(m)
		defer func() { published(err) }()
	}
	err = route.Broker.Publish(ctx, m)
	return route.Hold, err
}

// payload is that of an event. A long one is read now that its turn has come, and has its place in memory until done.
func (f *Forwarder) payload(s *shard, t *topic, one row) (payload []byte, done func(), err error) {
	if one.Payload.Valid || one.Bytes == 0 {
		return one.Payload.V, func() {}, nil
	}
	if done, err = occupy(s.ctx, one.Bytes, t.large, f.large); err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithTimeout(s.ctx, publishTime)
	defer cancel()
	if err := f.db.GetContext(ctx, &payload, f.tables.Stmt.Get("event/payload"), s.number, one.Seq); err != nil {
		done()
		return nil, nil, fmt.Errorf("%w: %w", errHere, err)
	}
	return payload, done, nil
}

// occupy takes room for so many bytes in the topic and in all, and gives it back when it is left. What is longer than all the room of a topic
// takes all of it.
func occupy(ctx context.Context, bytes int, ofTopic, ofAll *semaphore.Weighted) (leave func(), err error) {
	room := min(int64(bytes), mostLargeOf)
	if err := ofTopic.Acquire(ctx, room); err != nil {
		return nil, err
	}
	if err := ofAll.Acquire(ctx, room); err != nil {
		ofTopic.Release(room)
		return nil, err
	}
	return func() { ofAll.Release(room); ofTopic.Release(room) }, nil
}

// settle hands an event on to be deleted.
func (f *Forwarder) settle(s settled) result {
	s.at = time.Now()
	s.shard.busy.Add(1)
	f.settled[s.shard.number%settlers] <- s
	return settles
}
