package schedule

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/literal"
)

// maxCarried is how many bytes a payload has at most that a call reads and sends with its events. The server copies a longer one.
const maxCarried = 4 << 10

// ofEvents is the payload of a schedule as a timer's call reads it, and how many bytes it has.
const ofEvents = "IF(topic = '' OR LENGTH(payload) > 4096, NULL, payload), IF(topic = '', NULL, LENGTH(payload))"

// event is a row of event_outbox.
type event struct {
	id, topic, key string
	at             time.Time
	payload        []byte
	// copied says that the payload is the schedule's, which the server copies.
	copied bool
}

func eventOf(one Stored, at time.Time, tag string) event {
	return event{id: idOf(one.ID, tag), topic: one.Topic, key: one.ID, at: at, payload: one.Payload, copied: one.size > maxCarried}
}

// Shards is how many parts event_outbox has; the events of one key are in one of them.
const Shards = 64

func shardOf(key string) int { return int(sha256.Sum256([]byte(key))[0]) % Shards }

// send puts events into the outbox, those of one key in their order.
func (s *Schedules) send(ctx context.Context, db prescient.DB, events []event) error {
	var rows []byte
	copied := slices.DeleteFunc(slices.Clone(events), func(e event) bool { return !e.copied })
	events = slices.DeleteFunc(slices.Clone(events), func(e event) bool { return e.copied })
	for i, e := range events {
		if len(rows) > 0 {
			rows = append(rows, ',')
		}
		rows = literal.AppendInt(append(rows, '('), int64(shardOf(e.key)))
		rows = literal.AppendText(append(rows, ','), e.id)
		rows = literal.AppendText(append(rows, ','), e.topic)
		rows = literal.AppendText(append(rows, ','), e.key)
		rows = literal.AppendMicro(append(rows, ','), e.at)
		rows = appendBytes(append(rows, ','), e.payload)
		rows = append(rows, ",UTC_TIMESTAMP(6))"...)
		if i < len(events)-1 && len(rows) < literal.BulkBytes {
			continue
		}
		if _, err := db.ExecContext(ctx, s.tables.Fill("schedule/event", "{rows}", string(rows))); err != nil {
			return fmt.Errorf("putting events into the outbox: %w", err)
		}
		rows = rows[:0]
	}
	for some := range slices.Chunk(copied, copiedAtATime) {
		if _, err := db.ExecContext(ctx, s.tables.Fill("schedule/event_copied", "{rows}", copiedRows(some))); err != nil {
			return fmt.Errorf("putting events into the outbox: %w", err)
		}
	}
	return nil
}

// copiedAtATime is how many events a statement has whose payloads are copied: each is a SELECT of it.
const copiedAtATime = 200

// copiedRows are rows for schedule/event_copied.
func copiedRows(events []event) string {
	var rows []byte
	for n, e := range events {
		if n == 0 {
			rows = append(rows, "SELECT "...)
		} else {
			rows = append(rows, " UNION ALL SELECT "...)
		}
		rows = append(literal.AppendInt(rows, int64(n)), " AS n,"...)
		rows = append(literal.AppendInt(rows, int64(shardOf(e.key))), " AS shard,"...)
		rows = append(literal.AppendText(rows, e.id), " AS id,"...)
		rows = append(literal.AppendText(rows, e.key), " AS event_key,"...)
		rows = append(literal.AppendMicro(rows, e.at), " AS generated_at"...)
	}
	return string(rows)
}
