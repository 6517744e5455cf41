package changequeue

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"
)

// What plain SQL may do to the ids of a table that an AUTO_INCREMENT alone does not.

// lookBelow says once that there are rows which no queue handles.
func (c *consumer) lookBelow(ctx context.Context) error {
	if c.at.begin > 0 || c.below.Swap(true) {
		return nil
	}
	id, err := patiently(ctx, func() (id string, err error) {
		err = c.options.DB.GetContext(ctx, &id, c.read.below)
		if errors.Is(err, sql.ErrNoRows) {
			return "", nil
		}
		return id, err
	})
	if err != nil {
		return fmt.Errorf("looking for ids below 1: %w", err)
	}
	if id != "" {
		c.options.Log.Warn().Str("queue", c.options.Name).Str("id", id).Msg("ids below 1 are no changes: a queue handles none of them")
	}
	return nil
}

// errAgain is the error of a queue whose table has begun its ids again.
var errAgain = errors.New("the ids of the table have begun again")

// lookAgainst makes sure, now and then, that the table has not begun its ids again, as TRUNCATE does: what it has then are other changes
// under ids that were handled. It asks for the next id only where the last row is below the position, as where old rows are deleted, too.
func (c *consumer) lookAgainst(ctx context.Context) error {
	if time.Since(c.against) < tellEvery {
		return nil
	}
	c.against = time.Now()
	next, err := c.nextID(ctx, c.at.high)
	if err != nil || next == 0 || next > c.at.high {
		return err
	}
	if _, is := at(c.at.open, next); is {
		return nil
	}
	if _, is := at(c.at.over, next); is {
		return nil // it is handled when it comes
	}
	return fmt.Errorf("%w: its next one is %d, and %d was handled; see the page of the package", errAgain, next, c.at.high)
}

// nextID is the id that the table gives next; 0 where it has a row above what is known, or the server does not say.
func (q *Queue) nextID(ctx context.Context, high uint64) (uint64, error) {
	next, err := patiently(ctx, func() (next uint64, err error) {
		var last sql.Null[uint64]
		if err = q.options.DB.QueryRowContext(ctx, q.read.last).Scan(&last); err != nil || last.V >= high {
			return 0, err
		}
		conn, err := q.options.DB.Connx(ctx)
		if err != nil {
			return 0, err
		}
		defer conn.Close()
		// MySQL keeps an answer for a day, unless it is asked not to; MariaDB has no such setting.
		if _, err := conn.ExecContext(ctx, "SET SESSION information_schema_stats_expiry = 0"); err == nil {
			defer func() { _, _ = conn.ExecContext(ctx, "SET SESSION information_schema_stats_expiry = DEFAULT") }()
		}
		schema, table, two := strings.Cut(q.options.Table, ".")
		if !two {
			schema, table = "", schema
		}
		var given sql.Null[uint64]
		err = conn.QueryRowContext(ctx, "SELECT auto_increment FROM information_schema.tables WHERE table_schema = COALESCE(NULLIF(?, ''), DATABASE()) AND table_name = ?", schema, table).Scan(&given)
		if errors.Is(err, sql.ErrNoRows) {
			err = nil
		}
		return given.V, err
	})
	if err != nil {
		return 0, fmt.Errorf("looking whether ids have begun again: %w", err)
	}
	return next, nil
}
