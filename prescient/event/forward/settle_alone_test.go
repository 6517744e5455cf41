package forward_test

import (
	"database/sql"
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

// What keeps one event in the outbox, or out of another table, keeps no other: that one is named, and goes on when it can, without being
// published again.
func TestAnEventThatCannotBeSettledCostsItselfAlone(t *testing.T) {
	trigger := func(table string) string {
		return "CREATE TRIGGER p_refuses BEFORE INSERT ON " + table + " FOR EACH ROW BEGIN IF NEW.id = 't-7' THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'not this one'; END IF; END"
	}
	for name, test := range map[string]struct {
		refuse, allow []string
		keep, aside   bool
	}{
		"a foreign key keeps it": {
			refuse: []string{"CREATE TABLE of_app (seq BIGINT UNSIGNED NOT NULL, FOREIGN KEY (seq) REFERENCES p_event_outbox (seq))",
				"INSERT INTO of_app SELECT seq FROM p_event_outbox WHERE id = 't-7'"},
			allow: []string{"DROP TABLE of_app"},
		},
		"it cannot be kept":      {refuse: []string{trigger("p_event_published")}, allow: []string{"DROP TRIGGER p_refuses"}, keep: true},
		"it cannot be set aside": {refuse: []string{trigger("p_event_set_aside")}, allow: []string{"DROP TRIGGER p_refuses"}, aside: true},
	} {
		t.Run(name, func(t *testing.T) {
			eachServer(t, func(t *testing.T, r *testRig) {
				if name != "a foreign key keeps it" {
					r.Needs(t, rig.Triggers)
				}
				if test.aside {
					r.broker.answers(func(m broker.Message) error {
						if strings.HasSuffix(m.ID, "7") {
							return broker.Refused(errors.New("too large"))
						}
						return nil
					})
				}
				const n = 300
				some := make([]event.Event, n)
				for i := range some {
					some[i] = event.Event{ID: fmt.Sprintf("t-%d", i), Topic: "t", Key: fmt.Sprint(i)}
				}
				r.Must(r.outbox.Publish(t.Context(), r.App, some...))
				for _, statement := range test.refuse {
					r.Exec(statement)
				}
				stop := r.start(forward.Options{Keep: test.keep})
				r.Eventually("the others are gone", func() bool { return r.waits() == 1 })
				r.Eventually("it is named", func() bool {
					return r.Count("SELECT COUNT(*) FROM p_event_topic WHERE topic = 't' AND event_id = 't-7' AND reason LIKE '%cannot be deleted%'") == 1
				})
				r.publishes("t", "7", "after")
				r.Eventually("its key goes on", func() bool { return len(r.broker.ids("7")) > 0 && r.waits() == 1 })
				for _, statement := range test.allow {
					r.Exec(statement)
				}
				r.untilEmpty()
				r.Eventually("it is named no more", func() bool { return r.Count("SELECT COUNT(*) FROM p_event_topic") == 0 })
				stop()
				if tries := r.broker.tries("t-7"); tries != 1 {
					t.Errorf("it was published %d times", tries)
				}
				if kept := r.Count("SELECT COUNT(*) FROM p_event_published"); test.keep && kept != n+1 {
					t.Errorf("%d events are kept; want %d", kept, n+1)
				}
				if aside := r.Count("SELECT COUNT(*) FROM p_event_set_aside"); test.aside && aside != n/10 {
					t.Errorf("%d events are set aside; want %d", aside, n/10)
				}
				if counted := r.Count("SELECT SUM(published + set_aside) FROM p_event_count"); counted != n+1 {
					t.Errorf("%d events are counted; want %d", counted, n+1)
				}
			})
		})
	}
}

// Who may read the outbox can lock it, as by FOR SHARE, and can lock what is counted: other events go on meanwhile, and these afterwards.
func TestEventsThatSomebodyHasLockedCostThemselvesAlone(t *testing.T) {
	for name, lock := range map[string]string{
		"the events":             "SELECT COUNT(*) FROM (SELECT seq FROM p_event_outbox WHERE topic = 'locked' LOCK IN SHARE MODE) one",
		"the count of the topic": "SELECT COUNT(*) FROM (SELECT topic FROM p_event_count WHERE topic = 'locked' LOCK IN SHARE MODE) one",
	} {
		t.Run(name, func(t *testing.T) {
			eachServer(t, func(t *testing.T, r *testRig) {
				const n = 300
				some := make([]event.Event, n)
				for i := range some {
					some[i] = event.Event{ID: fmt.Sprintf("l-%d", i), Topic: "locked", Key: fmt.Sprint(i)}
				}
				r.publishes("locked", "first", "first") // which leaves a count
				stop := r.start(forward.Options{})
				r.untilEmpty()
				stop()
				r.Must(r.outbox.Publish(t.Context(), r.App, some...))
				tx, err := r.As("analyst", time.Time{}).BeginTx(t.Context(), &sql.TxOptions{Isolation: sql.LevelReadCommitted})
				r.Must(err)
				defer tx.Rollback()
				var locked int
				r.Must(tx.QueryRow(lock).Scan(&locked))
				stop = r.start(forward.Options{})
				r.Eventually("all are published", func() bool { return r.broker.all() == n+1 })
				began := time.Now()
				r.publishes("t", "7", "after")
				r.Eventually("another event is over", func() bool { return r.waits() == n })
				if took := time.Since(began); took > 15*time.Second {
					t.Errorf("another event was over after %s", took)
				}
				r.Must(tx.Rollback())
				r.untilEmpty()
				r.Eventually("none is named", func() bool { return r.Count("SELECT COUNT(*) FROM p_event_topic") == 0 })
				stop()
				if tries := r.broker.tries("l-7"); tries != 1 {
					t.Errorf("an event was published %d times", tries)
				}
				if counted := r.Count("SELECT SUM(published) FROM p_event_count"); counted != n+2 {
					t.Errorf("%d events are counted; want %d", counted, n+2)
				}
			})
		})
	}
}

// What is kept apart since somebody has the count of its topic locked goes by halves once it can be counted: one that cannot be kept stays alone.
func TestAnEventThatCannotBeSettledIsFoundAmongThoseThatWereKeptApart(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.Triggers)
		const n = 50
		r.publishes("locked", "first", "first") // which leaves a count
		stop := r.start(forward.Options{})
		r.untilEmpty()
		stop()
		some := make([]event.Event, n)
		for i := range some {
			some[i] = event.Event{ID: fmt.Sprintf("l-%d", i), Topic: "locked", Key: fmt.Sprint(i)}
		}
		r.Must(r.outbox.Publish(t.Context(), r.App, some...))
		tx, err := r.As("analyst", time.Time{}).BeginTx(t.Context(), &sql.TxOptions{Isolation: sql.LevelReadCommitted})
		r.Must(err)
		defer tx.Rollback()
		var locked int
		r.Must(tx.QueryRow("SELECT COUNT(*) FROM (SELECT topic FROM p_event_count WHERE topic = 'locked' LOCK IN SHARE MODE) one").Scan(&locked))
		stop = r.start(forward.Options{Keep: true})
		r.Eventually("they are kept apart", func() bool {
			return r.broker.all() == n+1 && r.Count("SELECT COUNT(*) FROM p_event_topic WHERE topic = 'locked' AND reason LIKE '%cannot be deleted%'") == 1
		})
		r.Exec("CREATE TRIGGER p_refuses BEFORE INSERT ON p_event_published FOR EACH ROW BEGIN IF NEW.id = 'l-7' THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'not this one'; END IF; END")
		r.Must(tx.Rollback())
		r.Eventually("the others are gone", func() bool { return r.waits() == 1 })
		r.Exec("DROP TRIGGER p_refuses")
		r.untilEmpty()
		stop()
		if tries := r.broker.tries("l-7"); tries != 1 {
			t.Errorf("it was published %d times", tries)
		}
	})
}

