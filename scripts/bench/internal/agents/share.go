package agents

import (
	"context"
	"errors"
	"fmt"
	"time"

	"prescient/scripts/bench/internal/rig"
)

// share has runs of a tenth of a second done by 1, 2 and 4 agents of 8 places each.
func share(ctx context.Context, b *rig.Bench, s *rig.Server, round int) error {
	const places = 8
	runs := b.Scaled(400)
	var alone float64
	for _, n := range []int{1, 2, 4} {
		took, err := shared(ctx, b, s, n, places, runs)
		if err != nil {
			return fmt.Errorf("shared by %d: %w", n, err)
		}
		rate := float64(runs) / took.Seconds()
		if n == 1 {
			alone = rate
		}
		if err := add(b, fmt.Sprintf("shared: by %d agents of %d places", n, places), round, map[string]float64{"runs/s": rate, "times one agent's": rate / alone,
			"of what the places allow": rate / float64(n*places*10)}, fmt.Sprintf("%d runs of 0.1 s", runs)); err != nil {
			return err
		}
	}
	return nil
}

// shared is how long it takes from the slot to the last end.
func shared(ctx context.Context, b *rig.Bench, s *rig.Server, agents, places, runs int) (took time.Duration, err error) {
	st, err := install(ctx, s, "share", 5*time.Second)
	if err != nil {
		return 0, err
	}
	if !b.Keep {
		defer st.Drop(ctx)
	}
	_, stop, err := st.crew(ctx, agents, named(places, time.Minute))
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, stop()) }()
	if err := st.await(ctx, agents, "SELECT COUNT(*) FROM agent"); err != nil {
		return 0, err
	}
	if err := st.insert(ctx, "export", "r", runs, 2, `{"steps": 1, "ms": 100}`); err != nil {
		return 0, err
	}
	if err := st.await(ctx, runs, "SELECT COUNT(*) FROM job_history WHERE outcome = 'done'"); err != nil {
		return 0, err
	}
	var micros int64
	err = st.App.QueryRowContext(ctx, "SELECT TIMESTAMPDIFF(MICROSECOND, MIN(slot), MAX(ended_at)) FROM job_history").Scan(&micros)
	return time.Duration(micros) * time.Microsecond, err
}
