package agents

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"syscall"
	"time"

	"prescient/scripts/bench/internal/rig"
)

// handOverLease is the lease of runs that are handed over.
const handOverLease = 5 * time.Second

var signalNames = map[syscall.Signal]string{syscall.SIGTERM: "SIGTERM", syscall.SIGKILL: "SIGKILL"}

// handOver ends one of two agents, and tells how long its runs lie there until the other goes on: on short slots, and on those of a minute, where
// load delays claims for longer.
func handOver(ctx context.Context, b *rig.Bench, s *rig.Server, round int) error {
	for _, slot := range []time.Duration{shortSlot, time.Minute} {
		for _, how := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
			name := fmt.Sprintf("handed over: after %s, slots of %s", signalNames[how], slot)
			if err := handedOver(ctx, b, s, round, slot, how, name); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	return nil
}

func handedOver(ctx context.Context, b *rig.Bench, s *rig.Server, round int, slot time.Duration, how syscall.Signal, name string) (err error) {
	const runs = 20
	st, err := install(ctx, s, "hand_over", slot)
	if err != nil {
		return err
	}
	if !b.Keep {
		defer st.Drop(ctx)
	}
	first, stopFirst, err := st.crew(ctx, 1, named(runs, handOverLease))
	if err != nil {
		return err
	}
	if err := errors.Join(st.insert(ctx, "export", "r", runs, 1, untilStopped), st.await(ctx, runs, "SELECT COUNT(*) FROM bench_call")); err != nil {
		return errors.Join(err, stopFirst())
	}
	second, stopSecond, err := st.crew(ctx, 1, func(int) asked { return asked{Name: "agent-2", Capacity: runs, Lease: handOverLease} })
	if err != nil {
		return errors.Join(err, stopFirst())
	}
	defer func() { err = errors.Join(err, stopSecond()) }()
	if err := errors.Join(st.await(ctx, 2, "SELECT COUNT(*) FROM agent"), rig.Pause(ctx, 3*time.Second)); err != nil {
		return errors.Join(err, stopFirst())
	}
	var at string
	if err := st.App.QueryRowContext(ctx, "SELECT CAST(UTC_TIMESTAMP(6) AS CHAR)").Scan(&at); err != nil {
		return errors.Join(err, stopFirst())
	}
	if how == syscall.SIGKILL {
		first[0].kill()
	} else if err := first[0].stop(); err != nil {
		return err
	}
	if err := st.await(ctx, runs, "SELECT COUNT(DISTINCT entity_key) FROM bench_call WHERE agent = ?", second[0].Name); err != nil {
		return err
	}
	var waits []float64
	if err := st.DB.SelectContext(ctx, &waits, "SELECT TIMESTAMPDIFF(MICROSECOND, ?, MIN(at)) / 1e6 FROM bench_call WHERE agent = ? GROUP BY entity_key", at, second[0].Name); err != nil {
		return err
	}
	slices.Sort(waits)
	return add(b, name, round, map[string]float64{"median s": waits[len(waits)/2], "last s": waits[len(waits)-1]}, fmt.Sprintf("%d runs, leases of %s", runs, handOverLease))
}
