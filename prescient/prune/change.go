package prune

import (
	"context"
	"errors"
	"fmt"

	"prescient/prescient/internal/errno"
	"prescient/sql/migrate"
)

// Numbers of errors of a change of partitions that somebody else did meanwhile, as on another node of a cluster.
const (
	errNoSuchPartition   = 1507
	errPartitionIsThere  = 1517
	errWrongReorganizing = 1520
)

// change changes partitions, again and again until the patience is over while somebody has the table open.
func (p *pruner) change(ctx context.Context, statement string) error {
	err := p.ddl.Exec(ctx, statement)
	others := errno.Is(err, errNoSuchPartition, errPartitionIsThere, errWrongReorganizing)
	var held *migrate.HeldError
	switch {
	case err == nil, others && p.ddl.Unsure: // a try whose time was over did it
		p.report.HeldBy = nil
		return nil
	case errors.As(err, &held):
		return fmt.Errorf("%w: %s: %w", ErrHistoryHeld, held.Who(), held.Err)
	case others:
		return fmt.Errorf("somebody else changes the partitions: %w", err)
	}
	return err
}

// Held takes note of a try that met somebody.
func (p *pruner) Held(e *migrate.HeldError) {
	p.report.HeldBy = e.By
	p.options.Log.Info().Stringers("held_by", stringers(e.By)).Msg("history is held open; its partitions are changed later")
}

func stringers(list []Holder) (all []fmt.Stringer) {
	for _, h := range list {
		all = append(all, h)
	}
	return all
}
