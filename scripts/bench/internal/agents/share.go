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
	runs := b.Scaled(1200)
	var alone float64
	for _, n := range []int{1, 2, 4} {
		took, err := shared(ctx, b, s, n, places, runs)
		if err != nil {
			return fmt.Errorf("shared by %d: %w", n, err)
		}
		rate := float64(runs) / took.all
		if n == 1 {
			alone = rate
		}
		if err := add(b, fmt.Sprintf("shared: by %d agents of %d places", n, places), round, map[string]float64{"runs/s": rate, "times one agent's": rate / alone,
			"of what the places allow": rate / float64(n*places*10), "first call after s": took.first}, fmt.Sprintf("%d runs of 0.1 s", runs)); err != nil {
			return err
		}
	}
	return nil
}

// stretch is, in seconds, from the slot to the first call, and from that to the last end.
type stretch struct{ first, all float64 }

func shared(ctx context.Context, b *rig.Bench, s *rig.Server, agents, places, runs int) (took stretch, err error) {
	st, err := install(ctx, s, "share", shortSlot)
	if err != nil {
		return took, err
	}
	if !b.Keep {
		defer st.Drop(ctx)
	}
	_, stop, err := st.crew(ctx, agents, named(places, time.Minute))
	if err != nil {
		return took, err
	}
	defer func() { err = errors.Join(err, stop()) }()
	if err := st.await(ctx, agents, "SELECT COUNT(*) FROM agent"); err != nil {
		return took, err
	}
	if err := st.insert(ctx, "export", "r", runs, 2, `{"steps": 1, "ms": 100}`); err != nil {
		return took, err
	}
	if err := st.await(ctx, runs, "SELECT COUNT(*) FROM job_history WHERE outcome = 'done'"); err != nil {
		return took, err
	}
	return took, st.App.QueryRowContext(ctx, "SELECT TIMESTAMPDIFF(MICROSECOND, slot, called) / 1e6, TIMESTAMPDIFF(MICROSECOND, called, ended) / 1e6 FROM "+
		"(SELECT MIN(slot) AS slot, MAX(ended_at) AS ended, (SELECT MIN(at) FROM bench_call) AS called FROM job_history) some").Scan(&took.first, &took.all)
}