// A number of the outbox that stands among those that were set aside stops nothing: they have numbers of their own.
func TestANumberThatWasSetAsideMayComeAgain(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		r.broker.answers(func(m broker.Message) error { return broker.Refused(errors.New("too large")) })
		r.publishes("t", "a", "1", "a", "2", "b", "3")
		r.Exec(`INSERT INTO p_event_set_aside (seq, shard, id, topic, event_key, generated_at, inserted_at, refused_at, reason)
			SELECT seq, shard, 'before', topic, event_key, generated_at, inserted_at, inserted_at, 'r' FROM p_event_outbox`)
		stop := r.start(forward.Options{})
		r.untilEmpty()
		stop()
		if n := r.Count("SELECT COUNT(*) FROM p_event_set_aside WHERE seq < 9007199254740992 AND id <> 'before'"); n != 3 {
			t.Errorf("%d events were set aside under numbers of their own; want 3", n)
		}
	})
}

// Events of before there were bounds, or of tables without, take turns in memory by how long they are.
func TestLongPayloadsAreInMemoryByTheirBytes(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		r.withoutChecks("event_outbox", "payload_size")
		const each, most = 6 << 20, 16 << 20 / (6 << 20)
		var mu sync.Mutex
		goOn, under, seen := make(chan struct{}), 0, 0
		r.broker.answers(func(m broker.Message) error {
			mu.Lock()
			under++
			seen = max(seen, under)
			mu.Unlock()
			<-goOn
			mu.Lock()
			under--
			mu.Unlock()
			if len(m.Body) != each {
				return fmt.Errorf("%d bytes arrived", len(m.Body))
			}
			return nil
		})
		for i := range 6 {
			r.Exec("INSERT INTO p_event_outbox (shard, id, topic, event_key, generated_at, payload, inserted_at) VALUES (1, ?, 't', ?, UTC_TIMESTAMP(6), REPEAT('x', ?), UTC_TIMESTAMP(6))", i, i, each)
		}
		stop := r.start(forward.Options{})
		now := func() int { mu.Lock(); defer mu.Unlock(); return under }
		r.Eventually("some are under way", func() bool { return now() == most })
		for range 6 {
			goOn <- struct{}{}
		}
		r.untilEmpty()
		stop()
		if seen != most {
			t.Errorf("%d were in memory at a time; want %d", seen, most)
		}
	})
}

