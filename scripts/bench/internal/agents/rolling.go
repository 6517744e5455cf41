package agents

import (
	"context"
	"errors"
	"fmt"
	"time"

	"prescient/scripts/bench/internal/rig"
)

// rolling has three agents at work on short checks and long runs, once in peace and once restarted one after the other, again and again.
func rolling(ctx context.Context, b *rig.Bench, s *rig.Server, round int) error {
	for _, restarts := range []bool{false, true} {
		if err := rolled(ctx, b, s, round, restarts); err != nil {
			return fmt.Errorf("rolling restart: %w", err)
		}
	}
	return nil
}

func rolled(ctx context.Context, b *rig.Bench, s *rig.Server, round int, restarts bool) (err error) {
	const slot, perSlot, slots, longOnes = 5, 200, 12, 30
	st, err := install(ctx, s, "rolling", slot*time.Second)
	if err != nil {
		return err
	}
	if !b.Keep {
		defer st.Drop(ctx)
	}
	each := named(longOnes, handOverLease)
	all, stop, err := st.crew(ctx, 3, each)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()
	if err := st.await(ctx, len(all), "SELECT COUNT(*) FROM agent"); err != nil {
		return err
	}
	if err := st.insert(ctx, "export", "r", longOnes, 1, untilStopped); err != nil {
		return err
	}
	for i := range slots {
		if err := st.insert(ctx, "short", fmt.Sprint("s", i, "-"), perSlot, (i+1)*slot, "{}"); err != nil {
			return err
		}
	}
	over, done := context.WithTimeout(ctx, slots*slot*time.Second)
	defer done()
	stops := 0
	for i := 0; restarts && rig.Pause(over, 3*time.Second) == nil; i = (i + 1) % len(all) {
		if err := all[i].stop(); err != nil {
			return err
		}
		if all[i], err = st.start(ctx, each(i)); err != nil {
			return err
		}
		stops++
	}
	<-over.Done()
	if err := st.await(ctx, slots*perSlot, "SELECT COUNT(*) FROM job_history WHERE job_exec = 'short'"); err != nil {
		return err
	}
	twice, err := st.count(ctx, "SELECT COUNT(*) - COUNT(DISTINCT entity_key) FROM job_history WHERE job_exec = 'short'")
	if err != nil {
		return err
	}
	var late []float64
	if err := st.DB.SelectContext(ctx, &late, "SELECT lateness_ms FROM job_history WHERE job_exec = 'short' ORDER BY lateness_ms"); err != nil {
		return err
	}
	name := "rolling: three agents in peace"
	if restarts {
		name = "rolling: three agents, restarted in turn"
	}
	return add(b, name, round, map[string]float64{"lateness p50 ms": late[len(late)/2], "lateness p99 ms": late[len(late)*99/100], "lateness max ms": late[len(late)-1],
		"restarts": float64(stops), "ended twice": float64(twice)}, fmt.Sprintf("%d short checks a slot of %d s", perSlot, slot))
}
