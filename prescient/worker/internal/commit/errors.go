package commit

import (
	"errors"
	"fmt"

	"github.com/go-sql-driver/mysql"

	"prescient/prescient"
	"prescient/prescient/internal/errno"
	"prescient/prescient/internal/tally"
	"prescient/slots"
)

// errOthers is returned inside a commit whose ranges have other rows than those that were read.
var errOthers = errors.New("other rows were found")

// errChanged is returned inside a commit when rows changed after they were locked; the commit starts over.
var errChanged = errors.New("rows changed under the commit")

// ErrAtOnce is returned inside a commit when a statement that waits for no lock met one of somebody else's.
var ErrAtOnce = errors.New("somebody else has a row locked")

// errHistory is returned where the end of a row could not be written to history.
var errHistory = errors.New("writing history")

// errWriting is returned where a commit failed behind its fence: the server is there, and the lease is ours.
var errWriting = errors.New("writing what becomes of the rows")

// errFinishing is returned where the lease could not be ended with its last commit: no row is to blame.
var errFinishing = errors.New("finishing the bucket")

// writingRows says whether a commit failed for something that it wrote of rows.
func writingRows(err error) bool { return errors.Is(err, errWriting) && !errors.Is(err, errFinishing) }

// refusesRow says whether the server refused to write something of a row, and will again.
func refusesRow(err error) bool {
	var server *mysql.MySQLError
	return writingRows(err) && !errors.Is(err, tally.ErrWriting) && errors.As(err, &server) && !errno.Passing(err) &&
		!errno.Denied(err) &&
		!errno.Is(err, errno.NoSuchTable, errno.NoSuchColumn, errno.NoDatabase, errno.Syntax, errno.NoSuchName, errno.NoDefiner, errno.UnknownVariable,
			errno.Unknown) // of Vitess, where it may be anything
}

// RefusesHistory says whether that was its end in history, and not the row itself.
func RefusesHistory(err error) bool { return errors.Is(err, errHistory) }

// BreaksOff says whether a commit ended behind its fence, and not for the locks of others.
func BreaksOff(err error) bool {
	return writingRows(err) && !errno.Is(err, errno.LockWaitTimeout, errno.NoWait, errno.Deadlock, errno.TransactionRollback,
		errno.WriteConflict, errno.ResolveLock, errno.DiskFull, errno.TableFull, errno.ReadOnly, errno.ReadOnlyMode, errno.ServerShutdown)
}

// WithoutPayload is what becomes of a row that the server refuses to write as it is: it ends, without payload and last error.
// One that was to move has failed.
func WithoutPayload(v prescient.Verdict, refused error) prescient.Verdict {
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

// refused says of the error of a statement that waits for no lock that somebody has one.
func refused(err error) error {
	if errno.Is(err, errno.LockWaitTimeout, errno.NoWait) {
		return fmt.Errorf("%w: %w", ErrAtOnce, err)
	}
	return err
}
