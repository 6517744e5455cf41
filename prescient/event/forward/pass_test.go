package forward_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"prescient/prescient/event"
	"prescient/prescient/event/broker"
	"prescient/prescient/event/forward"
	"prescient/prescient/internal/rig"
)

// passes has a forwarder make a pass, which ends.
func (r *testRig) passes(f *forward.Forwarder) error {
	r.T.Helper()
	ended := make(chan error, 1)
	ctx, cancel := context.WithCancel(r.T.Context())
	defer cancel()
	go func() { ended <- f.RunUntilEmpty(ctx) }()
	select {
	case err := <-ended:
		return err
	case <-time.After(time.Minute):
		r.T.Fatal("the pass does not end")
		return nil
	}
}

// wantsLeft wants an error of a pass that names an event.
func wantsLeft(t *testing.T, err error, wants ...string) {
	t.Helper()
	if !errors.Is(err, forward.ErrLeft) {
		t.Errorf("the pass says %v; want that events are left", err)
		return
	}
	for _, want := range wants {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the pass says %q; want %q", err, want)
		}
	}
}

func TestAPassEndsWithAnEventThatCannotBePublishedAndNamesIt(t *testing.T) {
	for name, test := range map[string]struct {
		answer func(m broker.Message) error
		routes func(b broker.Broker) []forward.Route
		wants  []string
		left   int // with what comes behind it
		topics int // of which it is noted
	}{
		"its broker is down": {answer: func(m broker.Message) error {
			if m.Topic == "bad" {
				return errDown
			}
			return nil
		}, wants: []string{" of topic bad with key ", "the broker is down", "more failed"}, left: 102, topics: 1},
		"its broker refuses it, and the route holds": {answer: func(m broker.Message) error {
			if m.ID == "b1" {
				return broker.Refused(errors.New("too large"))
			}
			return nil
		}, routes: func(b broker.Broker) []forward.Route {
			return []forward.Route{{Topics: "bad", Broker: b, Hold: true}, {Topics: "*", Broker: b}}
		}, wants: []string{`event "b1" of topic bad with key "k"`, "too large"}, left: 2, topics: 1},
		"no route takes it": {routes: func(b broker.Broker) []forward.Route { return []forward.Route{{Topics: "good", Broker: b}} },
			wants: []string{" of topic bad with key ", "no route takes the topic"}, left: 102, topics: 1},
	} {
		t.Run(name, func(t *testing.T) {
			eachServer(t, func(t *testing.T, r *testRig) {
				if test.answer != nil {
					r.broker.answers(test.answer)
				}
				r.publishes("bad", "k", "b1", "k", "b2")
				for i := range 100 {
					r.publishes("bad", fmt.Sprint(i), fmt.Sprintf("o%d", i))
				}
				r.publishes("good", "k", "g1", "k", "g2")
				var o forward.Options
				if test.routes != nil {
					o.Routes = test.routes(r.broker)
				}
				f := r.forwarder(o)
				for range 2 { // the second pass is as the first
					wantsLeft(t, r.passes(f), test.wants...)
					if n := r.waits(); n != test.left {
						t.Errorf("%d events are left; want %d", n, test.left)
					}
				}
				wantIDs(t, r.ofTopic("good"), "g1", "g2")
				if n := r.Count("SELECT COUNT(*) FROM p_event_topic WHERE topic = 'bad'"); n != test.topics {
					t.Errorf("%d topics are noted as failing; want %d", n, test.topics)
				}
				if n := r.Count("SELECT COUNT(*) FROM p_event_shard WHERE allocated_until > UTC_TIMESTAMP(6)"); n != 0 {
					t.Errorf("%d leases were not given back", n)
				}
			})
		})
	}
}

// A forwarder that made a pass makes another.
func TestAForwarderMakesPassAfterPass(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		f := r.forwarder(forward.Options{})
		for i := range 3 {
			r.publishes("t", "k", fmt.Sprint(i))
			r.Must(r.passes(f))
		}
		wantIDs(t, r.broker.ids("k"), "0", "1", "2")
	})
}

// A pass that ends at once, since there is nothing or events are paused, leaves no shard leased: the next one would wait for it.
func TestAPassThatEndsAtOnceGivesItsShardsBack(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		f := r.forwarder(forward.Options{})
		for range 20 {
			r.Must(r.passes(f))
			if n := r.Count("SELECT COUNT(*) FROM p_event_shard WHERE allocated_until > UTC_TIMESTAMP(6)"); n != 0 {
				t.Fatalf("%d leases were not given back", n)
			}
		}
	})
}

// What comes while a pass is under way is the next one's, so that a pass ends also where events come faster than they go.
func TestAPassIsOverWithWhatWasThereAsItBegan(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		n := 0
		r.broker.answers(func(m broker.Message) error {
			n++ // one key: one after the other
			return r.outbox.Publish(t.Context(), r.App, event.Event{ID: fmt.Sprintf("next-%d", n), Topic: "t", Key: m.Key})
		})
		r.publishes("t", "k", "1", "k", "2")
		r.Must(r.passes(r.forwarder(forward.Options{})))
		wantIDs(t, r.broker.ids("k"), "1", "2")
		if n := r.waits(); n != 2 {
			t.Errorf("%d events are left; want the two that came", n)
		}
	})
}

// An event that was published and cannot be deleted ends a pass as well.
func TestAPassEndsWithAnEventThatCannotBeSettled(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		r.publishes("t", "a", "1", "b", "2", "c", "3")
		r.Exec("CREATE TABLE of_app (seq BIGINT UNSIGNED NOT NULL, FOREIGN KEY (seq) REFERENCES p_event_outbox (seq))")
		r.Exec("INSERT INTO of_app SELECT seq FROM p_event_outbox WHERE id = '2'")
		wantsLeft(t, r.passes(r.forwarder(forward.Options{})), `event "2" of topic t with key "b"`, "cannot be deleted")
		if n := r.waits(); n != 1 {
			t.Errorf("%d events are left; want 1", n)
		}
		if tries := r.broker.tries("2"); tries != 1 {
			t.Errorf("it was published %d times", tries)
		}
	})
}

// A pass ends where a forwarder that seems to live has the shards, and says whose they are.
func TestAPassLeavesShardsThatAreAnothers(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		r.publishes("t", "k", "1")
		r.Exec("UPDATE p_event_shard SET token = token + 1, forwarder = 'another', allocated_until = UTC_TIMESTAMP(6) + INTERVAL 1 HOUR")
		wantsLeft(t, r.passes(r.forwarder(forward.Options{Lease: 2 * time.Second})), "another")
		if n := r.waits(); n != 1 {
			t.Errorf("%d events are left; want 1", n)
		}
	})
}

// A pass that comes nowhere, since the server takes no writes, ends.
func TestAPassEndsWhereItMayNotWrite(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.Accounts)
		r.publishes("t", "k", "1")
		f := r.forwarder(forward.Options{Lease: 2 * time.Second})
		f.OnPool(r.As("analyst", time.Time{}))
		if err := r.passes(f); err == nil {
			t.Error("the pass says that all is well")
		}
	})
}

// ofTopic are the ids of a topic that the broker has acknowledged.
func (r *testRig) ofTopic(topic string) (ids []string) {
	r.broker.mu.Lock()
	defer r.broker.mu.Unlock()
	for _, m := range r.broker.got {
		if m.Topic == topic {
			ids = append(ids, m.ID)
		}
	}
	return ids
}
