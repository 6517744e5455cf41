package keyspace

import (
	"context"
	"fmt"
	"time"

	"prescient/scripts/bench/internal/page"
	"prescient/scripts/bench/internal/rig"
)

// slot runs a slot of so many rows, and says what each of the groups has used.
func (s *side) slot(ctx context.Context, b *rig.Bench, round, due int, name string) error {
	if due == 0 {
		name += page.NothingDue
	}
	if !b.Wants(name) {
		return nil
	}
	if err := s.set(ctx, due); err != nil {
		return err
	}
	groups := s.groups()
	var pids []int
	for _, g := range groups {
		pids = append(pids, g.pids...)
	}
	sent, err := s.calls(ctx)
	if err != nil {
		return err
	}
	before := used(groups)
	var took time.Duration
	_, err = b.TookWith(name, round, pids, func() (rows int, err error) {
		rows, took, err = s.run(ctx)
		return rows, err
	}, func(r *page.Record) {
		r.Seconds = took.Seconds() // without the start of the process
		r.Figures = make(map[string]float64)
		for i, now := range used(groups) {
			r.Figures[page.CPUOf(groups[i].name)] = (now - before[i]) * 1e6 / float64(max(due, 1))
		}
		if due == 0 {
			r.Figures[page.CPUOf("worker")] = r.ClientCPU * 1e6
		}
		if now, err := s.calls(ctx); err == nil { // it has answered a moment ago
			r.Figures[page.Statements] = now - sent
		}
	})
	if err != nil {
		return err
	}
	if err := s.ended(ctx, due); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// used is the CPU time of each group so far, in s.
func used(groups []group) (list []float64) {
	for _, g := range groups {
		list = append(list, rig.UsageNow(g.pids...).Server)
	}
	return list
}

// among runs the slot among many more that are pending.
func (s *side) among(ctx context.Context, b *rig.Bench, from, pending, due int) error {
	name := s.name + page.Among(pending)
	if !b.Wants(name) {
		return nil
	}
	began := time.Now()
	if err := s.fill(ctx, from, pending, due); err != nil {
		return err
	}
	size, err := s.bytesPending(ctx)
	if err != nil {
		return err
	}
	b.Say("  %s: %d pending, %.0f MB, after %v", s.name, pending, size/1e6, time.Since(began).Round(time.Second))
	for round := 1; round <= b.Rounds; round++ {
		if err := s.slot(ctx, b, round, due, name); err != nil {
			return err
		}
	}
	return b.Book.Add(page.Record{Case: page.Pending, Rows: pending, Figures: map[string]float64{page.BytesEach: size / float64(pending), page.ShardsOf: float64(len(s.parts))}})
}
