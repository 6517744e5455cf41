package main

import (
	"context"
	"fmt"
)

var memorySection = section{
	name:  "memory",
	about: "the most memory that a worker's process has resident, by how many rows are due",
	run: func(ctx context.Context, b *bench, s *server) error {
		for _, due := range []int{b.scaled(20_000), b.scaled(200_000), b.scaled(2_000_000)} {
			st, err := b.makeStage(ctx, s, "memory", due, b.scaled(20_000))
			if err != nil {
				return err
			}
			for _, form := range []string{"one", "batch"} {
				if err := st.set(ctx); err != nil {
					return err
				}
				results, err := inChildren(ctx, workload{Form: form, DSN: st.dsn(st.name)}, 1)
				if err != nil {
					return err
				}
				r := record{Case: fmt.Sprintf("prescient, %s handler, %s due", form, short(float64(due))), Rows: due,
					Seconds: results[0].Figures.Took.Seconds(), Figures: map[string]float64{"peak MB": results[0].Peak / 1e6}}
				b.say("  %s handler, %d due: %.1f MB at most", form, due, results[0].Peak/1e6)
				if results[0].Figures.Rows() != due {
					return fmt.Errorf("%d rows; want %d", results[0].Figures.Rows(), due)
				}
				if err := b.book.add(r); err != nil {
					return err
				}
			}
			if err := st.drop(ctx); err != nil {
				return err
			}
		}
		return nil
	},
}
