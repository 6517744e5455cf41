package agents

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"prescient/scripts/bench/internal/rig"
)

// One of the agents that runs are dealt out to.
type seat struct{ places, busy int }

func (s seat) free() int { return s.places - s.busy }

// deal deals out 1,000 runs to four agents: of equal places, of which some are taken already, and of unequal ones.
func deal(ctx context.Context, b *rig.Bench, s *rig.Server, round int) error {
	for _, table := range []struct {
		name  string
		seats []seat
	}{
		{"dealt out: to 500 places each, 0 to 75 % of them taken", []seat{{500, 0}, {500, 125}, {500, 250}, {500, 375}}},
		{"dealt out: to 800, 400, 200 and 100 places", []seat{{800, 0}, {400, 0}, {200, 0}, {100, 0}}},
	} {
		if err := dealt(ctx, b, s, round, table.name, table.seats); err != nil {
			return fmt.Errorf("%s: %w", table.name, err)
		}
	}
	return nil
}

// aLongTime is the work of a run that lasts as long as its agent, and saves nothing.
const aLongTime = `{"steps": 1, "ms": 3600000}`

func dealt(ctx context.Context, b *rig.Bench, s *rig.Server, round int, name string, seats []seat) error {
	const runs = 1000
	st, err := install(ctx, s, "deal", shortSlot)
	if err != nil {
		return err
	}
	if !b.Keep {
		defer st.Drop(ctx)
	}
	var names []string
	for i := range seats {
		names = append(names, fmt.Sprint("agent-", i+1))
	}
	var all []*child
	defer func() { // nobody is to go on with them
		for _, c := range all {
			c.kill()
		}
	}()
	taken, free := 0, 0
	for i, seat := range seats {
		c, err := st.start(ctx, asked{Name: names[i], Capacity: seat.places, Lease: 2 * time.Minute, Seated: names})
		if err != nil {
			return err
		}
		all = append(all, c)
		taken, free = taken+seat.busy, free+seat.free()
	}
	if err := st.await(ctx, len(seats), "SELECT COUNT(*) FROM agent"); err != nil {
		return err
	}
	for i, seat := range seats {
		if err := st.insert(ctx, ownExec(names[i]), names[i]+" ", seat.busy, 1, aLongTime); err != nil {
			return err
		}
	}
	if err := st.await(ctx, taken, "SELECT COUNT(*) FROM bench_call"); err != nil {
		return err
	}
	if err := errors.Join(st.insert(ctx, "export", "r", runs, 1, aLongTime), st.await(ctx, taken+runs, "SELECT COUNT(*) FROM bench_call")); err != nil {
		return err
	}
	var took float64
	if err := st.App.QueryRowContext(ctx, "SELECT TIMESTAMPDIFF(MICROSECOND, (SELECT MAX(slot) FROM long_run), MAX(at)) / 1e6 FROM bench_call WHERE entity_key LIKE 'r%'").Scan(&took); err != nil {
		return err
	}
	figures := map[string]float64{"dealt out after s": took}
	off := 0.0
	for i, seat := range seats {
		n, err := st.count(ctx, "SELECT COUNT(*) FROM bench_call WHERE agent = ? AND entity_key LIKE 'r%'", names[i])
		if err != nil {
			return err
		}
		figures[fmt.Sprintf("to agent %d", i+1)] = float64(n)
		off += math.Abs(float64(n)-float64(runs*seat.free())/float64(free)) / 2
	}
	figures["% beside the free places"] = off * 100 / runs
	return add(b, name, round, figures, fmt.Sprintf("%d runs of a slot of %s", runs, shortSlot))
}
