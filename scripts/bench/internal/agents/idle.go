package agents

import (
	"context"
	"errors"
	"fmt"
	"time"

	"prescient/scripts/bench/internal/rig"
)

// idle counts the statements of three agents that have nothing to do, beside those of three workers that are no agents.
func idle(ctx context.Context, b *rig.Bench, s *rig.Server, round int) error {
	const n = 3
	var perMinute [2]float64
	for i, capacity := range []int{0, 8} {
		var err error
		if perMinute[i], err = idled(ctx, b, s, n, capacity); err != nil {
			return fmt.Errorf("idle: %w", err)
		}
	}
	return add(b, "idle: statements a minute", round, map[string]float64{"a worker alone": perMinute[0] / n, "an agent with a pool": perMinute[1] / n}, fmt.Sprintf("%d processes, slots of a minute", n))
}

func idled(ctx context.Context, b *rig.Bench, s *rig.Server, n, capacity int) (perMinute float64, err error) {
	st, err := install(ctx, s, "idle", time.Minute)
	if err != nil {
		return 0, err
	}
	if !b.Keep {
		defer st.Drop(ctx)
	}
	_, stop, err := st.crew(ctx, n, named(capacity, time.Minute))
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, stop()) }()
	if err := rig.Pause(ctx, 5*time.Second); err != nil {
		return 0, err
	}
	var counts [2]float64
	for i := range counts {
		if i > 0 {
			if err := rig.Pause(ctx, time.Minute); err != nil {
				return 0, err
			}
		}
		var name string
		if err := st.App.QueryRowContext(ctx, "SHOW GLOBAL STATUS LIKE 'Questions'").Scan(&name, &counts[i]); err != nil {
			return 0, err
		}
	}
	return counts[1] - counts[0] - 1, nil
}
