package forward

import (
	"database/sql"
	"time"

	"prescient/prescient"
	"prescient/prescient/event/broker"
)

// row is an event of the outbox.
type row struct {
	Seq         uint64           `db:"seq"`
	ID          string           `db:"id"`
	Topic       string           `db:"topic"`
	Key         string           `db:"event_key"`
	GeneratedAt time.Time        `db:"generated_at"`
	InsertedAt  time.Time        `db:"inserted_at"`
	Bytes       int              `db:"bytes"`
	Payload     sql.Null[[]byte] `db:"payload"`
	Trace       sql.Null[string] `db:"trace"`
}

// chain is what events are published in order of: a key in a topic.
type chain struct{ topic, key string }

// message is what a row is to its broker, in the form that a format gives it. What plain SQL wrote as a trace, and is none, is left out.
func (r row) message(payload []byte, format broker.Format) (broker.Message, error) {
	m := broker.Message{ID: r.ID, Topic: r.Topic, Key: r.Key, GeneratedAt: r.GeneratedAt, ContentType: broker.ContentType(payload), Body: payload}
	if prescient.ValidTrace(r.Trace.V) {
		m.Trace = r.Trace.V
	}
	if format == nil {
		format = broker.Plain
	}
	m, err := format(m)
	if err == nil && m.Trace != "" {
		m.Headers = append(m.Headers, broker.Header{Name: broker.HeaderTrace, Value: m.Trace})
	}
	return m, err
}

func (r row) chain() chain { return chain{r.Topic, r.Key} }

// waiting is a shard that has events, with the number of the first of them, or of the last.
type waiting struct {
	Shard int    `db:"shard"`
	Seq   uint64 `db:"seq"`
}