// Rows that no CHECK held are published where that can be, and stop nothing where it can't.
func TestRowsThatNoCheckHeldStopNothing(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		r.withoutChecks("event_outbox", "named", "payload_size", "in_shard", "dated")
		for i, values := range []string{"1, '', 't', 'k', '2026-11-25', NULL, '2026-11-25'", "1, 'e ', 't', 'k ', '2026-11-25', NULL, '2026-11-25'", "1, 'e', '', '', '2026-11-25', NULL, '2026-11-25'",
			"1, 'old', 't', 'k', '0001-01-01', NULL, '0001-01-01'", "1, 'long', 't', 'long', '2026-11-25', REPEAT('x', 9000000), '2026-11-25'", "64, 'strange', 't', 'k', '2026-11-25', NULL, '2026-11-25'",
			"255, 'strange', 't', 'k', '2026-11-25', NULL, '9999-12-31'"} {
			r.Exec("INSERT INTO p_event_outbox (shard, id, topic, event_key, generated_at, payload, inserted_at) VALUES (" + values + ")")
			r.publishes("t", fmt.Sprint(i), fmt.Sprint(i))
		}
		ctx := t.Context()
		done := make(chan error, 1)
		go func() { done <- r.forwarder(forward.Options{}).RunUntilEmpty(ctx) }()
		select {
		case err := <-done:
			r.Must(err)
		case <-time.After(time.Minute):
			t.Fatal("it does not end")
		}
		if n := r.Count("SELECT COUNT(*) FROM p_event_outbox WHERE shard < 64"); n != 0 {
			t.Errorf("%d events wait", n)
		}
		if n := len(r.broker.ids("")); n != 12 {
			t.Errorf("%d events were published; want 12", n)
		}
	})
}

// withoutChecks makes a table what it was before it had these CHECKs, or is in the dialect plain.
func (r *testRig) withoutChecks(table string, names ...string) {
	r.T.Helper()
	for _, name := range names {
		name = "p_" + table + "_" + name
		if r.Count("SELECT COUNT(*) FROM information_schema.table_constraints WHERE table_schema = DATABASE() AND constraint_name = ?", name) == 1 {
			r.Exec("ALTER TABLE p_" + table + " DROP CONSTRAINT " + name)
		}
	}
}
