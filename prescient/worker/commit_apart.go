package worker

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-sql-driver/mysql"
	"github.com/rs/zerolog"

	"prescient/prescient"
	"prescient/prescient/internal/errno"
	"prescient/slots"
)

// A commit may fail for a reason that one of its rows has: the server refuses what is to be written of it, or breaks off each
// time that it is asked to. Such a batch is divided until the row is alone. If the server said why, the row ends, without
// its payload; else it stays, with its answer, and is tried again like one that somebody has locked. The other rows go on.

const (
	// breaksByChance is how often in a row a commit may be broken off behind its fence before one of its rows is suspected.
	breaksByChance = 5
	// maxApart is how many rows of a bucket are set apart. Where there are more, the reason is not the rows'.
	maxApart = 20
)

// refusesRow says whether the server refused to write something of a row, and will again.
func refusesRow(err error) bool {
	var server *mysql.MySQLError
	return errors.Is(err, errWriting) && errors.As(err, &server) && !errno.Passing(err) &&
		!errno.Is(err, errno.NoSuchTable, errno.NoSuchColumn, errno.TableDenied, errno.ColumnDenied, errno.DatabaseDenied, errno.AccessDenied,
			errno.TiDBDenied, errno.NoDatabase, errno.Syntax, errno.AccessDenied, errno.NoSuchName, errno.RoutineDenied, errno.NoDefiner, errno.UnknownVariable)
}

// breaksOff says whether a commit ended behind its fence, and not for the locks of others.
func breaksOff(err error) bool {
	return errors.Is(err, errWriting) && !errno.Is(err, errno.LockWaitTimeout, errno.NoWait, errno.Deadlock, errno.TransactionRollback,
		errno.WriteConflict, errno.ResolveLock, errno.DiskFull, errno.TableFull, errno.ReadOnly, errno.ReadOnlyMode, errno.ServerShutdown)
}

// setApart commits a batch by halves that failed for a reason of one of its rows.
func (b *bucketRun) setApart(ctx context.Context, batch []*answered, cause error) error {
	b.figures.Retries++
	if half := len(batch) / 2; half > 0 {
		if err := b.commit(ctx, batch[:half], false); err != nil {
			return err
		}
		return b.commit(ctx, batch[half:], false)
	}
	a := batch[0]
	if !a.stuck && !a.bare {
		if b.apart++; b.apart > maxApart {
			return fmt.Errorf("committing slot %s: %d rows had to be set apart, the last one: %w", slots.Stamp(b.lease.slot), b.apart, cause)
		}
	}
	if refusesRow(cause) && !a.bare {
		a.bare, a.verdict = true, withoutPayload(a.verdict, cause)
		b.logRow(a).Err(cause).Msg("the end of a row is written without its payload")
		return b.commit(ctx, batch, false)
	}
	if !a.stuck {
		a.stuck = true
		b.logRow(a).Err(cause).Msg("what became of a row cannot be written; it stays")
	}
	b.hold(batch)
	return nil
}

// logRow begins a line about a row.
func (b *bucketRun) logRow(a *answered) *zerolog.Event {
	return b.w.log.Error().Time("slot", b.lease.slot).Str("entity", a.Entity().String()).Str("job_exec", a.JobExec).Str("tag", a.Tag)
}

// withoutPayload is what becomes of a row that the server refuses to write as it is: it ends, without payload and last error.
// One that was to move has failed.
func withoutPayload(v prescient.Verdict, refused error) prescient.Verdict {
	why := "history lacks its payload and last error, which the server refused"
	if v.Outcome == "" {
		v.Outcome, why = prescient.Failed, "it could not be moved to "+slots.Stamp(v.Slot)
	}
	if v.Reason != "" {
		why = v.Reason + "; " + why
	}
	v.Reason = prescient.ReasonText(fmt.Errorf("%s: %w", why, refused))
	return v
}
