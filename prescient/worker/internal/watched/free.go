package watched

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Free tells which of some slots have buckets that are free, and forgets those that have no unfinished ones. It asks once.
func (l *List) Free(ctx context.Context, some []time.Time) (free []time.Time, err error) {
	args := make([]any, len(some))
	for i, slot := range some {
		args[i] = slot
	}
	var rows []struct {
		Slot time.Time `db:"slot"`
		Free bool      `db:"free"`
	}
	ctx, cancel := context.WithTimeout(ctx, l.send.Timeout)
	defer cancel()
	query := l.tables.Fill("sweep/given_back", "{slots}", "?"+strings.Repeat(", ?", len(some)-1))
	if err := l.send.DB.SelectContext(ctx, &rows, query, args...); err != nil {
		return nil, fmt.Errorf("sweep/given_back: %w", err)
	}
	over := slices.Clone(some)
	for _, row := range rows {
		over = slices.DeleteFunc(over, row.Slot.Equal)
		if row.Free {
			free = append(free, row.Slot)
		}
	}
	l.Forget(over...)
	return free, nil
}
