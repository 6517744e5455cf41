package outbox

import (
	"context"
	"fmt"

	"prescient/prescient/event"
)

// Topics that begin with deadTopic go to a broker that is not there; deadTopics is how many there are.
const (
	deadTopic  = "dead."
	deadTopics = 300
)

// perProcess is how many connections a process may have, and spare how many others there are: of the judge, and that just end.
const perProcess, spare = 40, 12

// publishDead publishes an event of each topic whose broker is not there.
func (s *stage) publishDead(ctx context.Context) error {
	some := make([]event.Event, deadTopics)
	for i := range some {
		name := fmt.Sprintf("%s%d", deadTopic, i)
		some[i] = event.Event{ID: fmt.Sprintf("%s-%d", name, s.tried), Topic: name, Key: name, Payload: []byte("{}")}
	}
	return s.outbox.Publish(ctx, s.db, some...)
}

// connections is how many the server had at most at a time.
func (s *stage) connections(ctx context.Context) (most int, err error) {
	var name string
	err = s.db.QueryRowContext(ctx, "SHOW GLOBAL STATUS LIKE 'Max_used_connections'").Scan(&name, &most)
	return most, err
}
