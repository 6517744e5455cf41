package event

import (
	"context"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/store"
	text "prescient/sql"
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
func (o *Outbox) Backlog(ctx context.Context, db prescient.DB) ([]Waiting, error) {
	return BacklogBy(ctx, db, o.tables.Stmt, MaxBacklog)
}

// BacklogBy is Backlog of the first so many events, by statements that were loaded already.
func BacklogBy(ctx context.Context, db prescient.DB, statements text.Statements, most int) (all []Waiting, err error) {
	type row struct {
		Waiting
		last, now time.Time
	}
	rows, err := store.Rows(ctx, db, "looking what waits in the outbox", statements.Get("event/backlog"), func(r *row) []any {
		return []any{&r.Topic, &r.Events, &r.Oldest, store.OrZero(&r.FailingSince), store.OrZero(&r.last), store.OrZero(&r.EventID), store.OrZero(&r.Reason), &r.now}
	}, most)
	for _, r := range rows {
		r.Age = r.now.Sub(r.Oldest)
		all = append(all, r.Waiting)
	}
	return all, err
}
