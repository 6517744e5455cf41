package main

import (
	"context"
	"fmt"

	"prescient/prescient/worker"
)

var slotsSection = section{
	name: "slots",
	about: "slots of 1 thousand to 2 million, run by a process of its own: how fast, and the most memory that it has resident; " +
		"the largest also with as many buckets at a time as where the server is far away",
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
			rounds, jobs := b.rounds, []workload{{Form: "one"}, {Form: "batch"}}
			if size >= 1_000_000 {
				rounds = 1 // memory is the same each time, and it takes minutes
			}
			if i == len(sizes)-1 {
				jobs = []workload{{Form: "one"}, {Form: "one", Buckets: worker.DefaultFarBuckets}}
			}
			for round := range rounds {
				for _, job := range jobs {
					if err := b.slotOf(ctx, st, job, round+1); err != nil {
						return err
					}
				}
			}
		}
		return nil
	},
}

// slotOf runs the due rows in a process of its own.
func (b *bench) slotOf(ctx context.Context, st *stage, job workload, round int) error {
	if err := st.set(ctx); err != nil {
		return err
	}
	var results []childResult
	how := job.Form + " handler"
	if job.Buckets > 0 {
		how += fmt.Sprintf(", %d buckets at a time", job.Buckets)
	}
	name := fmt.Sprintf("prescient, %s, a slot of %s", how, short(float64(st.due)))
	job.DSN = st.dsn(st.name)
	_, err := b.tookWith(name, round, []int{st.pid}, func() (n int, err error) {
		results, err = inChildren(ctx, job, 1)
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
