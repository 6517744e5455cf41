package longrun

import (
	"context"
	"encoding/hex"
	"fmt"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/store"
)

// MaxPage is the most runs that a page of those under way has.
const MaxPage = 10_000

// UnderWay is a run that did not end, with what it is a run of.
type UnderWay struct {
	// Schedule is the id of its schedule; empty for the check of an app.
	Schedule string `json:"schedule,omitempty"`
	// Entity, JobExec and DueAt are those of its check.
	Entity  string    `json:"entity"`
	JobExec string    `json:"job_exec"`
	DueAt   time.Time `json:"due_at"`
	State
}

// ListUnderWay returns a page of the runs that did not end, of up to limit, in the order of their keys, and the cursor of the next; empty where
// there is none. within bounds for how long more is looked for, about, so that a page may be shorter; 0 for no bound. It is for rooms of the library. The
// error wraps prescient.ErrInvalid for a cursor or a limit that is none.
func ListUnderWay(ctx context.Context, db prescient.DB, tables *store.Tables, after string, limit int, within time.Duration) (list []UnderWay, next string, err error) {
	if limit < 1 || limit > MaxPage {
		return nil, "", fmt.Errorf("%w: limit %d: 1 to %d are allowed", prescient.ErrInvalid, limit, MaxPage)
	}
	behind, err := hex.DecodeString(after)
	if err != nil || after != "" && len(behind) != len(prescient.Key{}) {
		return nil, "", fmt.Errorf("%w: cursor %.100q: want that of a page of long runs", prescient.ErrInvalid, after)
	}
	first := limit + 1
	if within > 0 {
		first = firstStretch
	}
	var rows []underWayRow
	for s := store.NewStretches(first, limit+1, within, time.Now()).UpTo(tables.InOne(limit + 1)); ; {
		n := s.Take(time.Now())
		some, err := store.Rows(ctx, db, "reading long runs", tables.Stmt.Get("longrun/under_way"), (*underWayRow).into, behind, n)
		rows = append(rows, some...)
		if err != nil || len(some) < n {
			return underWay(rows), "", err
		}
		behind = rows[len(rows)-1].key[:]
		if s.Over(time.Now()) {
			rows = rows[:min(len(rows), limit)]
			return underWay(rows), hex.EncodeToString(rows[len(rows)-1].key[:]), nil
		}
	}
}

// firstStretch is how many runs are read first, where there is a bound in time: each costs a look for its check, from the disk where that is cold.
const firstStretch = 100

func underWay(rows []underWayRow) (list []UnderWay) {
	for _, row := range rows {
		if !row.seen() {
			continue
		}
		row.of.State = row.State
		if row.entity.Name != "" {
			row.of.Entity = row.entity.String()
		}
		list = append(list, row.of)
	}
	return list
}

// underWayRow is a row of longrun/under_way.
type underWayRow struct {
	stateRow
	of     UnderWay
	key    prescient.Key
	entity prescient.Entity // empty where its check is gone
}

// into is where the columns of a row go.
func (r *underWayRow) into() []any {
	return append([]any{store.UnhexInto(r.key[:]), store.Unhex(&r.of.Schedule), &r.entity.Name, store.Unhex(&r.entity.Key), &r.of.JobExec, store.At(&r.of.DueAt)},
		r.stateRow.into()...)
}
