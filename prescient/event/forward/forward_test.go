package forward_test

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"prescient/prescient/event"
	"prescient/prescient/event/broker"
	"prescient/prescient/event/forward"
)

func TestWhatCommitsIsPublishedOnceAndInOrderOfItsKey(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		r.start(forward.Options{})
		const keys, each = 40, 25
		var apps sync.WaitGroup
		for k := range keys {
			apps.Go(func() {
				for i := range each {
					tx, err := r.App.BeginTx(context.Background(), nil)
					if err != nil {
						t.Error(err)
						return
					}
					if err := r.outbox.Publish(context.Background(), tx, event.Event{ID: fmt.Sprintf("%d-%d", k, i), Topic: "t", Key: fmt.Sprint(k)}); err != nil {
						t.Error(err)
					}
					end := tx.Commit
					if i%5 == 4 {
						end = tx.Rollback
					}
					if err := end(); err != nil {
						t.Error(err)
					}
				}
			})
		}
		apps.Wait()
		r.untilEmpty()
		for k := range keys {
			var want []string
			for i := range each {
				if i%5 != 4 {
					want = append(want, fmt.Sprintf("%d-%d", k, i))
				}
			}
			wantIDs(t, r.broker.ids(fmt.Sprint(k)), want...)
		}
		if n := r.Count("SELECT SUM(published) FROM p_event_count WHERE topic = 't'"); n != keys*each*4/5 {
			t.Errorf("%d events are counted as published; want %d", n, keys*each*4/5)
		}
	})
}

func TestATransactionThatCommitsLateIsPublished(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		r.start(forward.Options{})
		late, err := r.App.BeginTx(t.Context(), nil)
		r.Must(err)
		r.Must(r.outbox.Publish(t.Context(), late, event.Event{ID: "late", Topic: "t", Key: "k"}))
		// The same shard, and higher numbers.
		r.publishes("t", "k", "early")
		r.Eventually("the other is published", func() bool { return len(r.broker.ids("k")) == 1 })
		r.Must(late.Commit())
		r.untilEmpty()
		wantIDs(t, r.broker.ids("k"), "early", "late")
	})
}

func TestPayloadsArriveByteForByte(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		payloads := map[string][]byte{"none": nil, "empty": {}, "bytes": {0, 0xff, '\''}, "page": bytes.Repeat([]byte{7}, 4096), "longer": bytes.Repeat([]byte("\xfe8"), 3000),
			"longest": bytes.Repeat([]byte("x"), event.MaxPayload)}
		for id, payload := range payloads {
			r.Must(r.outbox.Publish(t.Context(), r.App, event.Event{ID: id, Topic: "t", Key: id, Payload: payload}))
		}
		r.start(forward.Options{})
		r.untilEmpty()
		if len(r.broker.got) != len(payloads) {
			t.Fatalf("%d events were published; want %d", len(r.broker.got), len(payloads))
		}
		for _, m := range r.broker.got {
			if !bytes.Equal(m.Body, payloads[m.ID]) {
				t.Errorf("%s has %d bytes; want %d", m.ID, len(m.Body), len(payloads[m.ID]))
			}
		}
	})
}

func TestATopicThatFailsHoldsUpNoOther(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		r.broker.answers(func(m broker.Message) error {
			if m.Topic == "down" {
				return errDown
			}
			return nil
		})
		r.start(forward.Options{})
		for i := range 600 { // more than are read at once
			r.publishes("down", "k", fmt.Sprintf("d%d", i))
		}
		r.publishes("up", "k", "u1", "k", "u2")
		r.Eventually("the other topic goes on", func() bool { return len(r.broker.ids("k")) == 2 })
		r.Eventually("the trouble is noted", func() bool {
			return r.Count("SELECT COUNT(*) FROM p_event_topic WHERE topic = 'down' AND reason LIKE '%the broker is down%'") == 1
		})
		r.broker.answers(func(broker.Message) error { return nil })
		r.untilEmpty()
		want := []string{"u1", "u2"}
		for i := range 600 {
			want = append(want, fmt.Sprintf("d%d", i))
		}
		wantIDs(t, r.broker.ids("k"), want...)
		r.Eventually("the trouble is over", func() bool { return r.Count("SELECT COUNT(*) FROM p_event_topic") == 0 })
	})
}

