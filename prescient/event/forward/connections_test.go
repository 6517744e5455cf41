package forward_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"prescient/prescient/connect"
	"prescient/prescient/event"
	"prescient/prescient/event/broker"
	"prescient/prescient/event/forward"
	"prescient/prescient/internal/rig"
)

// Each topic has trouble of its own to note, all at the same time.
func TestABrokerThatIsDownForHundredsOfTopicsTakesFewConnections(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.Sessions)
		const topics = 300
		var some []event.Event
		for i := range topics {
			for n := range 3 {
				some = append(some, event.Event{ID: fmt.Sprintf("e-%d-%d", i, n), Topic: fmt.Sprintf("t%03d", i), Key: fmt.Sprintf("k%d", n)})
			}
		}
		r.Must(r.outbox.Publish(t.Context(), r.App, some...))
		var together sync.WaitGroup
		together.Add(1)
		r.broker.answers(func(broker.Message) error { together.Wait(); return errDown })
		// What a forwarder writes of topics waits for this, and so would all that are written one by one.
		tx, err := r.Root.Begin()
		r.Must(err)
		defer func() { _ = tx.Rollback() }()
		_, err = tx.Exec("INSERT INTO p_event_topic (topic, failing_since, failed_at, event_id, reason) VALUES ('t000', NOW(6), NOW(6), '', '')")
		r.Must(err)
		stop := r.start(forward.Options{Lease: 3 * time.Second, Concurrency: 4})
		r.Eventually("all topics are tried", func() bool { return r.broker.all() >= topics })
		together.Done()
		most := 0
		for end := time.Now().Add(5 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
			most = max(most, r.Sessions("user = ?", r.User("worker")))
		}
		if most > connect.DefaultConnections {
			t.Errorf("a forwarder has %d connections; want %d at most", most, connect.DefaultConnections)
		}
		if lives := r.Count("SELECT COUNT(*) FROM p_event_shard WHERE allocated_until > UTC_TIMESTAMP(6)"); lives != 64 {
			t.Errorf("%d leases live; want all 64", lives)
		}
		r.Must(tx.Rollback())
		r.Eventually("every topic is known to fail", func() bool { return r.Count("SELECT COUNT(*) FROM p_event_topic") == topics })
		r.broker.answers(func(broker.Message) error { return nil })
		r.untilEmpty()
		r.Eventually("no topic fails any more", func() bool { return r.Count("SELECT COUNT(*) FROM p_event_topic") == 0 })
		stop()
	})
}
