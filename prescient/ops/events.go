package ops

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"prescient/prescient"
	"prescient/prescient/event"
	"prescient/prescient/ops/working"
)

// Backlog is what waits in the outbox.
type Backlog struct {
	Topics []working.TopicBacklog `json:"topics"`
	Whole  bool                   `json:"whole" doc:"All events were looked at, and not the first 100,000 alone."`
}

// GetBacklog says what waits in the outbox.
var GetBacklog = query("events.backlog", Viewer, "Say what waits in the outbox by topic, of the first 100,000 events.", func(ctx context.Context, q asked, _ Nothing) (Backlog, error) {
	all, err := q.outbox.Backlog(ctx, q.db)
	out, seen := Backlog{Topics: working.Topics(all)}, 0
	for _, w := range all {
		seen += w.Events
	}
	out.Whole = seen < event.MaxBacklog
	return out, err
})

// SetAsideAsked narrows a list of events that were set aside.
type SetAsideAsked struct {
	Topic string `query:"topic" doc:"Only of this topic."`
	ID    string `query:"id" doc:"Only with this id."`
	Paging
}

// EventSetAside is an event that a broker refused for good.
type EventSetAside struct {
	Number      uint64    `json:"number,string" doc:"By which resend and drop know it."`
	ID          string    `json:"id"`
	Topic       string    `json:"topic"`
	Key         string    `json:"key"`
	GeneratedAt time.Time `json:"generated_at"`
	InsertedAt  time.Time `json:"inserted_at"`
	RefusedAt   time.Time `json:"refused_at"`
	Bytes       int       `json:"bytes,omitempty" doc:"How long its payload is; for operators."`
	Reason      string    `json:"reason"`
}

// Cursor is the place of the event in the list.
func (e EventSetAside) Cursor() string { return strconv.FormatUint(e.Number, 10) }

// ListSetAside lists events that brokers refused for good.
var ListSetAside = query("events.set_aside", Viewer, "List events that brokers refused for good, the first of them first.", func(ctx context.Context, q asked, in SetAsideAsked) (Page[EventSetAside], error) {
	f := event.SetAsideFilter{Topic: in.Topic, ID: in.ID, Limit: in.Limit + 1, Bare: !q.by.Role.May(Operator)}
	var err error
	if in.After != "" {
		if f.After, err = number(in.After); err != nil {
			return Page[EventSetAside]{}, err
		}
	}
	found, err := q.outbox.SetAside(ctx, q.db, f)
	rows := make([]EventSetAside, len(found))
	for i, e := range found {
		rows[i] = EventSetAside{e.Seq, e.ID, e.Topic, e.Key, e.GeneratedAt, e.InsertedAt, e.RefusedAt, e.Bytes, e.Reason}
	}
	return page(rows, in.Limit, err)
})

// number reads a number of an event.
func number(text string) (uint64, error) {
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%w: %.40q is no number of an event; want one that the list has", prescient.ErrInvalid, text)
	}
	return n, nil
}

// EventsChosen says what to do something with.
type EventsChosen struct {
	Numbers []string `json:"numbers" minItems:"1" maxItems:"1000" doc:"Numbers of events that were set aside. One that is not there any more is no error."`
}

// do does something to them, all or none.
func (c EventsChosen) do(ctx context.Context, d doing, do func(ctx context.Context, db prescient.DB, seqs ...uint64) (int, error)) (Counted, error) {
	seqs := make([]uint64, len(c.Numbers))
	for i, text := range c.Numbers {
		seq, err := number(text)
		if err != nil {
			return Counted{}, err
		}
		seqs[i] = seq
	}
	n, err := do(ctx, d.tx, seqs...)
	return Counted{n}, err
}

// ResendEvents has events published again.
var ResendEvents = deed("events.resend", Operator, "Put events that were set aside into the outbox again: all of them, or none.", func(ctx context.Context, d doing, in EventsChosen) (Counted, error) {
	return in.do(ctx, d, d.outbox.Resend)
})

// DropEvents deletes events, which are never published.
var DropEvents = deed("events.drop", Operator, "Delete events that were set aside: they are never published.", func(ctx context.Context, d doing, in EventsChosen) (Counted, error) {
	return in.do(ctx, d, d.outbox.Drop)
})

// CountEvents counts what a filter matches.
var CountEvents = query("events.matching", Viewer, "Count events that were set aside and that a filter matches, of the first 100,000.", func(ctx context.Context, q asked, in event.Matching) (event.MatchCount, error) {
	return q.outbox.CountMatching(ctx, q.db, in)
})

// ResendMatching and DropMatching do that to all that a filter matches, each in its transaction to a thousand.
var (
	ResendMatching = lasting(time.Minute, deed("events.resend_all", Operator, "Put all events into the outbox again that were set aside and that a filter matches, up to 1,000 at once.", func(ctx context.Context, d doing, in event.Matching) (event.Matched, error) {
		return d.outbox.ResendMatching(ctx, d.tx, in)
	}))
	DropMatching = lasting(time.Minute, deed("events.drop_all", Operator, "Delete all events that were set aside and that a filter matches, up to 1,000 at once.", func(ctx context.Context, d doing, in event.Matching) (event.Matched, error) {
		return d.outbox.DropMatching(ctx, d.tx, in)
	}))
)
