package forecast

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"prescient/prescient/internal/duty"
	"prescient/prescient/internal/errno"
	"prescient/prescient/internal/literal"
	"prescient/prescient/internal/store"
)

// rowsAtATime are those of a statement that writes them.
const rowsAtATime = 1_000

// write puts a forecast beside the one before, where the duty is still this process's.
func (m *Maker) write(ctx context.Context, held *duty.Held, r Report) error {
	last, _, _, err := newestTurn(ctx, m.db, m.tables.Stmt)
	switch {
	case errors.Is(err, ErrNone):
		last = turns - apart // the first comes next
	case err != nil:
		return err
	}
	for range turnTries {
		last = last.next()
		if err = m.writeIn(ctx, last, held, r); !errno.BeginAgain(err) {
			break
		}
	}
	if err != nil {
		return err
	}
	// It is written: who has this row locked keeps back no more than how it was made.
	_, err = m.db.ExecContext(ctx, m.tables.Stmt.Get("forecast/set_made"), r.MadeAt, r.Worker, r.TookMS, r.From, r.Before, r.Read, r.Schedules, r.SchedulesAll)
	if err != nil && !errno.BeginAgain(err) {
		return fmt.Errorf("writing how the forecast was made: %w", err)
	}
	return nil
}

// writeIn writes a forecast in a turn.
func (m *Maker) writeIn(ctx context.Context, in turn, held *duty.Held, r Report) error {
	const doing = "writing the forecast"
	// Read committed locks no row that is not its own.
	tx, err := m.db.BeginTx(store.MayIdle(ctx, store.IdleInCommit), &sql.TxOptions{Isolation: sql.LevelReadCommitted})
	if err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	defer func() { _ = store.Rollback(tx) }() // nothing, once it is committed
	if err := held.Fence(ctx, tx); err != nil {
		return err
	}
	var lines, fits [][]byte
	ofSlots, ofDays := in.grain(OfSlot), in.grain(OfDay)
	for grain, parts := range map[string][]Part{ofSlots: r.Slots, ofDays: r.Days} {
		for _, p := range parts {
			fits = append(fits, p.appendValues(nil, grain, r.MadeAt))
			for _, l := range p.Lines {
				lines = append(lines, l.appendValues(nil, grain, p.Start))
			}
		}
	}
	for _, of := range []struct {
		clear, insert string
		rows          [][]byte
	}{{"forecast/clear_fits", "forecast/insert_fits", fits}, {"forecast/clear", "forecast/insert", lines}} {
		for _, grain := range []string{ofSlots, ofDays} {
			if _, err := tx.ExecContext(ctx, m.tables.Stmt.Get(of.clear), grain); err != nil {
				return fmt.Errorf("%s: %w", doing, err)
			}
		}
		for some := range slices.Chunk(of.rows, rowsAtATime) {
			list := literal.Join(",", func(b []byte, row []byte) []byte { return append(b, row...) }, some)
			if err := m.tables.Exec(ctx, tx, doing, of.insert, "{rows}", list); err != nil {
				return err
			}
		}
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	return nil
}

// appendNumbers appends numbers, each with a comma behind it.
func appendNumbers(b []byte, numbers ...int64) []byte {
	for _, n := range numbers {
		b = append(literal.AppendInt(b, n), ',')
	}
	return b
}

func appendStart(b []byte, grain string, start time.Time) []byte {
	b = append(literal.AppendText(append(b, '('), grain), ',')
	return append(literal.AppendSecond(b, start), ',')
}

// appendValues appends (…) of a line.
func (l Line) appendValues(b []byte, grain string, start time.Time) []byte {
	b = append(literal.AppendText(appendStart(b, grain, start), l.JobExec), ',')
	b = appendNumbers(b, l.Due, l.Low, l.High, l.Repeats, l.Occurrences)
	return append(literal.AppendText(b, string(l.How)), ')')
}

// appendValues appends (…) of a slot or day.
func (p Part) appendValues(b []byte, grain string, madeAt time.Time) []byte {
	b = appendNumbers(appendStart(b, grain, p.Start), p.Due, p.Low, p.High, p.Occurrences)
	b = append(literal.AppendText(b, string(p.How)), ',')
	b = appendNumbers(b, p.Concurrency, p.Unknown)
	for _, at := range []*time.Time{p.BeginsAt, p.LastStartAt, p.EndsAt} {
		b = append(literal.AppendMicroOrNull(b, at), ',')
	}
	b = append(literal.AppendText(b, string(p.Verdict)), ',')
	b = appendNumbers(b, int64(p.Over))
	b = append(literal.AppendText(b, p.Fit.JobExec), ',')
	return append(literal.AppendMicroOrNull(b, &madeAt), ')')
}
