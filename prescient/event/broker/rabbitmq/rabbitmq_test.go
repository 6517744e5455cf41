package rabbitmq_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"prescient/prescient/event/broker"
	"prescient/prescient/event/broker/brokertest"
	"prescient/prescient/event/broker/rabbitmq"
)

// servers are the URLs of RabbitMQ servers to test on, by accounts that may declare queues: those that PRESCIENT_TEST_RABBITMQ has,
// with spaces between them. Debian's package does:
//
//	PRESCIENT_TEST_RABBITMQ=amqp://shop:s3cret@127.0.0.1:5672/ go test ./prescient/event/broker/rabbitmq
//
// RabbitMQ is too large to be fetched for these tests, so there may be none; then what it takes no server to see is tested.
func servers() []string { return strings.Fields(os.Getenv("PRESCIENT_TEST_RABBITMQ")) }

// each runs a test on each server, one after the other.
func each(t *testing.T, test func(t *testing.T, site func(t *testing.T) brokertest.Site)) {
	for i, server := range servers() {
		t.Run(fmt.Sprint(i), func(t *testing.T) { test(t, func(t *testing.T) brokertest.Site { return site(t, server) }) })
	}
}

// site declares a queue on a server, and goes there through a gate.
func site(t *testing.T, server string) brokertest.Site {
	t.Helper()
	u, err := url.Parse(server)
	if err != nil {
		t.Fatal("PRESCIENT_TEST_RABBITMQ has a URL that cannot be read")
	}
	channel := connect(t, server)
	queue := "px.test." + rand.Text()
	if _, err := channel.QueueDeclare(queue, true, false, false, false, nil); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := channel.QueueDelete(queue, false, false, false); err != nil {
			t.Error(err)
		}
	})
	gate := brokertest.NewGate()
	u.Host = gate.Proxy(t, u.Host)
	s := brokertest.Site{
		Open:    rabbitmq.Open,
		Options: broker.Options{URL: u.String()},
		Topic:   queue,
		Arrived: func(t *testing.T, n int) []broker.Message { return consume(t, channel, queue, n) },
		Freeze:  gate.Freeze, Thaw: gate.Thaw, Stop: gate.Cut, Start: gate.Join,
	}
	unroutable, long := s.Message("r1", "k", nil), s.Message("r2", "k", nil)
	unroutable.Topic, long.Topic = queue+".none", strings.Repeat("x", 256)
	s.Refused = map[string]broker.Message{"no queue": unroutable, "no routing key": long}
	return s
}

// connect connects straight to a server until the end of the test.
func connect(t *testing.T, server string) *amqp.Channel {
	t.Helper()
	conn, err := amqp.Dial(server)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	channel, err := conn.Channel()
	if err != nil {
		t.Fatal(err)
	}
	return channel
}

// consume takes what is in a queue. All that was confirmed is.
func consume(t *testing.T, channel *amqp.Channel, queue string, n int) (all []broker.Message) {
	t.Helper()
	for started := time.Now(); ; {
		d, found, err := channel.Get(queue, true)
		switch {
		case err != nil:
			t.Fatal(err)
		case !found && len(all) < n && time.Since(started) < brokertest.Patience:
			continue
		case !found:
			return all
		}
		m := broker.Message{ID: d.MessageId, ContentType: d.ContentType, Body: d.Body}
		for name, value := range d.Headers {
			m.Headers = append(m.Headers, broker.Header{Name: name, Value: fmt.Sprint(value)})
		}
		if m.Key, err = url.PathUnescape(fmt.Sprint(d.Headers[broker.HeaderKey])); err != nil || d.DeliveryMode != amqp.Persistent {
			t.Errorf("%v, delivery mode %d", err, d.DeliveryMode)
		}
		all = append(all, m)
	}
}

func TestRabbitMQIsABroker(t *testing.T) {
	each(t, func(t *testing.T, site func(t *testing.T) brokertest.Site) { brokertest.Accept(t, site) })
}

func TestAnExchangeThatIsNotThereRefuses(t *testing.T) {
	each(t, func(t *testing.T, site func(t *testing.T) brokertest.Site) {
		s := site(t)
		s.Options.URL += "?exchange=px.test.none"
		b := s.Connect(t)
		for range 2 {
			if err := b.Publish(t.Context(), s.Message("a", "k", nil)); !errors.Is(err, broker.ErrRefused) || !strings.Contains(err.Error(), "404") {
				t.Errorf("%v, want a refusal", err)
			}
		}
	})
}

// A server that closes the channel for an event that is too large has 256 MB a message at most, and 16 MiB from version 4 on; this
// one may take less.
func TestAnEventThatIsTooLargeRefusesNoOther(t *testing.T) {
	each(t, func(t *testing.T, site func(t *testing.T) brokertest.Site) {
		s := site(t)
		b := s.Connect(t)
		brokertest.Publish(t, b, s.Message("before", "k", nil))
		const n = 64
		large := []byte(nil)
		for size := 1 << 18; large == nil && size <= 1<<28; size <<= 1 {
			if err := b.Publish(t.Context(), s.Message("large", "k", make([]byte, size))); errors.Is(err, broker.ErrRefused) {
				large = make([]byte, size)
			}
		}
		s.Arrived(t, 1)
		var all sync.WaitGroup
		for i := range n {
			all.Go(func() {
				if err := publishAgain(t.Context(), b, s.Message(fmt.Sprint("m", i), "k", nil)); err != nil {
					t.Error(err)
				}
			})
		}
		all.Go(func() {
			if err := publishAgain(t.Context(), b, s.Message("large", "k", large)); large != nil && !errors.Is(err, broker.ErrRefused) {
				t.Errorf("%v, want a refusal", err)
			}
		})
		all.Wait()
		seen := make(map[string]bool)
		for _, m := range s.Arrived(t, n) {
			seen[m.ID] = true
		}
		if len(seen) != n {
			t.Errorf("%d messages have arrived, want %d", len(seen), n)
		}
	})
}

// publishAgain publishes until the message is acknowledged or refused, as a forwarder does.
func publishAgain(ctx context.Context, b broker.Broker, m broker.Message) (err error) {
	for range 50 {
		if err = b.Publish(ctx, m); err == nil || errors.Is(err, broker.ErrRefused) {
			return err
		}
	}
	return err
}

func TestAWrongPasswordIsTriedAgainAndNotShown(t *testing.T) {
	each(t, func(t *testing.T, site func(t *testing.T) brokertest.Site) {
		s := site(t)
		u, err := url.Parse(s.Options.URL)
		if err != nil {
			t.Fatal(err)
		}
		u.User = url.UserPassword("nobody", "s3cret2")
		s.Options.URL = u.String()
		brokertest.HidesAWrongPassword(t, s)
	})
}

func TestNoServerIsAnErrorThatIsTriedAgain(t *testing.T) {
	gate := brokertest.NewGate()
	gate.Cut()
	s := brokertest.Site{Open: rabbitmq.Open, Options: broker.Options{URL: "amqp://shop:s3cret@" + gate.Proxy(t, "127.0.0.1:1") + "/"}, Topic: "orders"}
	b := s.Connect(t)
	for range 3 {
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		err := b.Publish(ctx, s.Message("a", "k", nil))
		cancel()
		if err == nil || errors.Is(err, broker.ErrRefused) {
			t.Errorf("%v", err)
		}
		s.Hides(t, err)
	}
}
