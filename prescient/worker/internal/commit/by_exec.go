package commit

import (
	"context"
	"database/sql"
	"iter"

	"prescient/prescient"
	"prescient/prescient/internal/store"
	"prescient/prescient/internal/tally"
	"prescient/prescient/worker/internal/check"
	"prescient/prescient/worker/internal/ledger"
)

// byExec are the books of a bucket by job_exec, as commits go.
type byExec struct {
	lines tally.Books
	draft *tally.Draft // of the commit that is under way; nil for none
	read  bool         // the lines are those of the table
}

// write writes some more of what becomes of checks, behind the fence. Whoever has committed in the bucket before may have been another,
// whose lines are read once.
func (b *byExec) write(ctx context.Context, tx *sql.Tx, tables *store.Tables, l *ledger.Lease, noted iter.Seq[tally.Noted]) error {
	if !b.read && l.BatchSeq > 0 {
		if err := b.lines.Read(ctx, tx, tables, l.Slot, l.Bucket); err != nil {
			return err
		}
	}
	b.read, b.draft = true, b.lines.Draft()
	for n := range noted {
		b.draft.Note(n)
	}
	return b.draft.Write(ctx, tx, tables, l.Slot, l.Bucket)
}

// end takes in what was committed, or forgets what was not. Where that is not known, the lease ends, and the books with it.
func (b *byExec) end(committed bool) {
	if committed && b.draft != nil {
		b.lines.Take(b.draft)
	}
	b.draft = nil
}

// notedOf is what the books are told of rows, and of those whose answers are dropped; nothing of those that somebody else has locked.
func notedOf(rows []*check.Answered, taken, dropped map[prescient.Key]bool) iter.Seq[tally.Noted] {
	return func(yield func(tally.Noted) bool) {
		for _, a := range rows {
			if taken[a.JobKey] {
				continue
			}
			if !yield(tally.Noted{Job: &a.FutureJob, Cause: a.Answer.Cause, Err: a.Answer.Err, Called: a.WasCalled(), Started: a.Answer.Started, Ended: a.Answer.Ended,
				Ran: a.Answer.Ran, Verdict: &a.Verdict, Dropped: dropped[a.JobKey]}) {
				return
			}
		}
	}
}
