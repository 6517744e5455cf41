package commit

import (
	"context"
	"database/sql"

	"prescient/prescient"
	"prescient/prescient/internal/tally"
	"prescient/prescient/worker/internal/check"
)

// writeBooks writes by job_exec what becomes of rows, and of those whose answers are dropped, behind the fence.
func (s *Session) writeBooks(ctx context.Context, tx *sql.Tx, rows []*check.Answered, dropped map[prescient.Key]bool) error {
	if err := s.openBooks(ctx, tx); err != nil {
		return err
	}
	for _, a := range rows {
		s.draft.Note(tally.Noted{Job: &a.FutureJob, Cause: a.Answer.Cause, Err: a.Answer.Err, Called: a.WasCalled(), Started: a.Answer.Started, Ended: a.Answer.Ended,
			Ran: a.Answer.Ran, Verdict: &a.Verdict, Dropped: dropped[a.JobKey]})
	}
	return s.draft.Write(ctx, tx, s.Tables, s.Lease.Slot, s.Lease.Bucket)
}

// PutOff writes by job_exec that checks were moved without a call, inside Behind.
func (s *Session) PutOff(ctx context.Context, tx *sql.Tx, rows []tally.Of) error {
	if err := s.openBooks(ctx, tx); err != nil {
		return err
	}
	for _, of := range rows {
		s.draft.Note(tally.Noted{Job: &prescient.FutureJob{JobExec: of.JobExec, EntityName: of.EntityName}, Cause: prescient.CauseKept, Verdict: &prescient.Verdict{}})
	}
	return s.draft.Write(ctx, tx, s.Tables, s.Lease.Slot, s.Lease.Bucket)
}

// openBooks begins a draft. Whoever has committed in the bucket before may have been another, whose books are read once.
func (s *Session) openBooks(ctx context.Context, tx *sql.Tx) error {
	if !s.known && s.Lease.BatchSeq > 0 {
		if err := s.books.Read(ctx, tx, s.Tables, s.Lease.Slot, s.Lease.Bucket); err != nil {
			return err
		}
	}
	s.known, s.draft = true, s.books.Draft()
	return nil
}

// closeBooks takes in what was committed, or forgets what was not. What is not known to be committed ends the lease, and the books with it.
func (s *Session) closeBooks(committed bool) {
	if committed && s.draft != nil {
		s.books.Take(s.draft)
	}
	s.draft = nil
}
