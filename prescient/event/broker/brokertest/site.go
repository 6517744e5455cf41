// Package brokertest holds every broker's package to what broker.Broker promises, against a server that may freeze, stop and
// come back.
package brokertest

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"prescient/prescient/event/broker"
)

// Patience is far more than anything takes in these tests. One that needs it all has failed.
const Patience = 30 * time.Second

// Site is a server with one topic, which one test has for itself.
type Site struct {
	Open    broker.Open
	Options broker.Options // with a password in the URL, where the server knows any
	Topic   string         // is there, and empty

	// Arrived returns what consumers find in the topic, in order: n messages at least, as soon as they are there. It fills ID, Key
	// and Body, and what it has of ContentType and Headers.
	Arrived func(t *testing.T, n int) []broker.Message

	// Refused are messages that the broker refuses for good, by what is wrong with them.
	Refused map[string]broker.Message

	// Freeze makes the server hold its answers until Thaw. Stop ends it, Start brings it back with what it had. Where a pair is
	// nil, its tests are left out.
	Freeze, Thaw, Stop, Start func()
}

// Message returns one for the topic of a site.
func (s Site) Message(id, key string, body []byte) broker.Message {
	return broker.Message{
		ID: id, Topic: s.Topic, Key: key, GeneratedAt: time.Date(2026, 3, 1, 13, 0, 0, 5000, time.UTC), ContentType: "application/json",
		Headers: []broker.Header{
			{Name: broker.HeaderID, Value: broker.Printable(id)},
			{Name: broker.HeaderTopic, Value: broker.Printable(s.Topic)},
			{Name: broker.HeaderKey, Value: broker.Printable(key)},
			{Name: broker.HeaderGeneratedAt, Value: "2026-03-01T13:00:00.000005Z"},
		},
		Body: body,
	}
}

// Connect opens the broker of a site, and closes it at the end.
func (s Site) Connect(t testing.TB) broker.Broker {
	t.Helper()
	b, err := s.Open(t.Context(), s.Options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	return b
}

// Publish publishes a message that has to be acknowledged.
func Publish(t *testing.T, b broker.Broker, m broker.Message) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), Patience)
	defer cancel()
	if err := b.Publish(ctx, m); err != nil {
		t.Fatalf("%s: %v", m.ID, err)
	}
}

// publishAtLast publishes a message again until it is acknowledged, as a forwarder does.
func publishAtLast(t *testing.T, b broker.Broker, m broker.Message) {
	t.Helper()
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for started := time.Now(); ; <-again.C {
		err := within(t, b, m, 2*time.Second)
		switch {
		case err == nil:
			return
		case time.Since(started) > Patience:
			t.Fatalf("%s is not acknowledged: %v", m.ID, err)
		}
	}
}

// within publishes with a deadline, and fails the test where Publish goes on long after it.
func within(t *testing.T, b broker.Broker, m broker.Message, timeout time.Duration) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	defer cancel()
	started := time.Now()
	err := b.Publish(ctx, m)
	if late := time.Since(started) - timeout; late > time.Second {
		t.Errorf("Publish returned %s after its context ended: %v", late, err)
	}
	return err
}

// Log is a place for a log, from several goroutines.
type Log struct {
	mu      sync.Mutex
	written bytes.Buffer
}

// Write implements io.Writer.
func (l *Log) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.written.Write(line)
}

// String returns what was written.
func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.written.String()
}

// Hides fails the test where a text shows the password of the site's URL.
func (s Site) Hides(t *testing.T, said any) {
	t.Helper()
	_, after, _ := strings.Cut(s.Options.URL, "://")
	user, _, found := strings.Cut(after, "@")
	_, password, with := strings.Cut(user, ":")
	if found && with && strings.Contains(fmt.Sprint(said), password) {
		t.Errorf("the password is shown: %v", said)
	}
}
