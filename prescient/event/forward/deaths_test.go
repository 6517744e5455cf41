package forward_test

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"prescient/prescient/event"
	"prescient/prescient/event/broker"
	"prescient/prescient/event/forward"
	"prescient/prescient/internal/rig"
)

// steps are the statements of a forwarder, by what they have in them, and the publication.
var steps = map[string]string{
	"present": "INSERT INTO p_event_forwarder", "shards": "AS forwarders", "take": "_event_shard SET token = token +", "waiting": "GROUP BY shard",
	"read": "AS bytes", "payload": "SELECT payload", "begin": "BEGIN", "fence": "SELECT shard, UTC_TIMESTAMP", "set aside": "INSERT INTO p_event_set_aside",
	"keep": "INSERT INTO p_event_published", "delete": "DELETE one", "count": "INSERT INTO p_event_count", "commit": "COMMIT", "publish": "publish",
}

// at is a moment at which a forwarder dies or freezes: before or after the nth time of a step.
type at struct {
	step  string
	after bool
	nth   int
}

// fate is what becomes of a forwarder at a moment: it calls here before and after each step, and goes on where that returns nil.
type fate struct {
	at
	mu    sync.Mutex
	seen  int
	met   chan struct{} // closed then
	freed chan struct{} // that it goes on
	dies  bool
}

var errDead = errors.New("this forwarder is dead")

func (f *fate) meets(statement string, after bool) error {
	f.mu.Lock()
	if strings.Contains(statement, steps[f.step]) && after == f.after {
		if f.seen++; f.seen == f.nth {
			close(f.met)
		}
	}
	is := f.seen >= f.nth
	f.mu.Unlock()
	switch {
	case !is:
		return nil
	case f.dies:
		return driver.ErrBadConn
	}
	<-f.freed
	return nil
}

// throughFate is a broker that a forwarder with a fate publishes to.
type throughFate struct {
	*fakeBroker
	fate *fate
}

func (b throughFate) Publish(ctx context.Context, m broker.Message) error {
	if err := b.fate.meets("publish", false); err != nil {
		return errDead
	}
	err := b.fakeBroker.Publish(ctx, m)
	if b.fate.meets("publish", true) != nil {
		return errDead
	}
	return err
}

// A forwarder dies, or freezes for longer than its lease, before or after any of its steps; another one takes over. Nothing is lost, what
// was rolled back is not published, each key's events are in order, and each is counted once.
func TestNothingIsLostWhereAForwarderDiesOrFreezesBetweenAnyTwoSteps(t *testing.T) {
	t.Parallel()
	type ordeal struct {
		at
		dies bool
	}
	var all []ordeal
	for step := range steps {
		for _, after := range []bool{false, true} {
			for _, nth := range []int{1, 3} {
				if nth > 1 && (step == "shards" || step == "take" || step == "present") {
					continue // more of them come with the next third of the lease
				}
				all = append(all, ordeal{at{step, after, nth}, true})
				if nth == 1 { // in the middle of a transaction it is three seconds until the server ends it
					all = append(all, ordeal{at{step, after, nth}, false})
				}
			}
		}
	}
	// It mostly waits for leases and transactions to end, so that several installations meet their share of it beside each other.
	const shares = 6
	for share := range shares {
		t.Run(fmt.Sprint("share ", share), func(t *testing.T) {
			eachServer(t, func(t *testing.T, r *testRig) {
				for i := share; i < len(all) && !t.Failed(); i += shares {
					name := fmt.Sprintf("%s %+v, dies %t", r.D.Flavour, all[i].at, all[i].dies)
					r.survives(name, &fate{at: all[i].at, met: make(chan struct{}), freed: make(chan struct{}), dies: all[i].dies})
				}
			})
		})
	}
}

