package events

import (
	"context"
	"fmt"
	"time"

	"prescient/prescient/client"
	"prescient/prescient/event"
	"prescient/scripts/bench/internal/rig"
)

const (
	topic      = "orders.late"
	keys       = 10_000
	payloadLen = 100 // bytes
)

// slotLength is the resolution of the section.
const slotLength = 30 * time.Second

var payload = make([]byte, payloadLen)

// stage is an installation with an outbox, and an app's table.
type stage struct {
	*rig.Place
	client *client.Client
	outbox *event.Outbox
	made   int // events so far
}

func makeStage(ctx context.Context, s *rig.Server) (*stage, error) {
	p, err := s.Install(ctx, "events", slotLength, false)
	if err != nil {
		return nil, err
	}
	p.App.SetMaxOpenConns(64)
	if _, err := p.Exec(ctx, "CREATE TABLE IF NOT EXISTS orders (id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY, placed_at DATETIME NOT NULL, customer VARCHAR(100) NOT NULL)"); err != nil {
		return nil, err
	}
	c, err := client.New(ctx, p.App, client.Options{})
	if err != nil {
		return nil, err
	}
	return &stage{Place: p, client: c, outbox: event.New(c)}, nil
}

// next are events that no other has the id of.
func (st *stage) next(n int) []event.Event {
	some := make([]event.Event, n)
	for i := range some {
		st.made++
		some[i] = event.Event{ID: fmt.Sprintf("e%09d", st.made), Topic: topic, Key: fmt.Sprintf("order/%d", st.made%keys), Payload: payload}
	}
	return some
}

// empty empties the outbox without publishing it.
func (st *stage) empty(ctx context.Context) error {
	for _, table := range []string{"event_outbox", "orders", "event_count"} {
		if _, err := st.Exec(ctx, "TRUNCATE TABLE "+table); err != nil {
			return err
		}
	}
	return st.AwaitCalm(ctx)
}
