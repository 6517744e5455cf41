package main

import (
	"context"
	"fmt"

	"prescient/prescient/worker"

	"prescient/scripts/bench/internal/page"
	"prescient/scripts/bench/internal/rig"
	"prescient/scripts/bench/internal/slotrun"
)

var slotsSection = rig.Section{
	Name: "slots",
	About: "slots of 1 thousand to 2 million, run by a process of its own: how fast, and the most memory that it has resident; " +
		"the largest also with as many buckets at a time as where the server is far away",
	Run: func(ctx context.Context, b *rig.Bench, s *rig.Server) error {
		sizes := []int{b.Scaled(1_000), b.Scaled(10_000), b.Scaled(100_000), b.Scaled(1_000_000), b.Scaled(2_000_000)}
		st, err := b.MakeStage(ctx, s, "slots", sizes[len(sizes)-1], b.Scaled(1_000_000))
		if err != nil {
			return err
		}
		if !b.Keep {
			defer st.Drop(ctx)
		}
		for i, size := range sizes {
			st.Due = size
			rounds, jobs := b.Rounds, []slotrun.Workload{{Form: "one"}, {Form: "batch"}}
			if size >= 1_000_000 {
				rounds = 1 // memory is the same each time, and it takes minutes
			}
			if i == len(sizes)-1 {
				jobs = []slotrun.Workload{{Form: "one"}, {Form: "one", Buckets: worker.DefaultFarBuckets}}
			}
			for round := range rounds {
				for _, job := range jobs {
					if err := slotOf(ctx, b, st, job, round+1); err != nil {
						return err
					}
				}
			}
		}
		return nil
	},
}

// slotOf runs the due rows in a process of its own.
func slotOf(ctx context.Context, b *rig.Bench, st *rig.Stage, job slotrun.Workload, round int) error {
	if err := st.Set(ctx); err != nil {
		return err
	}
	var results []slotrun.ChildResult
	how := job.Form + " handler"
	if job.Buckets > 0 {
		how += fmt.Sprintf(", %d buckets at a time", job.Buckets)
	}
	name := fmt.Sprintf("prescient, %s, a slot of %s", how, page.Short(float64(st.Due)))
	job.DSN = st.DSN(st.Name)
	_, err := b.TookWith(name, round, []int{st.Pid}, func() (n int, err error) {
		results, err = slotrun.InChildren(ctx, job, 1)
		return st.Due, err
	}, func(r *page.Record) {
		r.Seconds = results[0].Figures.Took.Seconds() // without the start of the process
		r.Figures = map[string]float64{"peak MB": results[0].Peak / 1e6}
	})
	if err != nil {
		return err
	}
	if rows := results[0].Figures.Rows(); rows != st.Due {
		return fmt.Errorf("%d rows; want %d", rows, st.Due)
	}
	return st.Ended(ctx, st.Due, 0)
}
