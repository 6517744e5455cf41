package rabbitmq

import (
	"context"
	"errors"
	"fmt"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
	"github.com/rs/zerolog"

	"prescient/prescient/event/broker"
)

const (
	dialTime  = 5 * time.Second // with the handshake
	dialPause = 500 * time.Millisecond
	heartbeat = 5 * time.Second // two that are missed, and the connection is lost
)

// server is where the exchange is. It has one connection at a time, and on it one channel that all events share.
type server struct {
	url      string // with the password
	exchange string
	log      zerolog.Logger
	closed   context.Context
	close    context.CancelFunc

	opening chan struct{} // holds one while somebody opens; guards the rest
	conn    *amqp.Connection
	shared  *line
	failed  error // of the last attempt to connect
	next    time.Time

	// The server closes a channel for one event that it cannot take, and does not say for which. Those that were under way go
	// alone then, each on a channel of its own, one at a time: that shows which it was.
	alone chan struct{}
}

// Open returns a broker that publishes to an exchange. It connects when it publishes.
func Open(_ context.Context, o broker.Options) (broker.Broker, error) {
	target, exchange, err := parse(o.URL)
	if err != nil {
		return nil, fmt.Errorf("rabbitmq: %w", err)
	}
	s := &server{url: target, exchange: exchange, log: o.Log, opening: make(chan struct{}, 1), alone: make(chan struct{}, 1)}
	s.closed, s.close = context.WithCancel(context.Background())
	return s, nil
}

// parse returns the URL as the client reads it.
func parse(text string) (target, exchange string, err error) {
	address, u, err := broker.ParseOne(text, "amqp", "amqps")
	if err != nil {
		return "", "", err
	}
	exchange = address.Query.Get("exchange")
	if len(address.Query["exchange"]) > 1 || len(exchange) > maxShort {
		return "", "", errors.New("the parameter exchange comes twice, or is longer than 255 bytes")
	}
	address.Query.Del("exchange")
	u.RawQuery = address.Query.Encode()
	if _, err := amqp.ParseURI(u.String()); err != nil {
		return "", "", errors.New("the URL has a virtual host or a parameter that the client cannot read")
	}
	return u.String(), exchange, nil
}

// Publish implements broker.Broker.
func (s *server) Publish(ctx context.Context, m broker.Message) error {
	if err := s.publish(ctx, m); err != nil {
		return fmt.Errorf("rabbitmq: exchange %q, topic %s: %w", s.exchange, m.Topic, err)
	}
	return nil
}

func (s *server) publish(ctx context.Context, m broker.Message) error {
	p, err := publishing(m)
	if err != nil {
		return broker.Refused(err)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(s.closed, func() { cancel(errors.New("closed")) })()
	l, err := s.line(ctx)
	if err != nil {
		return err
	}
	err = l.publish(ctx, s.exchange, m.Topic, p)
	if !isException(err) {
		return err
	}
	select {
	case s.alone <- struct{}{}:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	defer func() { <-s.alone }()
	if l, err = s.open(ctx, s.ownLine); err != nil {
		return err
	}
	defer l.end()
	if err = l.publish(ctx, s.exchange, m.Topic, p); isException(err) {
		return broker.Refused(err)
	}
	return err
}

// isException says whether the server has closed a channel for an event that it cannot take: the exchange is not there, or
// the event is too large.
func isException(err error) bool {
	var e *amqp.Error
	return errors.As(err, &e) && e.Server && (e.Code == amqp.NotFound || e.Code == amqp.PreconditionFailed || e.Code == amqp.ContentTooLarge)
}

// line returns the channel that events share, and opens it where it isn't there.
func (s *server) line(ctx context.Context) (*line, error) {
	return s.open(ctx, func() (_ *line, err error) {
		if s.shared == nil || s.shared.isOver() {
			s.shared, err = s.ownLine()
		}
		return s.shared, err
	})
}

// ownLine returns a channel that the caller ends. The caller holds opening.
func (s *server) ownLine() (*line, error) {
	conn, err := s.connect()
	if err != nil {
		return nil, err
	}
	return newLine(conn)
}

// open calls a function that waits for the server whatever the context says, one at a time.
func (s *server) open(ctx context.Context, get func() (*line, error)) (*line, error) {
	select {
	case s.opening <- struct{}{}:
	case <-ctx.Done():
		return nil, fmt.Errorf("no connection: %w", context.Cause(ctx))
	}
	return broker.Within(ctx, "no connection", func() (*line, error) {
		defer func() { <-s.opening }()
		return get()
	})
}

// connect returns a connection that lives. The caller holds opening.
func (s *server) connect() (*amqp.Connection, error) {
	switch {
	case s.closed.Err() != nil:
		return nil, errors.New("closed")
	case s.conn != nil && !s.conn.IsClosed():
		return s.conn, nil
	case time.Now().Before(s.next):
		return nil, s.failed
	}
	properties := amqp.NewConnectionProperties()
	properties.SetClientConnectionName("prescient")
	conn, err := amqp.DialConfig(s.url, amqp.Config{Heartbeat: heartbeat, Dial: amqp.DefaultDial(dialTime), Properties: properties})
	if err != nil {
		s.failed, s.next = fmt.Errorf("connecting: %w", err), time.Now().Add(dialPause)
		return nil, s.failed
	}
	s.conn = conn
	lost := conn.NotifyClose(make(chan *amqp.Error, 1))
	go func() {
		if err := <-lost; err != nil {
			s.log.Warn().Err(err).Msg("the connection to RabbitMQ is lost")
		}
	}()
	return conn, nil
}

// Close implements broker.Broker. What is under way fails.
func (s *server) Close() error {
	if s.closed.Err() != nil {
		return nil
	}
	s.close()
	s.opening <- struct{}{} // for good; whoever opens ends within dialTime
	if s.conn == nil || s.conn.IsClosed() {
		return nil
	}
	if err := s.conn.CloseDeadline(time.Now().Add(dialTime)); err != nil && !errors.Is(err, amqp.ErrClosed) {
		return fmt.Errorf("rabbitmq: closing the connection: %w", err)
	}
	return nil
}
