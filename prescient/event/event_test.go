package event_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/event"
	"prescient/prescient/event/broker"
	"prescient/prescient/internal/rig"
	"prescient/prescient/internal/rig/app"
	"prescient/prescient/localserver/servertest"
)

func TestMain(m *testing.M) { servertest.Main(m) }

func TestAnEventThatIsNoneIsRefused(t *testing.T) {
	good := event.Event{ID: "i", Topic: "t", Key: "k"}
	for _, test := range []struct {
		name   string
		change func(e *event.Event)
		want   string
	}{
		{"good", func(*event.Event) {}, ""},
		{"as long as may be", func(e *event.Event) {
			e.ID, e.Topic, e.Key, e.Payload = strings.Repeat("ä", 160), strings.Repeat("t", 128), strings.Repeat("ä", 128), make([]byte, event.MaxPayload)
		}, ""},
		{"no id", func(e *event.Event) { e.ID = "" }, "id of an event is empty"},
		{"a long id", func(e *event.Event) { e.ID = strings.Repeat("x", 161) }, "at most 160"},
		{"an id that ends in a space", func(e *event.Event) { e.ID = "i " }, "begins or ends with a blank"},
		{"an id that begins in a blank", func(e *event.Event) { e.ID = " i" }, "begins or ends with a blank"},
		{"a key of two lines", func(e *event.Event) { e.Key = "k\nk" }, "control characters"},
		{"no key", func(e *event.Event) { e.Key = "" }, "key of an event is empty"},
		{"a key that is no text", func(e *event.Event) { e.Key = "\xff" }, "not valid UTF-8"},
		{"no topic", func(e *event.Event) { e.Topic = "" }, "1 to 128 letters"},
		{"a topic with a space", func(e *event.Event) { e.Topic = "a b" }, `"a b"`},
		{"a long payload", func(e *event.Event) { e.Payload = make([]byte, event.MaxPayload+1) }, "1048577 bytes; at most 1048576"},
		{"a trace", func(e *event.Event) { e.Trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01" }, ""},
		{"a trace that is none", func(e *event.Event) { e.Trace = "00-1-2-01" }, `trace "00-1-2-01" of event "i": a traceparent`},
		{"a strange year", func(e *event.Event) { e.GeneratedAt = time.Date(12026, 1, 1, 0, 0, 0, 0, time.UTC) }, "12026"},
	} {
		t.Run(test.name, func(t *testing.T) {
			e := good
			test.change(&e)
			err := e.Validate()
			if test.want == "" && err != nil || test.want != "" && (!errors.Is(err, prescient.ErrInvalid) || !strings.Contains(err.Error(), test.want)) {
				t.Errorf("got %v; want %q", err, test.want)
			}
		})
	}
}

func TestPublishCommitsWithTheTransaction(t *testing.T) {
	t.Parallel()
	servertest.Each(t, func(t *testing.T, d servertest.Database) {
		r := app.New(t, d, 15*time.Minute)
		outbox := event.New(r.Client)
		rows := func() int { return r.Count("SELECT COUNT(*) FROM p_event_outbox") }
		rig.EachHandle(t, r.App, func(h rig.Handle) {
			before := rows()
			r.Must(outbox.Publish(t.Context(), h.Db, event.Event{ID: "a", Topic: "t", Key: "k"}, event.Event{ID: "b", Topic: "t", Key: "k", Payload: []byte{}}))
			h.Done(t)
			if n := rows() - before; n != 2 {
				t.Errorf("%d events; want 2", n)
			}
		})
		// More than a statement holds, of which one is refused: nothing of it is written, though the transaction commits.
		many := make([]event.Event, 5)
		for i := range many {
			many[i] = event.Event{ID: fmt.Sprint(i), Topic: "t", Key: "k", Payload: make([]byte, 600<<10)}
		}
		before := rows()
		r.Must(outbox.Publish(t.Context(), r.App, many...))
		if n := rows() - before; n != len(many) {
			t.Errorf("%d events; want %d", n, len(many))
		}
		tx, err := r.App.BeginTx(t.Context(), nil)
		r.Must(err)
		bad := append(many[:4:4], event.Event{Topic: "t", Key: "k"})
		if err := outbox.Publish(t.Context(), tx, bad...); !errors.Is(err, prescient.ErrInvalid) {
			t.Errorf("got %v", err)
		}
		r.Must(tx.Commit())
		if n := rows() - before; n != len(many) {
			t.Errorf("%d events; want %d", n, len(many))
		}
	})
}

// Plain SQL from another language lands in the shard in which a forwarder looks for the key.
func TestPlainSQLFindsTheShard(t *testing.T) {
	t.Parallel()
	servertest.EachOfAFlavour(t, func(t *testing.T, d servertest.Database) {
		r := app.New(t, d, 15*time.Minute)
		r.Needs(t, rig.ColumnDefaults) // of place, on Vitess
		db := r.AppAs("app-sql", time.Time{})
		for i, key := range append(rig.Nasty(), rig.Numbered(100)...) {
			if (event.Event{ID: "i", Topic: "t", Key: key}).Validate() != nil {
				continue
			}
			_, err := db.Exec("INSERT INTO p_event_outbox (shard, id, topic, event_key, generated_at, payload, inserted_at) VALUES (CONV(LEFT(SHA2(?, 256), 2), 16, 10) MOD 64, ?, 't', ?, UTC_TIMESTAMP(6), NULL, UTC_TIMESTAMP(6))",
				key, fmt.Sprint(i), key)
			r.Must(err)
			if n := r.Count("SELECT shard FROM p_event_outbox WHERE id = ?", fmt.Sprint(i)); n != event.ShardOf(key) {
				t.Errorf("%q is in shard %d; want %d", key, n, event.ShardOf(key))
			}
		}
	})
}

func TestOnceIsFirstForOneTransactionThatCommits(t *testing.T) {
	t.Parallel()
	servertest.Each(t, func(t *testing.T, d servertest.Database) {
		r := app.New(t, d, 15*time.Minute)
		outbox := event.New(r.Client)
		once := func(tx prescient.DB, consumer string) bool {
			first, err := outbox.Once(t.Context(), tx, consumer, "id")
			r.Must(err)
			return first
		}
		begin := func() *sql.Tx {
			tx, err := r.App.BeginTx(t.Context(), nil)
			r.Must(err)
			return tx
		}
		tx := begin()
		if !once(tx, "mailer") || once(tx, "mailer") || !once(tx, "biller") {
			t.Error("the first is not known by its consumer")
		}
		r.Must(tx.Rollback())
		tx = begin()
		if !once(tx, "mailer") {
			t.Error("what was rolled back counts")
		}
		second := make(chan bool, 1)
		go func() {
			first, err := outbox.Once(context.Background(), r.App, "mailer", "id")
			if err != nil {
				t.Error(err)
			}
			second <- first
		}()
		r.WaitForLock("event_seen")
		r.Must(tx.Commit())
		if <-second {
			t.Error("two were first")
		}
		// The header of an id that has no ASCII is longer than an id may be.
		for i, want := range []bool{true, false} {
			first, err := outbox.Once(t.Context(), r.App, "mailer", broker.Printable(strings.Repeat("ä", event.MaxID)))
			if r.Must(err); first != want {
				t.Errorf("time %d: first is %t", i+1, first)
			}
		}
		if _, err := outbox.Once(t.Context(), r.App, "", "id"); !errors.Is(err, prescient.ErrInvalid) {
			t.Errorf("got %v", err)
		}
	})
}
