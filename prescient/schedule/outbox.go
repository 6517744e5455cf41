package schedule

import (
	"context"
	"slices"
	"time"

	"prescient/prescient"
	"prescient/prescient/event"
	"prescient/prescient/internal/literal"
)

// ofEvents is the payload of a schedule as a timer's call reads it. The server copies a long one into the outbox.
const ofEvents payloads = "IF(topic = '' OR LENGTH(payload) > 4096, NULL, payload), IF(topic = '', NULL, LENGTH(payload))"

// sent is an event of a schedule.
type sent struct {
	event.Event
	// copied says that the payload is the schedule's, which the server copies.
	copied bool
}

func eventOf(one Stored, at time.Time, tag string) sent {
	return sent{event.Event{ID: idOf(one.ID, tag), Topic: one.Topic, Key: one.ID, GeneratedAt: at, Payload: one.Payload}, one.size > MaxShort}
}

// send puts events into the outbox, those of one key in their order.
func (s *Schedules) send(ctx context.Context, db prescient.DB, events []sent) error {
	var whole []event.Event
	var copied []sent
	for _, e := range events {
		if e.copied {
			copied = append(copied, e)
		} else {
			whole = append(whole, e.Event)
		}
	}
	if err := s.events.Publish(ctx, db, whole...); err != nil {
		return err
	}
	for some := range slices.Chunk(copied, copiedAtATime) {
		if err := s.tables.Exec(ctx, db, "putting events into the outbox", "schedule/event_copied", "{rows}", copiedRows(some)); err != nil {
			return err
		}
	}
	if len(copied) > 0 {
		s.events.Took()
	}
	return nil
}

// copiedAtATime is how many events a statement has whose payloads are copied: each is a SELECT of it.
const copiedAtATime = 200

// copiedRows are rows for schedule/event_copied.
func copiedRows(events []sent) string {
	var rows []byte
	for n, e := range events {
		if n == 0 {
			rows = append(rows, "SELECT "...)
		} else {
			rows = append(rows, " UNION ALL SELECT "...)
		}
		rows = append(literal.AppendInt(rows, int64(n)), " AS n,"...)
		rows = append(literal.AppendInt(rows, int64(event.ShardOf(e.Key))), " AS shard,"...)
		rows = append(literal.AppendText(rows, e.ID), " AS id,"...)
		rows = append(literal.AppendText(rows, e.Key), " AS event_key,"...)
		rows = append(literal.AppendMicro(rows, e.GeneratedAt), " AS generated_at"...)
	}
	return string(rows)
}
