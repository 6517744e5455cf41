package worker

import (
	"context"
	"fmt"

	"prescient/prescient"
	"prescient/prescient/blocking"
	"prescient/prescient/worker/internal/ledger"
)

// sayLocked says in the log that rows were left behind since open transactions have them locked, and of one of them whose. To see that it
// waits for the row itself, for a second at most, on a connection of its own: for one bucket at a time.
func (w *Worker) sayLocked(ctx context.Context, l *ledger.Lease, rows int, one *prescient.FutureJob) {
	said := w.log.Warn().Time("slot", l.Slot).Int("bucket", l.Bucket).Int("rows", rows)
	if one == nil {
		said.Msg("Open transactions of others hold rows. The sweeper tries again.")
		return
	}
	held, by := w.whoHolds(ctx, *one)
	said = said.Stringer("entity", one.Entity()).Str("job_exec", one.JobExec)
	if by != "" {
		said = said.Str("holder", by)
	}
	more := ""
	if rows > 1 {
		more = fmt.Sprintf(", nor were %d more", rows-1)
	}
	said.Msgf("%s was not run%s: %s. The sweeper tries again.", one.Entity(), more, held)
}

// whoHolds says who has a row locked, as far as that shows, and by which account.
func (w *Worker) whoHolds(ctx context.Context, job prescient.FutureJob) (held, by string) {
	const somebody = "an open transaction holds its row, or what its call needs"
	if !w.holders.TryLock() {
		return somebody, ""
	}
	defer w.holders.Unlock()
	row, unseen, err := blocking.HeldBy(ctx, w.send.DB, blocking.Options{Prefix: w.tables.Prefix, Dialect: w.options.Dialect}, job)
	switch {
	case len(row.By) > 0:
		return row.Held(), row.Accounts()
	case err != nil:
		return somebody + "; whose transaction that is could not be read: " + err.Error(), ""
	case len(unseen) > 0 && unseen[0].Do != "":
		return somebody + "; to see whose transaction that is, " + unseen[0].Do, ""
	}
	return somebody, ""
}
