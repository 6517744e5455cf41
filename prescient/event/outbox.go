package event

import (
	"cmp"
	"context"
	"crypto/sha256"
	"slices"

	"prescient/prescient"
	"prescient/prescient/audit"
	"prescient/prescient/client"
	"prescient/prescient/internal/bell"
	"prescient/prescient/internal/literal"
	"prescient/prescient/internal/reserved"
	"prescient/prescient/internal/store"
)

// Shards is how many parts the outbox has; the events of one key are in one of them.
const Shards = 64

// ShardOf is the part of the outbox that the events of a key are in.
func ShardOf(key string) int { return int(sha256.Sum256([]byte(key))[0]) % Shards }

// Outbox takes events. It is for concurrent use.
type Outbox struct {
	own    client.Own
	tables *store.Tables
	log    audit.Log
	took   bell.Bell
	// placeOf is where the events of a key lie in a sharded keyspace.
	placeOf func(key string) prescient.KeyspaceID
	trace   prescient.Traces[Event]
}

// New returns the outbox of the installation that a client works on.
func New(c *client.Client) *Outbox {
	own := c.Own(reserved.Outbox())
	return &Outbox{own: own, tables: own.Tables(), log: audit.On(own.Tables()), took: bell.New(), placeOf: prescient.KeyspaceIDOf}
}

// OfSchedules is the outbox for events whose key is the id of a schedule: in a sharded keyspace they lie with its timer.
func (o *Outbox) OfSchedules() *Outbox {
	of := *o
	of.placeOf = reserved.PlaceOf
	return &of
}

// Traced has each Publish told to trace, which Tracing of package otel has one of. It is called before the outbox is used. By default the trace is
// that of the context.
func (o *Outbox) Traced(trace prescient.Traces[Event]) { o.trace = trace }

// Publish puts events into the outbox, those of one key in their order. They commit with the caller's handle: mostly the transaction of
// the domain event, or that of a TxFunc. On a pool it is a transaction of its own. An error wraps prescient.ErrInvalid for an event
// that is none, and else is the server's; nothing is written then, though the caller may commit all the same.
func (o *Outbox) Publish(ctx context.Context, db prescient.DB, events ...Event) (err error) {
	for _, e := range events {
		if err := e.Validate(); err != nil {
			return err
		}
	}
	if len(events) == 0 {
		return nil
	}
	trace, end := o.trace.Begin(ctx, events...)
	defer func() { end(err) }()
	column := "" // an account may have the grants of a version before it
	if trace != "" || slices.ContainsFunc(events, func(e Event) bool { return e.Trace != "" }) {
		column = ", trace"
	}
	var all []string
	for rows := range literal.Bulks(func(b []byte, e Event) []byte {
		e.Trace = cmp.Or(e.Trace, trace)
		return o.appendRow(b, e, column != "")
	}, events) {
		all = append(all, rows)
	}
	insert := func(db prescient.DB) error {
		for _, rows := range all {
			if err := o.tables.Exec(ctx, db, "putting events into the outbox", "event/insert", "{trace}", column, "{rows}", rows); err != nil {
				return err
			}
		}
		return nil
	}
	defer o.Took()
	if len(all) > 1 {
		return o.own.InTx(ctx, db, insert)
	}
	return insert(db)
}

// Took tells a forwarder in this process that there may be something new, as soon as what was just written commits.
func (o *Outbox) Took() { o.took.Ring() }

// Taken is sent to after something was put into this outbox, whose transaction may not have ended.
func (o *Outbox) Taken() <-chan struct{} { return o.took }

func (o *Outbox) appendRow(b []byte, e Event, traced bool) []byte {
	b = literal.AppendInt(append(b, '('), int64(ShardOf(e.Key)))
	b = literal.AppendText(append(b, ','), e.ID)
	b = literal.AppendText(append(b, ','), e.Topic)
	b = literal.AppendText(append(b, ','), e.Key)
	if e.GeneratedAt.IsZero() {
		b = append(b, ",UTC_TIMESTAMP(6)"...)
	} else {
		b = literal.AppendMicro(append(b, ','), e.GeneratedAt)
	}
	b = literal.AppendBytesOrNull(append(b, ','), e.Payload)
	b = append(b, ",UTC_TIMESTAMP(6)"...)
	if traced {
		b = literal.AppendTextOrNull(append(b, ','), e.Trace)
	}
	if o.tables.Server.Placed() {
		b = literal.AppendPlace(append(b, ','), o.placeOf(e.Key))
	}
	return append(b, ')')
}
