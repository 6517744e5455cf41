package prune

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// pruneEvents forgets what was published: how many events, which consumers have worked on which, and the events that were kept, by whole
// days. Where none are kept, no partition is made for them. What was set aside stays: somebody has to see to it.
func (p *pruner) pruneEvents(ctx context.Context, now, cutoff time.Time) error {
	err := errors.Join(p.deleteAll(ctx, p.tables.Stmt.Get("prune/events_counted"), cutoff, &p.report.EventRows),
		p.deleteAll(ctx, p.tables.Stmt.Get("prune/events_seen"), cutoff, &p.report.EventRows))
	if err != nil {
		return err
	}
	var kept bool
	err = p.retry(ctx, "looking for published events", func(ctx context.Context) error {
		return p.conn.QueryRowxContext(ctx, p.tables.Stmt.Get("prune/events_kept")).Scan(&kept)
	})
	if err != nil {
		return fmt.Errorf("looking for published events: %w", err)
	}
	if !kept {
		return nil
	}
	if err := p.deleteAll(ctx, p.fill(published, "prune/later_end"), cutoff, &p.report.EventRows); err != nil {
		return err
	}
	return p.partition(ctx, published, now, cutoff)
}
