package audit

import (
	"context"
	"fmt"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/errno"
	"prescient/prescient/internal/literal"
	"prescient/prescient/internal/store"
)

// RecordNew is Record for new objects, made at a time by the database's clock. An object that was there before, and has an entry of up to
// a day later than that, since the clock was put back meanwhile, was there until then: until has it by its id. Where the account may not
// read when entries were written, until is empty.
//
// It takes one statement more for objects that were there before.
func (l Log) RecordNew(ctx context.Context, db prescient.DB, now time.Time, entries ...Entry) (until map[string]time.Time, err error) {
	before, err := l.record(ctx, db, entries)
	if err != nil || len(before) == 0 {
		return nil, err
	}
	times, err := l.later(ctx, db, now, before)
	if err != nil || len(times) == 0 {
		return nil, err
	}
	until = make(map[string]time.Time)
	for _, e := range entries {
		if at, is := times[streamOf(e.Kind, e.ID)]; is {
			until[e.ID] = at
		}
	}
	return until, nil
}

// later returns when the latest entries of streams were written that are later than now, each up to a number.
func (l Log) later(ctx context.Context, db prescient.DB, now time.Time, numbers map[stream]uint64) (map[stream]time.Time, error) {
	var streams []byte
	for s, n := range numbers {
		if len(streams) > 0 {
			streams = append(streams, " OR "...)
		}
		streams = s.literal(append(streams, "stream = "...))
		streams = literal.AppendUint(append(streams, " AND seq <= "...), n)
	}
	rows, err := db.QueryContext(ctx, l.tables.Fill("audit/later", "{streams}", string(streams), "{now}", literal.Of(literal.AppendMicro, now)))
	if errno.Is(err, errno.TableDenied, errno.ColumnDenied) {
		return nil, nil // grants were not run again
	}
	if err != nil {
		return nil, fmt.Errorf("looking for later entries: %w", err)
	}
	defer rows.Close()
	times := make(map[stream]time.Time)
	for rows.Next() {
		var name, text string
		if err := rows.Scan(&name, &text); err != nil {
			return nil, err
		}
		s, err := parseStream(name)
		if err != nil {
			return nil, err
		}
		at, err := store.ParseTime(text)
		if err != nil {
			return nil, err
		}
		if at.After(times[s]) {
			times[s] = at
		}
	}
	return times, rows.Err()
}
