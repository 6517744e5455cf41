package forward_test

import (
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/event"
	"prescient/prescient/event/broker"
	"prescient/prescient/event/forward"
)

const (
	traceOfCall  = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	traceOfEvent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b8-00"
)

// An event goes to its broker with the trace that it was put into the outbox in, whatever the format, also after it was set aside and
// resent, and is kept with it.
func TestAnEventGoesOutInItsTrace(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		var mu sync.Mutex
		told := make(map[string]int)
		refused := func(m broker.Message) error {
			if m.ID == "c" {
				return broker.Refused(errors.New("not this one"))
			}
			return nil
		}
		r.broker.answers(refused)
		ctx := prescient.InTrace(t.Context(), traceOfCall)
		r.Must(r.outbox.Publish(ctx, r.App, event.Event{ID: "a", Topic: "t", Key: "k"}, event.Event{ID: "b", Topic: "t", Key: "k", Trace: traceOfEvent}))
		r.Must(r.outbox.Publish(ctx, r.App, event.Event{ID: "c", Topic: "t", Key: "k"}))
		r.Must(r.outbox.Publish(t.Context(), r.App, event.Event{ID: "d", Topic: "t", Key: "k"}, event.Event{ID: "e", Topic: "t", Key: "k", Trace: traceOfEvent}))
		// By plain SQL anything can stand there, which is no trace, and holds nothing up.
		r.Exec("INSERT INTO p_event_outbox (shard, id, topic, event_key, generated_at, payload, inserted_at, trace) VALUES (?, 'f', 't', 'k', UTC_TIMESTAMP(6), NULL, UTC_TIMESTAMP(6), '00-no trace')", event.ShardOf("k"))
		r.start(forward.Options{Keep: true, Observer: &forward.Observer{Publishing: func(m broker.Message) func(error) {
			return func(err error) {
				mu.Lock()
				defer mu.Unlock()
				told[m.Trace]++
				if errors.Is(err, broker.ErrRefused) {
					told["refused"]++
				}
			}
		}}})
		r.untilEmpty()
		r.broker.answers(func(broker.Message) error { return nil })
		_, err := r.outbox.Resend(t.Context(), r.As("operator", time.Time{}), uint64(r.Count("SELECT seq FROM p_event_set_aside WHERE id = 'c'")))
		r.Must(err)
		r.Eventually("all is published", func() bool { return len(r.broker.ids("")) == 6 })
		r.untilEmpty()
		want := map[string]string{"a": traceOfCall, "b": traceOfEvent, "c": traceOfCall, "d": "", "e": traceOfEvent, "f": ""}
		for _, m := range r.broker.got {
			header := broker.Header{Name: "traceparent", Value: want[m.ID]}
			if m.Trace != want[m.ID] || (want[m.ID] != "") != slices.Contains(m.Headers, header) {
				t.Errorf("%s is in trace %q, with headers %v; want %q", m.ID, m.Trace, m.Headers, want[m.ID])
			}
			if kept := r.Count("SELECT COUNT(*) FROM p_event_published WHERE id = ? AND trace <=> NULLIF(?, '')", m.ID, want[m.ID]); kept != 1 && m.ID != "f" {
				t.Errorf("%s is kept %d times in its trace; want once", m.ID, kept)
			}
		}
		mu.Lock()
		defer mu.Unlock()
		if told[traceOfCall] != 3 || told[traceOfEvent] != 2 || told[""] != 2 || told["refused"] != 1 {
			t.Errorf("told of %v", told)
		}
	})
}
