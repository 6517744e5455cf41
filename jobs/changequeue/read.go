package changequeue

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/jmoiron/sqlx"
)

// statements are what is sent to the table of changes. All but locking lock nothing.
type statements struct {
	fresh, some, ids, id, last, below, locking string
}

func statementsOf(o Options) statements {
	id, from := quoted(o.IDColumn), " FROM "+quoted(o.Table)+" WHERE "
	both := "SELECT " + id + ", " + quoted(o.PayloadColumn) + from
	return statements{
		fresh:   both + id + " > ? ORDER BY " + id + " LIMIT ?",
		some:    both + id + " IN (%s) ORDER BY " + id,
		ids:     "SELECT " + id + from + "%s ORDER BY " + id,
		id:      id,
		last:    "SELECT MAX(" + id + ")" + from + id + " > 0",
		below:   "SELECT " + id + from + id + " < 1 ORDER BY " + id + " LIMIT 1",
		locking: "SELECT " + id + from + "%s ORDER BY " + id + " LIMIT 1 ",
	}
}

// readPatience is how long a read is tried again before the call fails, to be made again in the next open slot.
const readPatience = 15 * time.Second

// patiently reads again for a while after an error, as while a server restarts.
func patiently[T any](ctx context.Context, read func() (T, error)) (T, error) {
	return backoff.Retry(ctx, read, backoff.WithBackOff(backoff.NewExponentialBackOff()), backoff.WithMaxElapsedTime(readPatience))
}

// clock is the database's.
func (q *Queue) clock(ctx context.Context) (time.Time, error) {
	return patiently(ctx, func() (now time.Time, err error) {
		return now, q.options.DB.GetContext(ctx, &now, "SELECT UTC_TIMESTAMP(6)")
	})
}

// fresh reads the first changes above an id, as many as a batch takes. cut says that their bytes are why there are no more.
func (q *Queue) fresh(ctx context.Context, above uint64, limit int) (changes []Change, cut bool, err error) {
	changes, err = patiently(ctx, func() (read []Change, err error) {
		rows, err := q.options.DB.QueryxContext(ctx, q.read.fresh, above, limit)
		read, cut, err = q.batch(rows, err)
		return read, err
	})
	return changes, cut, err
}

// changes reads some changes by their ids, as many as a batch takes.
func (q *Queue) changes(ctx context.Context, ids []uint64) ([]Change, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	var list []byte
	for i, id := range ids {
		if i > 0 {
			list = append(list, ',')
		}
		list = strconv.AppendUint(list, id, 10)
	}
	return patiently(ctx, func() ([]Change, error) {
		rows, err := q.options.DB.QueryxContext(ctx, fmt.Sprintf(q.read.some, list))
		read, _, err := q.batch(rows, err)
		return read, err
	})
}

// batch reads rows until they have the bytes of a batch. The rest goes by unread: then it was cut.
func (q *Queue) batch(rows *sqlx.Rows, err error) (changes []Change, cut bool, _ error) {
	if err != nil {
		return nil, false, fmt.Errorf("reading changes: %w", err)
	}
	defer rows.Close()
	for bytes := 0; rows.Next(); {
		var c Change
		if err := rows.Scan(&c.ID, &c.Payload); err != nil {
			return nil, false, fmt.Errorf("reading changes: %w", err)
		}
		if bytes += len(c.Payload); bytes > q.options.BatchBytes && len(changes) > 0 {
			return changes, true, nil
		}
		changes = append(changes, c)
	}
	if err := rows.Err(); err != nil {
		return nil, false, fmt.Errorf("reading changes: %w", err)
	}
	return changes, false, nil
}

// maxRanges is how many ranges one statement asks for.
const maxRanges = 100

// within is the condition for ids of some ranges.
func (q *Queue) within(few []span) string {
	conditions := make([]string, len(few))
	for i, s := range few {
		conditions[i] = fmt.Sprintf("%s BETWEEN %d AND %d", q.read.id, s.first, s.last)
	}
	return "(" + strings.Join(conditions, " OR ") + ")"
}

// come reads which ids of some spans are there by now, up to a batch. all is false where there may be more.
func (q *Queue) come(ctx context.Context, spans []span) (ids []uint64, all bool, err error) {
	if len(spans) == 0 {
		return nil, true, nil
	}
	query := fmt.Sprintf(q.read.ids, q.within(ranges(spans, maxRanges)))
	ids, err = patiently(ctx, func() ([]uint64, error) {
		rows, err := q.options.DB.QueryContext(ctx, query)
		if err != nil {
			return nil, fmt.Errorf("looking for what was missing: %w", err)
		}
		defer rows.Close()
		var found []uint64
		for rows.Next() && len(found) < q.options.Batch {
			var id uint64
			if err := rows.Scan(&id); err != nil {
				return nil, fmt.Errorf("looking for what was missing: %w", err)
			}
			if _, is := at(spans, id); is { // others lie between the spans of a range
				found = append(found, id)
			}
		}
		if err := rows.Err(); err != nil {
			return nil, fmt.Errorf("looking for what was missing: %w", err)
		}
		return found, nil
	})
	return ids, len(ids) < q.options.Batch, err
}
