package client

import (
	"context"
	"maps"
	"time"

	"github.com/cenkalti/backoff/v5"

	"prescient/prescient"
	"prescient/prescient/client/internal/handle"
	"prescient/prescient/client/internal/rowtext"
	"prescient/prescient/internal/errno"
	"prescient/prescient/internal/literal"
	"prescient/prescient/internal/reserved"
	"prescient/prescient/internal/store"
	"prescient/slots"
	text "prescient/sql"
)

// Own is a client for the rows that a room of the library keeps of its own, under an entity name that apps may not use.
type Own struct {
	client *Client
	room   reserved.Room
}

// Own returns a client for the rows of a room; only rooms of the library can name one.
func (c *Client) Own(room reserved.Room) Own { return Own{c, room} }

// Tables are those that the client works on.
func (o Own) Tables() *store.Tables { return &o.client.tables }

// ForgetRules has the client's next occasion read the rules anew.
func (o Own) ForgetRules() { o.client.rules.Forget() }

// Entity is the one of a key.
func (o Own) Entity(key string) prescient.Entity {
	return prescient.Entity{Name: o.room.Name(), Key: key}
}

// chunks are entityChunks of the entities of keys.
func (o Own) chunks(keys []string) [][]prescient.Entity {
	entities := make([]prescient.Entity, len(keys))
	for i, key := range keys {
		entities[i] = o.Entity(key)
	}
	return entityChunks(entities)
}

// Now returns the database's time, and makes sure that slot_config is as it was.
func (o Own) Now(ctx context.Context, db prescient.DB) (time.Time, error) {
	return o.client.now(ctx, db)
}

// NowOf is Now for what is done of a key: in a sharded keyspace the shard of its checks is asked, and no other comes into the transaction.
func (o Own) NowOf(ctx context.Context, db prescient.DB, key string) (time.Time, error) {
	if o.client.tables.Server != text.Vitess {
		return o.Now(ctx, db)
	}
	now, _, err := o.client.readPending(ctx, db, prescient.KeyOf(o.Entity(key), "", ""))
	return now, err
}

// NoteVersion makes sure of the version of slot_config, as Now does, where a statement has read that which was sent at a time.
func (o Own) NoteVersion(version uint64, sent time.Time) error {
	return o.client.noteVersion(version, sent)
}

// beginsAgainFor is for how long a transaction of a room's own is begun again that others got in the way of.
const beginsAgainFor = 10 * time.Second

// InTx runs do on the caller's transaction, behind a savepoint, or on one of its own where db is a pool: that is begun again for some
// seconds while others get in its way, such as a slot run that calls for what is changed. After an error nothing of it stays behind.
func (o Own) InTx(ctx context.Context, db prescient.DB, do func(db prescient.DB) error) error {
	if !handle.CommitsByItself(db) {
		return handle.InTx(ctx, o.client.tables.Server, db, do)
	}
	_, err := backoff.Retry(ctx, func() (struct{}, error) {
		err := handle.InTx(ctx, o.client.tables.Server, db, do)
		if err != nil && !errno.BeginAgain(err) {
			err = backoff.Permanent(err)
		}
		return struct{}{}, err
	}, backoff.WithBackOff(store.NewBackOff()), backoff.WithMaxElapsedTime(beginsAgainFor))
	return err
}

// Insert makes rows pending by one statement for about a thousand of them: each in the slot of its due time, or in the next open
// one where that is over. Whether the horizon allows them is not asked. A row that is pending already is an error, with nothing
// written by its statement.
func (o Own) Insert(ctx context.Context, db prescient.DB, jobs []prescient.NewJob, now time.Time) error {
	for len(jobs) > 0 {
		var rows []byte
		n, all := 0, rowtext.More{Text: true}
		for _, job := range jobs {
			all = all.Or(rowtext.MoreOf(&job))
		}
		for n < len(jobs) && n < bulkRows && len(rows) < literal.BulkBytes {
			job := &jobs[n]
			grid := o.client.tables.Grid
			due := slots.Later(slots.RoundUp(job.DueAt), prescient.EarliestDue)
			slot := slots.Later(grid.Ceil(due), grid.Next(now))
			if n++; n > 1 {
				rows = append(rows, ',')
			}
			rows = rowtext.Append(rows, job, prescient.KeyOf(job.Entity, job.JobExec, job.Tag), rowtext.TimesOf(o.client.tables.Dialect, due, slot, job.ExpiresAfter), all)
		}
		if _, err := db.ExecContext(ctx, o.client.insertRows(rows, all)); err != nil {
			return o.client.explain(ctx, db, jobs[0], err)
		}
		jobs = jobs[n:]
	}
	return nil
}

// Pending returns the rows that are pending with some keys, without their payloads and errors: by a plain look, and by one statement
// for about a thousand of them.
func (o Own) Pending(ctx context.Context, db prescient.DB, keys []prescient.Key) ([]prescient.FutureJob, error) {
	return o.client.findKeys(ctx, db, rowtext.BareColumns, keys, false)
}

// End ends what is pending for keys of the room, in a transaction: the rows that ends says. It returns those that it met, by their
// keys, as they were. What a slot run is about to commit of one of them is dropped.
func (o Own) End(ctx context.Context, db prescient.DB, keys []string, outcome prescient.Outcome, ends func(prescient.FutureJob) bool) (map[prescient.Key]prescient.FutureJob, error) {
	all := make(map[prescient.Key]prescient.FutureJob)
	for _, some := range o.chunks(keys) {
		_, met, err := o.client.endSome(ctx, db, some, ending{outcome: outcome, ends: ends})
		if err != nil {
			return nil, err
		}
		maps.Copy(all, met)
	}
	return all, nil
}
