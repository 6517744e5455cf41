package main

import (
	"context"
	"fmt"
)

var slotsSection = section{
	name:  "slots",
	about: "slots of 1 thousand to 2 million, run by a process of its own: how fast, and the most memory that it has resident",
	run: func(ctx context.Context, b *bench, s *server) error {
		sizes := []int{b.scaled(1_000), b.scaled(10_000), b.scaled(100_000), b.scaled(1_000_000), b.scaled(2_000_000)}
		st, err := b.makeStage(ctx, s, "slots", sizes[len(sizes)-1], b.scaled(1_000_000))
		if err != nil {
			return err
		}
		if !b.keep {
			defer st.drop(ctx)
		}
		for i, size := range sizes {
			st.due = size
			rounds, forms := b.rounds, []string{"one", "batch"}
			if size >= 1_000_000 {
				rounds = 1 // memory is the same each time, and it takes minutes
			}
			if i == len(sizes)-1 {
				forms = forms[:1]
			}
			for round := range rounds {
				for _, form := range forms {
					if err := b.slotOf(ctx, st, form, round+1); err != nil {
						return err
					}
				}
			}
		}
		return nil
	},
}

// slotOf runs the due rows in a process of its own.
func (b *bench) slotOf(ctx context.Context, st *stage, form string, round int) error {
	if err := st.set(ctx); err != nil {
		return err
	}
	var results []childResult
	name := fmt.Sprintf("prescient, %s handler, a slot of %s", form, short(float64(st.due)))
	_, err := b.tookWith(name, round, []int{st.pid}, func() (n int, err error) {
		results, err = inChildren(ctx, workload{Form: form, DSN: st.dsn(st.name)}, 1)
		return st.due, err
	}, func(r *record) {
		r.Seconds = results[0].Figures.Took.Seconds() // without the start of the process
		r.Figures = map[string]float64{"peak MB": results[0].Peak / 1e6}
	})
	if err != nil {
		return err
	}
	if rows := results[0].Figures.Rows(); rows != st.due {
		return fmt.Errorf("%d rows; want %d", rows, st.due)
	}
	return st.ended(ctx, st.due, 0)
}
