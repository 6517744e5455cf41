package acceptance

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/doctor"
	"prescient/prescient/event"
	"prescient/prescient/event/broker"
	"prescient/prescient/event/forward"
	"prescient/prescient/internal/rig"
	"prescient/prescient/schedule"
	"prescient/prescient/worker"
	text "prescient/sql"
)

// told is a broker that keeps what it was told.
type told struct {
	mu  sync.Mutex
	got []broker.Message
	err error
}

func (b *told) Publish(_ context.Context, m broker.Message) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.err == nil {
		b.got = append(b.got, m)
	}
	return b.err
}

func (b *told) Close() error { return nil }

func (r *testRig) forwarder(o *event.Outbox, b broker.Broker) *forward.Forwarder {
	r.T.Helper()
	f, err := forward.New(r.T.Context(), r.As("worker", time.Time{}), forward.Options{Prefix: "p_", Dialect: r.Setting, Taken: o.Taken(),
		Routes: []forward.Route{{Topics: "*", Broker: b}}})
	r.Must(err)
	return f
}

// A schedule's events and those of a check's answer go out by the same door, each once.
func TestEventsOfSchedulesAndChecksArePublished(t *testing.T) {
	besideOthers(t, func(t *testing.T, r *testRig) {
		s := schedule.New(r.Client)
		outbox := s.Outbox()
		registry := prescient.NewRegistry()
		r.Must(s.Register(registry))
		fails := true
		r.Must(outbox.Register(registry, "late", func(_ context.Context, job prescient.FutureJob) (*time.Time, []event.Event, error) {
			events := []event.Event{{Topic: "orders.late", Payload: []byte(`{"order":42}`)}, {Topic: "orders.late", Key: "other"}}
			if fails {
				fails = false
				return nil, events, errors.New("not now")
			}
			return nil, events, nil
		}, prescient.Guards{}))
		for _, id := range []string{"short", "long"} {
			payload := make([]byte, map[string]int{"short": 10, "long": 5000}[id])
			_, err := s.Create(t.Context(), r.AppAt(rig.At("10:00")), schedule.Schedule{ID: id, Crontabs: []string{"0 * * * *"}, Topic: "tick", Payload: payload})
			r.Must(err)
		}
		r.Insert(rig.At("10:00"), prescient.NewJob{Entity: rig.Order("42"), JobExec: "late", DueAt: rig.At("11:00")})
		key := prescient.KeyOf(rig.Order("42"), "late", "")
		r.RunAt(rig.At("11:00:01"), registry, worker.Options{})
		if n := r.Count("SELECT COUNT(*) FROM p_event_outbox"); n != 2 {
			t.Fatalf("%d events before the check has answered; want those of the schedules", n)
		}
		r.RunAt(rig.At("11:15:01"), registry, worker.Options{})
		b := &told{}
		r.Must(r.forwarder(outbox, b).RunUntilEmpty(t.Context()))
		var got []string
		for _, m := range b.got {
			got = append(got, fmt.Sprintf("%s %s %s %d %s", m.ID, m.Topic, m.Key, len(m.Body), m.ContentType))
		}
		slices.Sort(got)
		at := rig.At("11:00").Unix()
		id := fmt.Sprintf("%x-%d-%s", key[:], at+900, strconv.FormatUint(r.History()[0].Revision, 36)) // of the row, and of its slot
		want := []string{id + " orders.late order/42 12 application/json", id + "-2 orders.late other 0 ",
			fmt.Sprintf("long-%d tick long 5000 application/octet-stream", at), fmt.Sprintf("short-%d tick short 10 application/octet-stream", at)}
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("published\n%q\nwant\n%q", got, want)
		}
	})
}

func TestADoctorNamesEventsThatAreNotPublished(t *testing.T) {
	besideOthers(t, func(t *testing.T, r *testRig) {
		outbox := event.New(r.Client)
		now := time.Now()
		examine := func(role string) []doctor.Finding {
			o := doctor.Options{Prefix: "p_", Dialect: r.Setting}
			found, err := doctor.Examine(t.Context(), r.As(role, time.Time{}), o)
			r.Must(err)
			return found
		}
		wantFound(t, r.examine(now, doctor.Options{}), "events", doctor.SeverityOK)
		r.Must(outbox.Publish(t.Context(), r.App, event.Event{ID: "1", Topic: "t", Key: "k"}))
		wantFound(t, examine("owner"), "events", doctor.SeverityOK)
		r.Exec("UPDATE p_event_outbox SET inserted_at = inserted_at - INTERVAL 10 MINUTE")
		for _, role := range []string{"worker", "owner", "operator"} {
			wantFound(t, examine(role), "events.old", doctor.SeverityBad, "1 event waits", "nobody publishes any")
		}
		r.Exec("INSERT INTO p_event_topic VALUES ('t', UTC_TIMESTAMP(6), UTC_TIMESTAMP(6), '1', 'connection refused')")
		wantFound(t, examine("owner"), "events.failing", doctor.SeverityBad, "topic t", `"1"`, "connection refused")
		b := &told{err: broker.Refused(errors.New("too large"))}
		r.Must(r.forwarder(outbox, b).RunUntilEmpty(t.Context()))
		found := examine("operator")
		wantFound(t, found, "events.refused", doctor.SeverityWarn, `"1"`)
		list, err := outbox.SetAside(t.Context(), r.As("operator", time.Time{}), event.SetAsideFilter{Topic: "t"})
		r.Must(err)
		if len(list) != 1 || list[0].ID != "1" || list[0].Key != "k" {
			t.Fatalf("set aside: %+v", list)
		}
		n, err := outbox.Resend(t.Context(), r.As("operator", time.Time{}), list[0].Seq, 4711)
		if err != nil || n != 1 {
			t.Errorf("resent %d, %v", n, err)
		}
		b.err = nil
		r.Must(r.forwarder(outbox, b).RunUntilEmpty(t.Context()))
		if len(b.got) != 1 || b.got[0].ID != "1" {
			t.Errorf("published %+v", b.got)
		}
		wantFound(t, examine("owner"), "events", doctor.SeverityOK)
		if r.Dialect == text.Full { // a table of before there were bounds has no such CHECK
			r.Exec("ALTER TABLE p_event_outbox DROP CONSTRAINT p_event_outbox_in_shard")
		}
		r.Exec("INSERT INTO p_event_outbox (shard, id, topic, event_key, generated_at, inserted_at) VALUES (64, 'astray', 't', 'k', UTC_TIMESTAMP(6), UTC_TIMESTAMP(6))")
		wantFound(t, examine("operator"), "events.shard", doctor.SeverityBad, `"astray"`)
	})
}
