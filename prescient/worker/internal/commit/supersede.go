package commit

import (
	"context"
	"database/sql"

	"prescient/prescient"
	"prescient/prescient/internal/reserved"
	"prescient/prescient/internal/store"
	"prescient/prescient/worker/internal/check"
)

// supersede ends the runs of schedules that are among the answers that are to be dropped, since their schedules were changed beside the
// calls: such a run goes on under the new definition where it waited, and is not called again where it was under way. Its end is the app's,
// as that of a cancel, and not in the books.
func (s *Session) supersede(ctx context.Context, tx *sql.Tx, batch []*check.Answered, dropped map[prescient.Key]bool) error {
	if len(dropped) == 0 {
		return nil
	}
	var ends []*check.Answered
	for _, a := range batch {
		if !dropped[a.JobKey] || !a.Answer.Called() || a.EntityName != prescient.ScheduleEntity || a.Tag == "" {
			continue
		}
		found, err := s.renewed(ctx, tx, a)
		if err != nil {
			return err
		}
		ends = append(ends, found...)
	}
	return s.writeEnds(ctx, tx, ends, nil)
}

// renewed locks the row that a run is by now, and returns its end: none where it is gone.
func (s *Session) renewed(ctx context.Context, tx *sql.Tx, a *check.Answered) (ends []*check.Answered, err error) {
	first, last := a.Entity().KeyRange()
	rows, err := store.Rows(ctx, tx, "looking for a run that was changed", s.Tables.Stmt.Get("slotrun/renewed"), func(end *check.Answered) []any {
		*end = *a
		return []any{store.Key(&end.JobKey), &end.JobExec, &end.Revision}
	}, first[:], last[:], s.Lease.Slot, a.Tag)
	for i := range rows {
		end := &rows[i]
		if end.JobKey != prescient.KeyOf(a.Entity(), end.JobExec, a.Tag) {
			continue // that of somebody else's row
		}
		end.Bare = false
		end.Verdict = reserved.Superseded(a.FutureJob)
		ends = append(ends, end)
	}
	return ends, err
}
