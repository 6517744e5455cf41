package agents

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	"prescient/scripts/bench/internal/rig"
)

// deal deals out 1,000 runs to four agents of 500 places, of which three have something to do already.
func deal(ctx context.Context, b *rig.Bench, s *rig.Server, round int) (err error) {
	const places = 500
	has := []int{0, places / 4, places / 2, places * 3 / 4}
	st, err := install(ctx, s, "deal", 5*time.Second)
	if err != nil {
		return err
	}
	if !b.Keep {
		defer st.Drop(ctx)
	}
	all, stop, err := st.crew(ctx, len(has), named(places, 2*time.Minute))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()
	if err := st.await(ctx, len(has), "SELECT COUNT(*) FROM agent"); err != nil {
		return err
	}
	const held = "SELECT COUNT(*) FROM schedule_run WHERE agent = ? AND ended_at IS NULL"
	total := 0
	for i, n := range has {
		if n == 0 {
			continue
		}
		// The others stand still meanwhile.
		for j, c := range all {
			if j != i {
				c.signal(syscall.SIGSTOP)
			}
		}
		err := st.insert(ctx, "export", fmt.Sprint("before-", i, "-"), n, -1, untilStopped)
		if err == nil {
			err = st.await(ctx, n, held, all[i].Name)
		}
		for _, c := range all {
			c.signal(syscall.SIGCONT)
		}
		if err != nil {
			return err
		}
		total += n
	}
	runs := b.Scaled(1000)
	if err := st.insert(ctx, "export", "r", runs, -1, untilStopped); err != nil {
		return err
	}
	if err := st.await(ctx, runs+total, "SELECT COUNT(*) FROM schedule_run WHERE agent <> '' AND ended_at IS NULL"); err != nil {
		return err
	}
	least, most := 1.0, 0.0
	figures := make(map[string]float64)
	for i, c := range all {
		n, err := st.count(ctx, held, c.Name)
		if err != nil {
			return err
		}
		figures[fmt.Sprintf("%d%% busy got", has[i]*100/places)] = float64(n - has[i])
		least, most = min(least, float64(n)/places), max(most, float64(n)/places)
	}
	figures["busiest at the end"], figures["idlest at the end"] = most, least
	return add(b, "dealt out: to agents of 500 places, 0 to 75 % busy", round, figures, fmt.Sprintf("%d runs", runs))
}
