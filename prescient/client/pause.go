package client

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/jmoiron/sqlx"

	"prescient/prescient"
	"prescient/prescient/audit"
	"prescient/prescient/client/internal/handle"
	"prescient/prescient/internal/literal"
	"prescient/prescient/internal/store"
)

// Pause pauses a job_exec until Resume, from the next slot run on: workers read it as they look at the slot. They move its
// due rows to the next slot, slot after slot, without a call and otherwise as they were. Each slot run moves all that has
// gathered, which for millions of rows takes a while.
//
// Pausing prescient.AllExecs stops all slot runs instead, the sweeper and the forwarders: rows stay where they are, inserts and cancels go on.
// After Resume the sweeper runs what came due meanwhile, oldest first. RollForward of a worker works all the while.
//
// Pausing prescient.AllEvents stops the forwarders alone, with their next look at the outbox: events stay there, and what a broker has in
// hand it may acknowledge.
//
// A call that has begun goes on. Pausing twice changes who did it and why. It leaves an entry in the audit, as Resume does. The error wraps prescient.ErrInvalid.
func (c *Client) Pause(ctx context.Context, db prescient.DB, p prescient.Paused) error {
	if err := pausable(p.JobExec); err != nil {
		return err
	}
	if err := errors.Join(prescient.ValidText("by", p.By, 128), prescient.ValidText("reason", p.Reason, 1000)); err != nil {
		return err
	}
	if err := c.tables.OnOneShard(ctx, db, "pauses"); err != nil {
		return err
	}
	name := literal.Of(literal.AppendText, p.JobExec)
	return handle.InTx(ctx, c.tables.Server, db, func(db prescient.DB) error {
		before, err := c.paused(ctx, db, name)
		if err != nil {
			return err
		}
		_, err = db.ExecContext(ctx, c.tables.Fill("operate/pause", "{job_exec}", name,
			"{paused_by}", literal.Of(literal.AppendText, p.By), "{reason}", literal.Of(literal.AppendText, p.Reason)))
		if err != nil {
			return fmt.Errorf("pausing %s: %w", p.JobExec, err)
		}
		return c.recordPauses(ctx, db, audit.Pause, []string{p.JobExec}, before, paused{p.By, p.Reason})
	})
}

// pausable says whether a name is that of a job_exec, or stands for more than one.
func pausable(name string) error {
	if name == prescient.AllExecs || name == prescient.AllEvents {
		return nil
	}
	return prescient.ValidIdentifier("job_exec", name)
}

// paused locks the pauses of some job_execs, and returns them by name.
func (c *Client) paused(ctx context.Context, db prescient.DB, names string) (map[string]paused, error) {
	type row struct {
		paused
		name string
	}
	rows, err := store.Rows(ctx, db, "looking for pauses", c.tables.Fill("operate/paused", "{job_execs}", names), func(r *row) []any {
		return []any{&r.name, store.Unhex(&r.By), store.Unhex(&r.Reason)}
	})
	found := make(map[string]paused)
	for _, r := range rows {
		found[r.name] = r.paused
	}
	return found, err
}

// Resume ends pauses and returns how many there were. Those of AllExecs and of AllEvents are of their own: what was paused by another
// name stays so.
func (c *Client) Resume(ctx context.Context, db prescient.DB, jobExecs ...string) (resumed int, err error) {
	list := make([]string, 0, len(jobExecs))
	for _, name := range jobExecs {
		if err := pausable(name); err != nil {
			return 0, err
		}
		list = append(list, literal.Of(literal.AppendText, name))
	}
	if len(list) == 0 {
		return 0, nil
	}
	if err := c.tables.OnOneShard(ctx, db, "pauses"); err != nil {
		return 0, err
	}
	names := strings.Join(list, ", ")
	err = handle.InTx(ctx, c.tables.Server, db, func(db prescient.DB) error {
		before, err := c.paused(ctx, db, names)
		if err != nil {
			return err
		}
		if resumed, err = store.Affected(ctx, db, c.tables.Fill("operate/resume", "{job_execs}", names)); err != nil {
			return fmt.Errorf("resuming: %w", err)
		}
		return c.recordPauses(ctx, db, audit.Resume, slices.Sorted(maps.Keys(before)), before, nil)
	})
	if err != nil {
		return 0, err
	}
	return resumed, nil
}

// Pauses lists what is paused, on a pool made by connect.Open.
func (c *Client) Pauses(ctx context.Context, db *sqlx.DB) ([]prescient.Paused, error) {
	list := []prescient.Paused{}
	if err := db.SelectContext(ctx, &list, c.tables.Stmt.Get("list/pauses")); err != nil {
		return nil, fmt.Errorf("listing what is paused: %w", err)
	}
	return list, nil
}
