package event

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"prescient/prescient"
)

// MaxBacklog is how many events Backlog looks at, the first that were inserted.
const MaxBacklog = 100_000

// Waiting is what waits in the outbox for one topic.
type Waiting struct {
	Topic string `json:"topic"`
	// Events is how many, among the first MaxBacklog of all topics.
	Events int `json:"events"`
	// Oldest is when the first of them was put there, and Age how long ago that is.
	Oldest time.Time     `json:"oldest"`
	Age    time.Duration `json:"age"`
	// FailingSince is since when the topic cannot be published to, Reason why, and EventID which event met that last; zero where it can.
	FailingSince time.Time `json:"failing_since,omitzero"`
	Reason       string    `json:"reason,omitempty"`
	EventID      string    `json:"event_id,omitempty"`
}

// Backlog returns what waits in the outbox, a Waiting for each topic, the oldest first; all of it where it is fewer than MaxBacklog
// events.
func (o *Outbox) Backlog(ctx context.Context, db prescient.DB) (all []Waiting, err error) {
	rows, err := db.QueryContext(ctx, o.tables.Stmt.Get("event/backlog"), MaxBacklog)
	if err != nil {
		return nil, fmt.Errorf("looking what waits in the outbox: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var w Waiting
		var since, last sql.NullTime
		var id, reason sql.NullString
		var now time.Time
		if err := rows.Scan(&w.Topic, &w.Events, &w.Oldest, &since, &last, &id, &reason, &now); err != nil {
			return nil, fmt.Errorf("looking what waits in the outbox: %w", err)
		}
		w.Age, w.FailingSince, w.EventID, w.Reason = now.Sub(w.Oldest), since.Time, id.String, reason.String
		all = append(all, w)
	}
	return all, rows.Err()
}
