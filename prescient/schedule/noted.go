package schedule

import (
	"context"
	"maps"
	"slices"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/errno"
	"prescient/prescient/internal/literal"
	"prescient/prescient/internal/store"
	"prescient/slots"
	text "prescient/sql"
)

// before is what was there of schedules that are to be made.
type before struct {
	// until is when those that were deleted have fired until, where that is later than now, since the clock was put back.
	until map[string]time.Time
	// there are those that the snapshot of the transaction shows.
	there map[string]bool
}

// lookBefore asks for the time, and what was there of schedules that are to be made; not of those that are to be paused.
func (s *Schedules) lookBefore(ctx context.Context, db prescient.DB, some []Schedule, paused bool) (now time.Time, b before, err error) {
	ids := idsOf(some, func(one Schedule) string { return one.ID })
	if !paused && s.tables.Dialect == text.Full { // by one statement
		if now, b, err = s.lookInto(ctx, db, "schedule/before", ids, "UTC_TIMESTAMP(6)"); err != nil || !now.IsZero() {
			return now, b, err
		}
	}
	if now, err = s.own.NowOf(ctx, db, ids[0]); err != nil || paused {
		return now, before{}, err
	}
	if s.tables.Dialect == text.Plain {
		_, b, err = s.lookInto(ctx, db, "schedule/before", ids, literal.Of(literal.AppendMicro, now))
	}
	return now, b, err
}

// lookAgain returns until when those that were made have fired. One that the snapshot shows still was deleted since it was taken, so
// that it hides that, too: of these alone the look is a locking one, which finds a row for each, and so locks no gap.
func (s *Schedules) lookAgain(ctx context.Context, db prescient.DB, added []Schedule, b before, now time.Time) (until map[string]time.Time, err error) {
	ids := idsOf(added, func(one Schedule) string { return one.ID })
	hidden := slices.DeleteFunc(ids, func(id string) bool { return !b.there[id] })
	if len(hidden) == 0 {
		return b.until, nil
	}
	_, again, err := s.lookInto(ctx, db, "schedule/fired_until", hidden, literal.Of(literal.AppendMicro, now))
	if err != nil {
		return nil, err
	}
	maps.Copy(b.until, again.until)
	return b.until, nil
}

// lookInto asks what was there at the time that an expression tells, and for the time itself where the statement does.
func (s *Schedules) lookInto(ctx context.Context, db prescient.DB, statement string, ids []string, at string) (now time.Time, b before, err error) {
	b = before{make(map[string]time.Time), make(map[string]bool)}
	query := s.tables.Fill(statement, "{ids}", idList(ids), "{places}", s.tables.Places(ids...), "{now}", at)
	sent := time.Now()
	rows, err := store.Rows(ctx, db, "looking for schedules that were there before", query, func(row *fired) []any {
		return []any{store.Unhex(&row.id), store.AtOrNil(&row.until), &row.version}
	})
	if errno.Is(err, errno.TableDenied) {
		return now, b, nil // grants were not run again
	}
	for _, row := range rows {
		switch {
		case row.version != nil:
			now, err = *row.until, s.own.NoteVersion(*row.version, sent)
		case row.until == nil:
			b.there[row.id] = true
		default:
			b.until[row.id] = *row.until
		}
	}
	return now, b, err
}

// fired is until when a schedule that was deleted has fired; nil for one that is there. A row that has a version tells the time.
type fired struct {
	id      string
	until   *time.Time
	version *uint64
}

// putBack is by how much a clock is put back at most, so that Resume repeats nothing.
const putBack = 24 * time.Hour

// noteDeleted notes until when schedules that are deleted have fired: now, unless the clock was put back. met are the rows that were
// pending for them.
func (s *Schedules) noteDeleted(ctx context.Context, db prescient.DB, some []Stored, met map[prescient.Key]prescient.FutureJob) error {
	now, err := s.own.NowOf(ctx, db, some[0].ID)
	if err != nil {
		return err
	}
	row := func(b []byte, one Stored) []byte {
		until := now
		if timer, waited := met[prescient.KeyOf(s.own.Entity(one.ID), TimerExec, "")]; waited {
			until = one.firedUntil(s.zones, &timer, now)
		}
		if back := one.UpdatedAt.Sub(now); back > 0 && back <= putBack {
			until = slots.Later(until, one.UpdatedAt)
		}
		b = literal.AppendText(append(b, '('), one.ID)
		return append(s.tables.AppendPlace(literal.AppendMicro(append(b, ','), until), one.ID), ')')
	}
	err = s.tables.Exec(ctx, db, "noting schedules that are deleted", "schedule/deleted", "{rows}", literal.List(row, some))
	if errno.Is(err, errno.TableDenied) {
		return nil // grants were not run again
	}
	return err
}

// refusedAmong are the ids of those that have a disabled_at.
func refusedAmong(some ...Stored) (ids []string) {
	for _, one := range some {
		if !one.DisabledAt.IsZero() {
			ids = append(ids, one.ID)
		}
	}
	return ids
}
