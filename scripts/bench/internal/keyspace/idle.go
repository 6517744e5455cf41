package keyspace

import (
	"context"
	"errors"
	"slices"
	"time"

	"prescient/scripts/bench/internal/page"
	"prescient/scripts/bench/internal/rig"
)

const (
	settles  = 10 * time.Second // after its start a worker looks at much
	idleTime = time.Minute
)

// idle watches workers that have nothing to do, all at the same time: what each sends to a shard.
func idle(ctx context.Context, b *rig.Bench, sides []*side) (err error) {
	sides = slices.DeleteFunc(slices.Clone(sides), func(s *side) bool { return !b.Wants(s.name + page.Idle) })
	if len(sides) == 0 {
		return nil
	}
	b.Say("  idle for %v", idleTime)
	for _, s := range sides {
		if err := s.set(ctx, 0); err != nil {
			return err
		}
		stop, err := s.work(ctx)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, stop()) }()
	}
	sent := make([][2]float64, len(sides))
	for look, pause := range []time.Duration{settles, idleTime} {
		if err := rig.Pause(ctx, pause); err != nil {
			return err
		}
		for i, s := range sides {
			if sent[i][look], err = s.calls(ctx); err != nil {
				return err
			}
		}
	}
	for i, s := range sides {
		figures := map[string]float64{page.StatementsAMinute: (sent[i][1] - sent[i][0]) / idleTime.Minutes() / float64(len(s.parts))}
		name := s.name + page.Idle
		b.Say("  %-52s %s", name, page.FiguresText(figures))
		if err := b.Book.Add(page.Record{Case: name, Figures: figures}); err != nil {
			return err
		}
	}
	return nil
}
