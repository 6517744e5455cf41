package rig

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// Contestant does the due rows of a stage in its own way, and checks the result.
type Contestant struct {
	Name string
	Do   func(ctx context.Context, st *Stage) error
	Ends func(due int) int // how many rows end; the others are moved
	Also []string          // further statements before each turn
}

// All is for contestants that end every row.
func All(due int) int { return due }

// AloneAndAmong lets a peer and prescient compete for due jobs, first with nothing else pending, then with a million more.
func AloneAndAmong(due int, compete func(ctx context.Context, b *Bench, s *Server, due, pending int) error) func(context.Context, *Bench, *Server) error {
	return func(ctx context.Context, b *Bench, s *Server) error {
		for _, pending := range []int{0, b.Scaled(1_000_000)} {
			if err := compete(ctx, b, s, b.Scaled(due), pending); err != nil {
				return err
			}
		}
		return nil
	}
}

// Wants says whether a contestant is among those that --only asks for.
func (b *Bench) Wants(name string) bool {
	return len(b.Only) == 0 || slices.ContainsFunc(b.Only, func(only string) bool { return strings.Contains(name, only) })
}

// Compete gives each contestant its turns, alternating.
func (b *Bench) Compete(ctx context.Context, st *Stage, list []Contestant) error {
	for round := 1; round <= b.Rounds; round++ {
		for _, c := range list {
			if !b.Wants(c.Name) {
				continue
			}
			if err := st.Set(ctx, c.Also...); err != nil {
				return err
			}
			_, err := b.Took(c.Name, round, []int{st.Pid}, func() (int, error) { return st.Due, c.Do(ctx, st) })
			if err != nil {
				return err
			}
			if err := st.Ended(ctx, c.Ends(st.Due), st.Due-c.Ends(st.Due)); err != nil {
				return fmt.Errorf("%s: %w", c.Name, err)
			}
		}
	}
	return nil
}

// OnStage lets contestants compete for 200 thousand due rows among a million pending.
func (b *Bench) OnStage(ctx context.Context, s *Server, name string, list []Contestant) error {
	st, err := b.MakeStage(ctx, s, name, b.Scaled(200_000), b.Scaled(1_000_000))
	if err != nil {
		return err
	}
	if !b.Keep {
		defer st.Drop(ctx)
	}
	return b.Compete(ctx, st, list)
}
