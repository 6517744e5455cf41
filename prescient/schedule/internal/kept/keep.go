package kept

import (
	"context"
	"strings"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/errno"
	"prescient/prescient/internal/literal"
	"prescient/prescient/internal/store"
)

// Keep keeps what schedules are that are locked, and forgets the oldest versions of those of which there are more than so many.
func Keep(ctx context.Context, t *store.Tables, db prescient.DB, ids []string, most int) error {
	if len(ids) == 0 {
		return nil
	}
	list := literal.List(literal.AppendText, ids)
	err := t.Exec(ctx, db, "keeping versions of schedules", "schedule/version_keep", "{ids}", list, "{places}", t.Places(ids...))
	if errno.Is(err, errno.TableDenied) {
		return nil // grants were not run again
	}
	if err != nil {
		return err
	}
	type counted struct {
		id string
		n  int
	}
	query := t.Fill("schedule/version_many", "{ids}", list, "{places}", t.Places(ids...), "{most}", literal.Of(literal.AppendInt, int64(most)))
	many, err := store.Rows(ctx, db, "counting versions of schedules", query, func(row *counted) []any { return []any{store.Unhex(&row.id), &row.n} })
	if err != nil {
		return err
	}
	for _, of := range many {
		if err := forgetOldest(ctx, t, db, of.id, of.n-most); err != nil {
			return err
		}
	}
	return nil
}

// mostForgotten is how many versions of a schedule one change forgets at most: an app may have written more by plain SQL.
const mostForgotten = 100

// forgetOldest forgets the oldest versions of a schedule that is locked.
func forgetOldest(ctx context.Context, t *store.Tables, db prescient.DB, id string, n int) error {
	type version struct {
		created time.Time
		number  uint64
	}
	of := literal.Of(literal.AppendText, id)
	query := t.Fill("schedule/version_oldest", "{id}", of, "{places}", t.Places(id), "{limit}", literal.Of(literal.AppendInt, int64(min(n, mostForgotten))))
	oldest, err := store.Rows(ctx, db, "reading versions of schedules", query, func(row *version) []any { return []any{store.At(&row.created), &row.number} })
	if err != nil || len(oldest) == 0 {
		return err
	}
	named := make([]string, len(oldest))
	for i, one := range oldest {
		named[i] = "created_at = " + literal.Of(literal.AppendMicro, one.created) + " AND version = " + literal.Of(literal.AppendUint, one.number)
	}
	return t.Exec(ctx, db, "forgetting versions of schedules", "schedule/version_forget", "{id}", of, "{places}", t.Places(id), "{versions}", strings.Join(named, " OR "))
}
