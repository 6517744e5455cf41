package prune

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/literal"
	"prescient/prescient/internal/store"
)

// prunePage is how many slots of the ledger are looked at at a time.
const prunePage = 500

// pruneLedger deletes the ledger of old slots, oldest first.
func (p *pruner) pruneLedger(ctx context.Context, cutoff time.Time) error {
	for from := prescient.EarliestDue; ; {
		var page []struct {
			Slot  time.Time `db:"slot"`
			Rows  int       `db:"ledger_rows"`
			MayGo bool      `db:"may_go"`
		}
		err := p.retry(ctx, "reading the ledger", func(ctx context.Context) error {
			page = nil
			return p.conn.SelectContext(ctx, &page, p.tables.Stmt.Get("prune/ledger"), from, cutoff, prunePage)
		})
		if err != nil {
			return fmt.Errorf("reading the ledger: %w", err)
		}
		var batch []time.Time
		rows := 0
		for i, slot := range page {
			from = slot.Slot.Add(time.Second)
			if slot.MayGo {
				batch = append(batch, slot.Slot)
				rows += slot.Rows
			} else {
				p.report.LedgerSlotsKept++
			}
			if rows < pruneBatch && i < len(page)-1 || len(batch) == 0 {
				continue
			}
			if err := p.endSlots(ctx, batch); err != nil {
				return err
			}
			batch, rows = nil, 0
		}
		if len(page) < prunePage {
			return nil
		}
	}
}

// endSlots deletes the ledger of some slots, of each wholly or not at all.
func (p *pruner) endSlots(ctx context.Context, list []time.Time) error {
	var gone, kept int
	err := p.retry(ctx, "pruning the ledger", func(ctx context.Context) (err error) {
		gone, kept, err = p.tryEndSlots(ctx, list)
		return err
	})
	if errors.Is(err, errLedgerMoved) {
		gone, kept, err = 0, len(list), nil
	}
	if err != nil {
		return fmt.Errorf("pruning the ledger: %w", err)
	}
	p.report.LedgerRows += gone
	p.report.LedgerSlotsKept += kept
	p.did()
	return nil
}

// errLedgerMoved: somebody opens buckets of the slots that are to go. The next prune takes them.
var errLedgerMoved = errors.New("somebody opens buckets of these slots")

// tryEndSlots makes one attempt, in a transaction that has all rows locked. A slot of which one bucket was taken, or that
// something waits for, is kept with all its rows: a bucket that is missing is one that nobody runs.
func (p *pruner) tryEndSlots(ctx context.Context, list []time.Time) (gone, kept int, err error) {
	tx, err := p.conn.BeginTxx(ctx, &sql.TxOptions{Isolation: sql.LevelReadCommitted})
	if err != nil {
		return 0, 0, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, store.Rollback(tx.Tx))
		}
	}()
	var locked []struct {
		Slot  time.Time `db:"slot"`
		MayGo bool      `db:"may_go"`
	}
	if err := tx.SelectContext(ctx, &locked, p.tables.Fill("prune/ledger_lock", "{slots}", slotList(list))); err != nil {
		return 0, 0, err
	}
	stays := make(map[time.Time]bool)
	for _, row := range locked {
		if !row.MayGo {
			stays[row.Slot] = true
		}
	}
	var free []time.Time
	for _, slot := range list {
		if !stays[slot] {
			free = append(free, slot)
		}
	}
	rows := 0
	for _, row := range locked {
		if !stays[row.Slot] {
			rows++
		}
	}
	if rows > 0 {
		if gone, err = store.Affected(ctx, tx, p.tables.Fill("prune/ledger_end", "{slots}", slotList(free))); err != nil {
			return 0, 0, err
		}
		if gone != rows {
			return 0, 0, errLedgerMoved
		}
		if _, err := tx.ExecContext(ctx, p.tables.Fill("prune/exec_end", "{slots}", slotList(free))); err != nil {
			return 0, 0, fmt.Errorf("deleting the books by job_exec: %w", err)
		}
	}
	return gone, len(stays), tx.Commit()
}

func slotList(slots []time.Time) string { return literal.List(literal.AppendSecond, slots) }
