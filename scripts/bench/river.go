package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"prescient/scripts/bench/internal/page"
	"prescient/scripts/bench/internal/peers"
	"prescient/scripts/bench/internal/rig"
)

var riverSection = rig.Section{
	Name:  "river",
	About: "River on Postgres, for jobs that are due at one instant and are kept when done, beside a slot run: alone, and with a million more pending",
	Run:   rig.AloneAndAmong(50_000, besideRiver),
}

// besideRiver lets River and prescient compete at one number of pending jobs.
func besideRiver(ctx context.Context, b *rig.Bench, s *rig.Server, due, pending int) (err error) {
	st, err := b.MakeStage(ctx, s, "river", due, pending)
	if err != nil {
		return err
	}
	if !b.Keep {
		defer st.Drop(ctx)
	}
	pg, err := peers.StartPostgres(ctx, b.Pool)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, pg.Stop()) }()
	b.Say("  Postgres %s", pg.Version)
	if err := pg.RiverTables(ctx, pending); err != nil {
		return err
	}
	suffix := ""
	if pending > 0 {
		suffix = page.AmongPending
	}
	for round := 1; round <= b.Rounds; round++ {
		for _, c := range []struct{ name, state string }{{page.RiverReady, "available"}, {page.RiverScheduled, "scheduled"}} {
			if err := pg.RiverJobs(ctx, due, c.state); err != nil {
				return err
			}
			var client *river.Client[pgx.Tx]
			if _, err := b.Took(c.name+suffix, round, []int{pg.Pid()}, func() (_ int, err error) {
				client, err = pg.RiverWork(ctx, due)
				return due, err
			}); err != nil {
				return err
			}
			if err := client.Stop(ctx); err != nil {
				return err
			}
			var completed int
			if err := pg.Pool.QueryRow(ctx, "SELECT count(*) FROM river_job WHERE state = 'completed' AND kind = $1", rig.DueExec).Scan(&completed); err != nil || completed != due {
				return errors.Join(err, fmt.Errorf("%s: %d of %d are completed", c.name, completed, due))
			}
		}
		if err := slotRuns(ctx, b, st, round, suffix); err != nil {
			return err
		}
	}
	return nil
}
