package forward_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"prescient/prescient/event"
	"prescient/prescient/event/broker"
	"prescient/prescient/event/forward"
)

// backlog is more than a shard has in memory, and a forwarder publishes of a topic at a time.
const backlog = 1000

// neighbours are keys in one shard.
func neighbours(n int) (keys []string) {
	for i := 0; len(keys) < n; i++ {
		if key := fmt.Sprint(i); event.ShardOf(key) == 0 {
			keys = append(keys, key)
		}
	}
	return keys
}

// publishesEach puts an event of a topic into the outbox for each of the keys, which is its id as well.
func (r *testRig) publishesEach(topic string, keys []string) {
	r.T.Helper()
	some := make([]event.Event, len(keys))
	for i, key := range keys {
		some[i] = event.Event{ID: fmt.Sprintf("%s-%d", topic, i), Topic: topic, Key: key}
	}
	r.Must(r.outbox.Publish(r.T.Context(), r.App, some...))
}

// A broker that takes its time, or never answers, has not failed yet. All the same the others' events go out.
func TestATopicWhoseBrokerIsSlowHoldsUpNoOther(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		goOn := make(chan struct{})
		r.broker.answers(func(m broker.Message) error {
			if m.Topic == "slow" {
				<-goOn
			}
			return nil
		})
		keys := neighbours(backlog)
		r.publishesEach("slow", keys)
		r.publishes("quick", keys[0], "1", keys[0], "2", keys[1], "3")
		stop := r.start(forward.Options{})
		r.Eventually("the other topic goes on", func() bool { return len(r.broker.ids("")) == 3 })
		wantIDs(t, r.broker.ids(keys[0]), "1", "2")
		close(goOn)
		r.untilEmpty()
		stop()
	})
}

// A key whose events can only go out one after the other leaves room for others in its shard.
func TestAKeyWithManyEventsHoldsUpNoOther(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		goOn := make(chan struct{})
		busy, neighbour := neighbours(2)[0], neighbours(2)[1]
		r.broker.answers(func(m broker.Message) error {
			if m.Key == busy {
				<-goOn
			}
			return nil
		})
		r.publishesEach("t", slices.Repeat([]string{busy}, backlog))
		r.publishes("t", neighbour, "1")
		stop := r.start(forward.Options{})
		r.Eventually("the other key goes on", func() bool { return len(r.broker.ids(neighbour)) == 1 })
		close(goOn)
		r.untilEmpty()
		stop()
		for i, id := range r.broker.ids(busy) {
			if want := fmt.Sprintf("t-%d", i); id != want {
				t.Fatalf("%s was published at place %d; want %s", id, i, want)
			}
		}
	})
}

// A broker that refuses all of a topic whose route holds keeps many keys waiting, and each is tried again.
func TestATopicThatIsHeldHoldsUpNoOther(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		r.broker.answers(func(m broker.Message) error {
			if m.Topic == "hold" {
				return broker.Refused(errors.New("too large"))
			}
			return nil
		})
		keys := neighbours(backlog)
		r.publishesEach("hold", keys)
		stop := r.start(forward.Options{Routes: []forward.Route{{Topics: "hold", Broker: r.broker, Hold: true}, {Topics: "*", Broker: r.broker}}})
		r.Eventually("keys wait", func() bool { return r.broker.all() > 128 })
		r.publishesEach("quick", keys[:200])
		r.Eventually("the other topic goes on", func() bool { return len(r.broker.ids("")) == 200 })
		r.broker.answers(func(broker.Message) error { return nil })
		stop()
	})
}
