package forward

import (
	"database/sql"
	"time"
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
}

// chain is what events are published in order of: a key in a topic.
type chain struct{ topic, key string }

func (r row) chain() chain { return chain{r.Topic, r.Key} }

// waiting is a shard that has events, with the number of the first of them, or of the last.
type waiting struct {
	Shard int    `db:"shard"`
	Seq   uint64 `db:"seq"`
}
