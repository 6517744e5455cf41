package rabbitmq

import (
	"context"
	"errors"
	"fmt"
	"sync"

	amqp "github.com/rabbitmq/amqp091-go"

	"prescient/prescient/event/broker"
)

// line is a channel that confirms, and tells which of its publications were returned.
type line struct {
	channel *amqp.Channel
	writing chan struct{} // holds one while somebody writes: a server that takes nothing holds up one goroutine, not all
	handled chan struct{} // whoever receives knows that what was returned before is noted
	over    chan struct{} // closed once the channel is

	mu       sync.Mutex
	returned map[string]*amqp.Return // of the publications under way, nil until they are
	reason   *amqp.Error             // why the channel is closed; nil where we closed it
}

func newLine(conn *amqp.Connection) (*line, error) {
	channel, err := conn.Channel()
	if err != nil {
		return nil, fmt.Errorf("opening a channel: %w", err)
	}
	if err := channel.Confirm(false); err != nil {
		return nil, errors.Join(fmt.Errorf("asking for confirmations: %w", err), channel.Close())
	}
	l := &line{
		channel: channel, writing: make(chan struct{}, 1), handled: make(chan struct{}), over: make(chan struct{}),
		returned: make(map[string]*amqp.Return),
	}
	go l.watch(channel.NotifyReturn(make(chan amqp.Return)), channel.NotifyClose(make(chan *amqp.Error, 1)))
	return l, nil
}

// watch notes what is returned until the channel is closed. The server sends a return before its confirmation, and the client hands
// out one after the other: returned has no buffer, so a confirmation comes when the return before it was received here.
func (l *line) watch(returned <-chan amqp.Return, closed <-chan *amqp.Error) {
	defer close(l.over)
	for {
		select {
		case r, open := <-returned:
			if !open {
				returned = nil
				continue
			}
			l.mu.Lock()
			if _, waits := l.returned[r.MessageId]; waits {
				l.returned[r.MessageId] = &r
			}
			l.mu.Unlock()
		case l.handled <- struct{}{}:
		case reason := <-closed:
			l.mu.Lock()
			l.reason = reason
			l.mu.Unlock()
			return
		}
	}
}

// isOver says whether the channel is closed.
func (l *line) isOver() bool { return l.channel.IsClosed() }

// end closes the channel. It does not wait for a server that does not answer.
func (l *line) end() {
	go func() { _ = l.channel.Close() }() // it was used, and nothing of it is needed any more
}

// publish returns once the server has said what became of the publication, or the context ends.
func (l *line) publish(ctx context.Context, exchange, key string, p amqp.Publishing) error {
	l.mu.Lock()
	l.returned[p.MessageId] = nil
	l.mu.Unlock()
	defer func() {
		l.mu.Lock()
		delete(l.returned, p.MessageId)
		l.mu.Unlock()
	}()
	confirmation, err := l.write(ctx, exchange, key, p)
	if err != nil {
		return err
	}
	select {
	case <-confirmation.Done():
	case <-ctx.Done():
		return fmt.Errorf("no confirmation: %w", context.Cause(ctx))
	}
	if l.isOver() {
		<-l.over // now the reason is noted
	} else {
		select {
		case <-l.handled:
		case <-l.over:
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return verdict(confirmation.Acked(), l.returned[p.MessageId], l.isOver(), l.reason)
}

// write returns when the publication is written, which a server that is short of memory puts off for as long as it likes.
func (l *line) write(ctx context.Context, exchange, key string, p amqp.Publishing) (*amqp.DeferredConfirmation, error) {
	select {
	case l.writing <- struct{}{}:
	case <-ctx.Done():
		return nil, fmt.Errorf("it could not be sent: %w", context.Cause(ctx))
	}
	confirmation, err := broker.Within(ctx, "it could not be sent", func() (*amqp.DeferredConfirmation, error) {
		defer func() { <-l.writing }()
		const mandatory, immediate = true, false
		confirmation, err := l.channel.PublishWithDeferredConfirm(exchange, key, mandatory, immediate, p)
		if err != nil {
			return nil, fmt.Errorf("sending it: %w", err)
		}
		return confirmation, nil
	})
	if errors.Is(err, amqp.ErrClosed) && l.isOver() { // it says why, to whoever comes after
		<-l.over
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.reason != nil {
			return nil, l.reason
		}
	}
	return confirmation, err
}

// verdict says what became of a publication that is confirmed, or whose channel is closed: that ends every confirmation as a
// nack does.
func verdict(acked bool, returned *amqp.Return, over bool, reason *amqp.Error) error {
	switch {
	case returned != nil:
		return broker.Refused(fmt.Errorf("it was returned: %d %s: no queue is bound for it", returned.ReplyCode, returned.ReplyText))
	case acked:
		return nil
	case reason != nil:
		return reason
	case over:
		return errors.New("the channel was closed")
	}
	return errors.New("the server has not taken it (nack)")
}
