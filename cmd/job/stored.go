package job

import (
	"context"
	"database/sql"
	"errors"

	"prescient/cmd/internal/program"
	"prescient/cmd/job/file"
	"prescient/prescient"
	"prescient/prescient/steps"
)

// entryOf is a stored job as it stands in a file.
func entryOf(job steps.Stored) file.Entry {
	one, enabled := job.Job, job.Schedule.Enabled
	return file.Entry{Job: &one, Enabled: &enabled}
}

// eachJob calls do for all jobs, in the order of their names.
func eachJob(ctx context.Context, s *program.Session, db prescient.DB, do func(job steps.Stored) error) error {
	const page = 500
	after := ""
	for {
		jobs, err := s.Jobs.List(ctx, db, after, page)
		if err != nil {
			return err
		}
		for _, one := range jobs {
			if err := do(one); err != nil {
				return err
			}
			after = one.Name
		}
		if len(jobs) < page {
			return nil
		}
	}
}

// inTx runs do in a transaction, of which nothing is left after an error.
func inTx(ctx context.Context, s *program.Session, do func(tx *sql.Tx) error) error {
	tx, err := s.DB.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelReadCommitted})
	if err != nil {
		return err
	}
	if err := do(tx); err != nil {
		// Where the connection is gone the server rolls back.
		if undo := tx.Rollback(); undo != nil && !errors.Is(undo, sql.ErrTxDone) {
			s.Log.Debug().Err(undo).Msg("rolling back")
		}
		if ctx.Err() != nil { // what else is said follows from that
			return ctx.Err()
		}
		return err
	}
	return tx.Commit()
}
