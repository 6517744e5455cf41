package forecast

import (
	"context"
	"fmt"
	"slices"
	"time"

	"prescient/prescient/internal/duty"
	"prescient/prescient/internal/literal"
	"prescient/prescient/internal/store"
)

// rowsAtATime are those of a statement that writes them.
const rowsAtATime = 500

// write puts a forecast in the place of the one before, where the duty is still this process's.
func (m *Maker) write(ctx context.Context, held *duty.Held, r Report) error {
	tx, err := m.db.BeginTx(store.MayIdle(ctx, store.IdleInCommit), nil)
	if err != nil {
		return fmt.Errorf("writing the forecast: %w", err)
	}
	defer func() { _ = store.Rollback(tx) }() // nothing, once it is committed
	if err := held.Fence(ctx, tx); err != nil {
		return err
	}
	var lines, fits [][]byte
	for grain, parts := range map[Grain][]Part{OfSlot: r.Slots, OfDay: r.Days} {
		for _, p := range parts {
			fits = append(fits, p.appendValues(nil, grain, r.MadeAt))
			for _, l := range p.Lines {
				lines = append(lines, l.appendValues(nil, grain, p.Start))
			}
		}
	}
	const doing = "writing the forecast"
	if err := m.tables.Exec(ctx, tx, doing, "forecast/clear"); err != nil {
		return err
	}
	if err := m.tables.Exec(ctx, tx, doing, "forecast/clear_fits"); err != nil {
		return err
	}
	for statement, rows := range map[string][][]byte{"forecast/insert": lines, "forecast/insert_fits": fits} {
		for some := range slices.Chunk(rows, rowsAtATime) {
			list := literal.Join(",", func(b []byte, row []byte) []byte { return append(b, row...) }, some)
			if err := m.tables.Exec(ctx, tx, doing, statement, "{rows}", list); err != nil {
				return err
			}
		}
	}
	if _, err := tx.ExecContext(ctx, m.tables.Stmt.Get("forecast/set_made"), r.MadeAt, r.Worker, r.TookMS, r.From, r.Before, r.Read, r.Schedules, r.SchedulesAll); err != nil {
		return fmt.Errorf("%s: %w", doing, err)
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

func appendStart(b []byte, grain Grain, start time.Time) []byte {
	b = append(literal.AppendText(append(b, '('), string(grain)), ',')
	return append(literal.AppendSecond(b, start), ',')
}

// appendValues appends (…) of a line.
func (l Line) appendValues(b []byte, grain Grain, start time.Time) []byte {
	b = append(literal.AppendText(appendStart(b, grain, start), l.JobExec), ',')
	b = appendNumbers(b, l.Due, l.Low, l.High, l.Repeats, l.Occurrences)
	return append(literal.AppendText(b, string(l.How)), ')')
}

// appendValues appends (…) of a slot or day.
func (p Part) appendValues(b []byte, grain Grain, madeAt time.Time) []byte {
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
