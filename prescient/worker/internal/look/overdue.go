package look

import (
	"context"
	"fmt"
	"time"

	"prescient/slots"
)

// Page is how many overdue slots are looked up at a time.
const Page = 100

// OverdueBefore is the time before which slots are overdue.
func (l *Looker) OverdueBefore(now time.Time) time.Time {
	return slots.OverdueBefore(l.Tables.Grid, now, l.Grace)
}

// EachOverdue calls do for every slot from a time on and before another that holds rows, oldest first, and tells it about how many come
// after that. It ends with the first error of do.
func (l *Looker) EachOverdue(ctx context.Context, from, before time.Time, do func(slot time.Time, more int) error) error {
	for {
		page, err := l.Overdue(ctx, from, before)
		if err != nil {
			return err
		}
		rest := beyond(page, before)
		for i, slot := range page {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if err := do(slot, len(page)-1-i+rest); err != nil {
				return err
			}
			from = slot.Add(time.Second)
		}
		if len(page) < Page {
			return nil
		}
	}
}

// Overdue lists slots that still hold rows, a page of them.
func (l *Looker) Overdue(ctx context.Context, from, before time.Time) ([]time.Time, error) {
	var page []time.Time
	err := l.Send.Query(ctx, func(ctx context.Context) error {
		page = nil
		return l.Send.DB.SelectContext(ctx, &page, l.Tables.Stmt.Get("sweep/overdue"), from, before, Page)
	})
	if err != nil {
		return nil, fmt.Errorf("looking for overdue slots: %w", err)
	}
	return page, nil
}

// beyond is about how many slots before a time come after a page: where it is full, they are as close to each other as its own.
func beyond(page []time.Time, before time.Time) int {
	if len(page) < Page {
		return 0
	}
	first, last := page[0], page[len(page)-1]
	return int(float64(len(page)-1) * before.Sub(last).Seconds() / last.Sub(first).Seconds())
}
