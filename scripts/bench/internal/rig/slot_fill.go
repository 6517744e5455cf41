package rig

import (
	"context"
	"fmt"
	"time"
)

// SlotFill is how the due rows get into a slot that is to come.
type SlotFill struct {
	Every  time.Duration // the resolution
	Due    int
	Exec   string                          // their job_exec, in SQL
	Empty  func(ctx context.Context) error // before them
	Settle func(ctx context.Context) error // after them; nil for nothing
}

// Fill makes due rows for a slot that comes when they are there, and the worker is up. It is told how long that may take, and
// returns how long it took.
func (f SlotFill) Fill(ctx context.Context, p *Place, takes time.Duration) (time.Time, time.Duration, error) {
	for range 5 {
		if err := f.Empty(ctx); err != nil {
			return time.Time{}, takes, err
		}
		started := time.Now()
		slot := started.UTC().Add(takes*3/2 + 2*time.Second).Truncate(f.Every).Add(f.Every)
		if _, err := p.Exec(ctx, fmt.Sprintf("INSERT INTO future_job (entity_name, entity_key, job_exec, due_at) SELECT 'order', n, %s, '%s' FROM bench_n WHERE n < %d",
			f.Exec, slot.Format(time.DateTime), f.Due)); err != nil {
			return slot, takes, err
		}
		if f.Settle != nil {
			if err := f.Settle(ctx); err != nil {
				return slot, takes, err
			}
		}
		takes = time.Since(started)
		if time.Until(slot) > time.Second {
			return slot, takes, nil
		}
	}
	return time.Time{}, takes, fmt.Errorf("the rows were never there in time: they take %v", takes)
}
