package forward_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"prescient/prescient/event"
	"prescient/prescient/event/broker"
	"prescient/prescient/event/forward"
	"prescient/prescient/internal/rig"
	"prescient/prescient/internal/rig/app"
	"prescient/prescient/localserver/servertest"
)

func TestMain(m *testing.M) { servertest.Main(m) }

// testRig is an app with an outbox, a broker, and forwarders.
type testRig struct {
	*app.Rig
	outbox *event.Outbox
	broker *fakeBroker
	hooks  *rig.Hooks // of the statements of forwarders; may be nil
}

func eachServer(t *testing.T, test func(t *testing.T, r *testRig)) {
	t.Parallel()
	servertest.Each(t, func(t *testing.T, d servertest.Database) {
		r := &testRig{Rig: app.New(t, d, 15*time.Minute), broker: &fakeBroker{answer: func(broker.Message) error { return nil }}}
		r.outbox = event.New(r.Client)
		test(t, r)
	})
}

// forwarder makes a forwarder on a worker's account.
func (r *testRig) forwarder(o forward.Options) *forward.Forwarder {
	r.T.Helper()
	o.Prefix, o.Dialect, o.Taken = "p_", r.Setting, r.outbox.Taken()
	o.Log = zerolog.New(zerolog.NewTestWriter(r.T))
	if o.Routes == nil {
		o.Routes = []forward.Route{{Topics: "*", Broker: r.broker}}
	}
	f, err := forward.New(r.T.Context(), r.As("worker", time.Time{}), o)
	r.Must(err)
	if r.hooks != nil {
		f.OnPool(r.HookedPool(time.Time{}, r.hooks))
	}
	return f
}

// start runs a forwarder until stop is called, or the test ends.
func (r *testRig) start(o forward.Options) (stop func()) {
	r.T.Helper()
	f := r.forwarder(o)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- f.Run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			r.T.Errorf("forwarder: %v", err)
		}
	})
	r.T.Cleanup(stop)
	return stop
}

// publishes puts events of one topic into the outbox, by a transaction for each.
func (r *testRig) publishes(topic string, keysAndIDs ...string) {
	r.T.Helper()
	for i := 0; i < len(keysAndIDs); i += 2 {
		r.Must(r.outbox.Publish(r.T.Context(), r.App, event.Event{ID: keysAndIDs[i+1], Topic: topic, Key: keysAndIDs[i]}))
	}
}

// waits are how many events are in the outbox.
func (r *testRig) waits() int { return r.Count("SELECT COUNT(*) FROM p_event_outbox") }

func (r *testRig) untilEmpty() {
	r.T.Helper()
	r.Eventually("the outbox is empty", func() bool { return r.waits() == 0 })
}

// fakeBroker keeps what was published.
type fakeBroker struct {
	mu     sync.Mutex
	answer func(m broker.Message) error
	got    []broker.Message
	tried  map[string]int
}

func (b *fakeBroker) Publish(_ context.Context, m broker.Message) error {
	b.mu.Lock()
	answer := b.answer
	if b.tried == nil {
		b.tried = make(map[string]int)
	}
	b.tried[m.ID]++
	b.mu.Unlock()
	if err := answer(m); err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.got = append(b.got, m)
	return nil
}

func (b *fakeBroker) Close() error { return nil }

// answers has the broker answer otherwise from now on.
func (b *fakeBroker) answers(answer func(m broker.Message) error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.answer = answer
}

// ids are those that the broker has acknowledged, in its order; of one key, or of all.
func (b *fakeBroker) ids(key string) (ids []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, m := range b.got {
		if key == "" || m.Key == key {
			ids = append(ids, m.ID)
		}
	}
	return ids
}

func (b *fakeBroker) tries(id string) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.tried[id]
}

var errDown = errors.New("the broker is down")

func wantIDs(t *testing.T, got []string, want ...string) {
	t.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("published %q; want %q", got, want)
	}
}

// all is how many different events were tried.
func (b *fakeBroker) all() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.tried)
}
