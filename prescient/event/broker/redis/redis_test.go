//go:build unix

package redis_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	client "github.com/redis/go-redis/v9"

	"prescient/prescient/event/broker"
	"prescient/prescient/event/broker/brokertest"
	"prescient/prescient/event/broker/redis"
)

const topic = "orders"

// site starts a server with a key that is no stream.
func site(t *testing.T) (brokertest.Site, *process) {
	p := startServer(t)
	do(t, p, "SET", "text", "text")
	s := brokertest.Site{
		Open:    redis.Open,
		Options: broker.Options{URL: p.url()},
		Topic:   topic,
		Arrived: func(t *testing.T, _ int) []broker.Message { return entries(t, p) },
		Freeze:  func() { p.signal(syscall.SIGSTOP) },
		Thaw:    func() { p.signal(syscall.SIGCONT) },
		Start:   p.start, Stop: p.stop,
	}
	wrong, none := s.Message("r1", "k", nil), s.Message("r2", "k", nil)
	wrong.Topic, none.Topic = "text", ""
	s.Refused = map[string]broker.Message{"a key that is no stream": wrong, "no topic": none}
	return s, p
}

func do(t *testing.T, p *process, command ...any) {
	t.Helper()
	c := p.connect()
	defer c.Close()
	if err := c.Do(t.Context(), command...).Err(); err != nil {
		t.Fatal(err)
	}
}

// entries returns what is in the stream. All that was acknowledged is.
func entries(t *testing.T, p *process) (all []broker.Message) {
	t.Helper()
	c := p.connect()
	defer c.Close()
	list, err := c.XRange(t.Context(), topic, "-", "+").Result()
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range list {
		text := func(name string) string {
			value, _ := entry.Values[name].(string)
			delete(entry.Values, name)
			return value
		}
		m := broker.Message{ID: text("id"), Key: text("key"), ContentType: text("content_type"), Body: []byte(text("payload"))}
		m.Headers = []broker.Header{ // as the fields say them
			{Name: broker.HeaderID, Value: broker.Printable(m.ID)},
			{Name: broker.HeaderTopic, Value: topic},
			{Name: broker.HeaderKey, Value: broker.Printable(m.Key)},
			{Name: broker.HeaderGeneratedAt, Value: text("generated_at")},
		}
		for name, value := range entry.Values {
			m.Headers = append(m.Headers, broker.Header{Name: name, Value: fmt.Sprint(value)})
		}
		all = append(all, m)
	}
	return all
}

func TestRedisIsABroker(t *testing.T) {
	brokertest.Accept(t, func(t *testing.T) brokertest.Site {
		s, _ := site(t)
		return s
	})
}

func TestAServerThatTakesNothingNowIsTriedAgain(t *testing.T) {
	s, p := site(t)
	b := s.Connect(t)
	for want, commands := range map[string][2][]any{
		"OOM":      {{"CONFIG", "SET", "maxmemory", "1"}, {"CONFIG", "SET", "maxmemory", "0"}},
		"READONLY": {{"REPLICAOF", "127.0.0.1", "1"}, {"REPLICAOF", "NO", "ONE"}},
		"NOPERM":   {{"ACL", "SETUSER", "default", "-xadd"}, {"ACL", "SETUSER", "default", "+xadd"}},
	} {
		brokertest.Publish(t, b, s.Message("before", "k", nil))
		do(t, p, commands[0]...)
		err := b.Publish(t.Context(), s.Message("while", "k", nil))
		if err == nil || errors.Is(err, broker.ErrRefused) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
		do(t, p, commands[1]...)
		brokertest.Publish(t, b, s.Message("after", "k", nil))
	}
}

func TestACancelledContextIsSeenAtOnce(t *testing.T) {
	s, p := site(t)
	b := s.Connect(t)
	brokertest.Publish(t, b, s.Message("before", "k", nil))
	p.signal(syscall.SIGSTOP)
	t.Cleanup(func() { p.signal(syscall.SIGCONT) })
	ctx, cancel := context.WithCancelCause(t.Context())
	time.AfterFunc(50*time.Millisecond, func() { cancel(errors.New("the lease is lost")) })
	started := time.Now()
	if err := b.Publish(ctx, s.Message("a", "k", nil)); err == nil || !strings.Contains(err.Error(), "the lease is lost") || time.Since(started) > 2*time.Second {
		t.Errorf("%v after %s", err, time.Since(started))
	}
}

func TestAStreamIsTrimmedToAboutItsLength(t *testing.T) {
	s, p := site(t)
	s.Options.URL += "?maxlen=100&pool_size=5"
	b := s.Connect(t)
	for i := range 500 {
		brokertest.Publish(t, b, s.Message(fmt.Sprint(i), "k", nil))
	}
	if n := len(entries(t, p)); n < 100 || n > 300 {
		t.Errorf("%d entries are left, want about 100", n)
	}
}

func TestOtherHeadersBecomeFields(t *testing.T) {
	s, p := site(t)
	m := s.Message("a", "k", nil)
	m.Headers = append(m.Headers, broker.Header{Name: "ce-type", Value: "shop.paid"}, broker.Header{Name: "id", Value: "another"})
	brokertest.Publish(t, s.Connect(t), m)
	c := p.connect()
	defer c.Close()
	list, err := c.XRange(t.Context(), topic, "-", "+").Result()
	if err != nil || len(list) != 1 {
		t.Fatal(list, err)
	}
	want := map[string]any{"id": "a", "key": "k", "generated_at": "2026-03-01T13:00:00.000005Z", "content_type": "application/json", "payload": "", "ce-type": "shop.paid"}
	if got := fmt.Sprint(client.XMessage{Values: list[0].Values}); got != fmt.Sprint(client.XMessage{Values: want}) {
		t.Errorf("%s", got)
	}
}

func TestAWrongPasswordIsTriedAgainAndNotShown(t *testing.T) {
	s, _ := site(t)
	s.Options.URL = strings.Replace(s.Options.URL, "s3cret", "s3cret2", 1)
	brokertest.HidesAWrongPassword(t, s)
}

func TestWrongURLsAreSaidWithoutThem(t *testing.T) {
	for _, url := range []string{
		"redis://user:s3cret@", "redis://user:s3cret@a,b", "redis://user:s3cret@h/x", "redis://user:s3cret@h?maxlen=0", "redis://user:s3cret@h?maxlen=1&maxlen=2",
		"redis://user:s3cret@h?minlen=3", "redis://user:s3cret@h?pool_size=x", "valkey://user:s3cret@h", "redis://user:s3 cret@h",
	} {
		if _, err := redis.Open(t.Context(), broker.Options{URL: url}); err == nil || strings.Contains(err.Error(), "s3") {
			t.Errorf("%s: %v", url, err)
		}
	}
}
