package guest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"prescient/prescient/connect"

	"prescient/scripts/bench/internal/page"
	"prescient/scripts/bench/internal/peers"
	"prescient/scripts/bench/internal/rig"
	"prescient/scripts/bench/internal/slotrun"
)

// Stalls is the section that asks where an app's stalls come from.
var Stalls = rig.Section{
	Name: "stalls",
	About: fmt.Sprintf("updates of an order that take %s or more, by an app that updates one after the other, for a minute: for half of it 200,000 rows of a slot are ended at the default pace, or by "+
		"plain SQL that writes as much in as long a time, in as many commits and in more and fewer, with a binlog and without; for the other half nothing runs", stalled),
	Args: Section.Args,
	Run:  measureStalls,
}

const (
	// stalled is from when on an update counts as a stall: some twenty times what it takes in the median.
	stalled = 20 * time.Millisecond
	// spread is for how long plain SQL writes: as the slot run at the default pace does.
	spread = 25 * time.Second
)

// stalling is what writes beside the app.
type stalling struct {
	name     string
	rows     int // of a commit of plain SQL
	noBinlog bool
	of       func(ctx context.Context, h *hosts) error // nil: plain SQL
}

func stallings() []stalling {
	return []stalling{
		{name: page.NoGuest, of: func(context.Context, *hosts) error { return nil }},
		{name: "prescient, default pace", of: func(ctx context.Context, h *hosts) error {
			_, err := slotrun.InChildren(ctx, slotrun.Workload{Form: "one", Needed: finishWithin, DSN: h.DSN(h.Name), Slot: h.Slot}, 1)
			return err
		}},
		{name: fmt.Sprintf("SQL only, commits of %d rows", page.CommitRows), rows: page.CommitRows},
		{name: fmt.Sprintf("SQL only, commits of %d rows", page.CommitRows/10), rows: page.CommitRows / 10},
		{name: fmt.Sprintf("SQL only, commits of %d rows", page.CommitRows*10), rows: page.CommitRows * 10},
		{name: fmt.Sprintf("SQL only, commits of %d rows, not in the binlog", page.CommitRows), rows: page.CommitRows, noBinlog: true},
	}
}

// measureStalls gives each its turns.
func measureStalls(ctx context.Context, b *rig.Bench, s *rig.Server) error {
	h, err := install(ctx, b, s, "stalls", nil)
	if err != nil {
		return err
	}
	if !b.Keep {
		defer h.Drop(ctx)
	}
	for round := 1; round <= b.Rounds; round++ {
		for _, c := range stallings() {
			if !b.Wants(c.name) {
				continue
			}
			if err := h.stalls(ctx, b, c, round); err != nil {
				return fmt.Errorf("%s: %w", c.name, err)
			}
		}
	}
	return nil
}

// stalls lets the app update orders while a slot's rows are ended, and as long again.
func (h *hosts) stalls(ctx context.Context, b *rig.Bench, c stalling, round int) (err error) {
	fill := rig.SlotFill{Every: resolution, Due: h.Due, Exec: strconv.Quote(rig.DueExec), Empty: h.empty, Settle: h.settle}
	if h.Slot, h.takes, err = fill.Fill(ctx, h.Place, h.takes); err != nil {
		return err
	}
	binlog, err := h.NewBinlog(ctx)
	if err != nil {
		return err
	}
	a := &app{over: make(chan struct{})}
	if err := a.start(ctx, h.Stage, h.Slot, a.updates); err != nil {
		return err
	}
	do := c.of
	if do == nil {
		do = func(ctx context.Context, h *hosts) error { return h.plainly(ctx, c) }
	}
	failed := do(ctx, h)
	ended := time.Now()
	if c.name != page.NoGuest {
		failed = errors.Join(failed, h.check(ctx, 0))
	}
	failed = errors.Join(failed, rig.Pause(ctx, time.Until(h.Slot.Add(2*resolution))))
	if err := errors.Join(failed, a.stop()); err != nil {
		return err
	}
	figures := map[string]float64{"beside s": max(ended.Sub(h.Slot), 0).Seconds()}
	beside, after := 0, 0
	for _, s := range a.plain {
		switch {
		case s.took < stalled:
		case s.at.Before(ended):
			beside++
		default:
			after++
		}
	}
	figures["stalls beside"], figures["stalls after"] = float64(beside), float64(after)
	a.felt(h.Slot, h.Slot.Add(2*resolution), figures)
	if binlog != "" && !c.noBinlog && c.name != page.NoGuest {
		sizes, err := h.InBinlog(ctx, binlog, "job_history")
		if err != nil {
			return err
		}
		figures["commits"] = float64(len(sizes))
		for _, size := range sizes {
			figures["binlog MB"] += float64(size) / 1e6
		}
		if len(sizes) > 0 {
			figures["binlog kB, largest transaction"] = float64(slices.Max(sizes)) / 1000
		}
	}
	r := page.Record{Case: c.name, Round: round, Rows: h.Due, Figures: figures}
	b.Say("  %-52s %s", c.name, page.FiguresText(r.Figures))
	return b.Book.Add(r)
}

// plainly ends the rows of the slot by plain SQL on two connections, evenly.
func (h *hosts) plainly(ctx context.Context, c stalling) error {
	if err := rig.Pause(ctx, time.Until(h.Slot)); err != nil {
		return err
	}
	dsn := h.DSN(h.Name)
	if c.noBinlog {
		dsn = h.UnloggedDSN(h.Name)
	}
	db, err := connect.Open(dsn, 0)
	if err != nil {
		return err
	}
	defer db.Close()
	commits := max(h.Due/c.rows, 1)
	return rig.InParallel(ctx, 2, commits, func(ctx context.Context, i int) error {
		if err := rig.Pause(ctx, time.Until(h.Slot.Add(spread*time.Duration(i)/time.Duration(commits)))); err != nil {
			return err
		}
		return peers.EndRange(ctx, db, h.Slot, i, commits)
	})
}