func TestWhatIsRefusedForGoodIsSetAsideOrHeld(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		r.broker.answers(func(m broker.Message) error {
			if strings.HasPrefix(m.ID, "bad") {
				return broker.Refused(fmt.Errorf("%s is too large", m.ID))
			}
			return nil
		})
		r.publishes("aside", "k", "bad-1", "k", "good-1")
		r.publishes("hold", "k", "bad-2", "k", "good-2", "other", "good-3")
		r.start(forward.Options{Routes: []forward.Route{{Topics: "ho*", Broker: r.broker, Hold: true}, {Topics: "*", Broker: r.broker}}})
		r.Eventually("what is not held goes on", func() bool { return r.waits() == 2 && r.broker.tries("bad-2") >= 2 })
		ids := r.broker.ids("")
		slices.Sort(ids)
		wantIDs(t, ids, "good-1", "good-3")
		if n := r.Count("SELECT COUNT(*) FROM p_event_set_aside WHERE id = 'bad-1' AND topic = 'aside' AND event_key = 'k' AND reason LIKE '%bad-1 is too large%'"); n != 1 {
			t.Errorf("%d events were set aside; want bad-1", n)
		}
		if n := r.Count("SELECT SUM(set_aside) FROM p_event_count"); n != 1 {
			t.Errorf("%d events are counted as set aside; want 1", n)
		}
		r.broker.answers(func(broker.Message) error { return nil })
		r.untilEmpty()
		wantIDs(t, r.broker.ids("k")[1:], "bad-2", "good-2")
	})
}

func TestAForwarderWhoseShardsWereTakenDeletesNothing(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		sent, goOn := make(chan struct{}, 10), make(chan struct{})
		r.broker.answers(func(broker.Message) error {
			sent <- struct{}{}
			<-goOn
			return nil
		})
		r.publishes("t", "k", "1", "k", "2")
		stop := r.start(forward.Options{Lease: time.Hour})
		<-sent
		r.Exec("UPDATE p_event_shard SET token = token + 1, forwarder = 'another', allocated_until = UTC_TIMESTAMP(6) + INTERVAL 1 HOUR")
		close(goOn)
		r.Eventually("the forwarder sees that it has lost them", func() bool { return len(r.broker.ids("")) > 0 })
		stop()
		if n := r.waits(); n != 2 {
			t.Errorf("%d events are left; want both", n)
		}
		if n := r.Count("SELECT COUNT(*) FROM p_event_shard WHERE forwarder = 'another' AND allocated_until > UTC_TIMESTAMP(6)"); n != event.Shards {
			t.Errorf("%d leases of the other are left; want %d", n, event.Shards)
		}
	})
}

func TestForwardersShareTheShards(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		have := func(name string) int {
			return r.Count("SELECT COUNT(*) FROM p_event_shard WHERE forwarder LIKE ? AND allocated_until > UTC_TIMESTAMP(6)", name+" %")
		}
		r.start(forward.Options{Name: "a", Lease: 2 * time.Second})
		r.Eventually("the first has all", func() bool { return have("a") == event.Shards })
		stop := r.start(forward.Options{Name: "b", Lease: 2 * time.Second})
		r.Eventually("each has half", func() bool { return have("a") == event.Shards/2 && have("b") == event.Shards/2 })
		for i := range 200 {
			r.publishes("t", fmt.Sprint(i), fmt.Sprint(i))
		}
		r.untilEmpty()
		stop()
		r.Eventually("the first takes those back", func() bool { return have("a") == event.Shards })
		if n := len(r.broker.ids("")); n != 200 {
			t.Errorf("%d publications; want 200", n)
		}
	})
}

func TestUntilEmptyEndsWithTheOutbox(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		for i := range 1000 {
			r.publishes("t", fmt.Sprint(i%300), fmt.Sprint(i))
		}
		r.Must(r.forwarder(forward.Options{Keep: true}).RunUntilEmpty(t.Context()))
		if n := r.waits(); n != 0 {
			t.Errorf("%d events are left", n)
		}
		if n := r.Count("SELECT COUNT(DISTINCT id) FROM p_event_published"); n != 1000 {
			t.Errorf("%d events are kept; want 1000", n)
		}
		if n := r.Count("SELECT COUNT(*) FROM p_event_shard WHERE allocated_until > UTC_TIMESTAMP(6)"); n != 0 {
			t.Errorf("%d leases were not given back", n)
		}
		if n := r.Count("SELECT COUNT(*) FROM p_event_forwarder"); n != 0 {
			t.Errorf("%d forwarders count as alive", n)
		}
	})
}
