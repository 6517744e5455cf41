package main

import (
	"context"
	"fmt"

	"prescient/scripts/bench/internal/page"
	"prescient/scripts/bench/internal/peers"
	"prescient/scripts/bench/internal/rig"
	"prescient/scripts/bench/internal/slotrun"
)

var queueSection = rig.Section{
	Name:  "queue",
	About: "a queue table as it is usually made, claimed with SKIP LOCKED on the same server, row by row and many in a transaction, near and 1 ms away, beside a slot run: alone, and with a million more pending",
	Run:   rig.AloneAndAmong(20_000, besideQueue),
}

// besideQueue lets a queue table and prescient compete at one number of pending jobs.
func besideQueue(ctx context.Context, b *rig.Bench, s *rig.Server, due, pending int) error {
	st, err := b.MakeStage(ctx, s, "queue", due, pending)
	if err != nil {
		return err
	}
	if !b.Keep {
		defer st.Drop(ctx)
	}
	suffix := ""
	if pending > 0 {
		suffix = page.AmongPending
	}
	for _, query := range []string{peers.QueueTable,
		fmt.Sprintf("INSERT INTO bench_queue (state, run_at, entity) SELECT 0, UTC_TIMESTAMP() + INTERVAL 1 + n MOD 28 DAY, n FROM bench_n WHERE n < %d", pending)} {
		if _, err := st.Exec(ctx, query); err != nil {
			return err
		}
	}
	if err := st.Analyze(ctx, "bench_queue"); err != nil {
		return err
	}
	fill := func(rows int) {
		st.Also = []string{"DELETE FROM bench_queue WHERE run_at <= UTC_TIMESTAMP()", // those of turns that leave them alone, too
			fmt.Sprintf("INSERT INTO bench_queue (state, run_at, entity) SELECT 0, UTC_TIMESTAMP(), n FROM bench_n WHERE n < %d", rows)}
	}
	queues := peers.Queues()
	rowByRow := len(queues) - len(page.QueueRows)
	for _, c := range queues[rowByRow:] {
		queues = append(queues, rig.Away(c, near))
	}
	for round := 1; round <= b.Rounds; round++ {
		for i, c := range queues {
			rows := due
			if i < rowByRow {
				rows /= fewerRowByRow
			}
			fill(rows)
			if err := st.Set(ctx); err != nil {
				return err
			}
			if _, err := b.Took(c.Name+suffix, round, []int{st.Pid}, func() (int, error) { return rows, c.Do(ctx, st) }); err != nil {
				return err
			}
			var finished, left int
			if err := st.App.QueryRowContext(ctx, "SELECT COALESCE(SUM(state = 2), 0), COALESCE(SUM(state < 2), 0) FROM bench_queue WHERE run_at <= UTC_TIMESTAMP()").
				Scan(&finished, &left); err != nil {
				return err
			}
			if finished != rows || left > 0 {
				return fmt.Errorf("%s: %d are finished, and %d left; want %d", c.Name, finished, left, rows)
			}
		}
		fill(due)
		if err := slotRuns(ctx, b, st, round, suffix, rig.Away(slotrun.Of("prescient, ends", "one"), near)); err != nil {
			return err
		}
	}
	return nil
}

// fewerRowByRow is how many times fewer rows a queue has that goes row by row, each of which takes as long, and longer than all others together.
const fewerRowByRow = 10

// slotRuns are prescient's turns beside a peer, and that of what the server itself needs for the same.
func slotRuns(ctx context.Context, b *rig.Bench, st *rig.Stage, round int, suffix string, more ...rig.Contestant) error {
	list := []rig.Contestant{slotrun.Of("prescient, ends", "one"), slotrun.Of("prescient, ends, batch handler", "batch"), peers.Floors()[0], peers.FloorOfCommits()}
	for _, c := range append(list, more...) {
		if err := st.Set(ctx); err != nil {
			return err
		}
		if _, err := b.Took(c.Name+suffix, round, []int{st.Pid}, func() (int, error) { return st.Due, c.Do(ctx, st) }); err != nil {
			return err
		}
		if err := st.Ended(ctx, st.Due, 0); err != nil {
			return err
		}
	}
	return nil
}