// survives has a forwarder meet its fate, and another one end what it began.
func (r *testRig) survives(name string, f *fate) {
	r.T.Helper()
	for _, table := range []string{"outbox", "set_aside", "published", "count", "forwarder", "topic"} {
		r.Exec("DELETE FROM p_event_" + table)
	}
	r.Exec("UPDATE p_event_shard SET allocated_until = '2000-01-01'")
	r.broker = &fakeBroker{answer: func(m broker.Message) error {
		if strings.HasPrefix(m.ID, "bad") {
			return broker.Refused(errors.New("bad"))
		}
		return nil
	}}
	const keys, each = 6, 8
	for i := range each {
		var events []event.Event
		for k := range keys {
			events = append(events, event.Event{ID: fmt.Sprintf("%d-%d", k, i), Topic: "t", Key: fmt.Sprint(k), Payload: make([]byte, i*1000)})
		}
		events = append(events, event.Event{ID: fmt.Sprintf("bad-%d", i), Topic: "t", Key: "bad"})
		r.Must(r.outbox.Publish(r.T.Context(), r.App, events...))
	}

	hooks := &rig.Hooks{}
	hooks.OnStatement(func(statement string) error { return f.meets(statement, false) })
	hooks.OnAnswer(func(statement string) error { return f.meets(statement, true) })
	first, err := forward.New(r.T.Context(), r.As("worker", time.Time{}), forward.Options{Prefix: "p_", Dialect: r.Setting, Keep: true,
		Routes: []forward.Route{{Topics: "*", Broker: throughFate{r.broker, f}}}, StopGrace: time.Millisecond, Concurrency: 4})
	r.Must(err)
	first.OnPool(r.HookedPool(time.Time{}, hooks))
	ctx, kill := context.WithCancel(context.Background())
	defer kill()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = first.Run(ctx) // what it leaves is what is looked at
	}()
	select {
	case <-f.met:
	case <-time.After(time.Minute):
		r.T.Fatalf("%s: the step never came", name)
	}
	if f.dies {
		kill()
		<-ended
	}
	// Its lease is over by the database's clock.
	r.Exec("UPDATE p_event_shard SET allocated_until = UTC_TIMESTAMP(6) - INTERVAL 1 SECOND")
	r.Exec("DELETE FROM p_event_forwarder")
	second := r.forwarder(forward.Options{Keep: true})
	done := make(chan error, 1)
	go func() { done <- second.RunUntilEmpty(context.Background()) }()
	if !f.dies {
		// The frozen one may have rows locked: it goes on before the other has ended.
		r.Eventually("the other forwarder has taken the shards", func() bool {
			return r.Count("SELECT COUNT(*) FROM p_event_shard WHERE allocated_until > UTC_TIMESTAMP(6)") == event.Shards
		})
		close(f.freed)
		kill()
		<-ended
	}
	r.Must(<-done)
	r.judge(name, keys, each)
}

// judge looks at what came of it.
func (r *testRig) judge(name string, keys, each int) {
	r.T.Helper()
	for k := range keys {
		seen := make(map[string]bool)
		var firsts []string
		for _, id := range r.broker.ids(fmt.Sprint(k)) {
			if !seen[id] {
				seen[id], firsts = true, append(firsts, id)
			}
		}
		var want []string
		for i := range each {
			want = append(want, fmt.Sprintf("%d-%d", k, i))
		}
		if fmt.Sprint(firsts) != fmt.Sprint(want) {
			r.T.Errorf("%s: key %d was published as %q; want %q", name, k, firsts, want)
		}
	}
	for what, want := range map[string]int{"SELECT COALESCE(SUM(published), 0) FROM p_event_count": keys * each, "SELECT COALESCE(SUM(set_aside), 0) FROM p_event_count": each,
		"SELECT COUNT(*) FROM p_event_set_aside": each, "SELECT COUNT(*) FROM p_event_outbox": 0, "SELECT COUNT(DISTINCT id) FROM p_event_published": keys * each,
		"SELECT COUNT(*) FROM p_event_published": keys * each} {
		if n := r.Count(what); n != want {
			r.T.Errorf("%s: %s is %d; want %d", name, what, n, want)
		}
	}
}
