package transact

import (
	"context"
	"errors"
	"fmt"
	"time"

	"prescient/prescient/internal/caught"
	"prescient/prescient/internal/errno"
	"prescient/prescient/internal/store"
	"prescient/prescient/worker/internal/check"
	"prescient/prescient/worker/internal/commit"
	"prescient/prescient/worker/internal/execute"
	"prescient/prescient/worker/internal/ledger"
)

// errUnwritten is why a transaction came to nothing after its functions had all answered in time, or before the first was
// called: that is no fault of theirs.
var errUnwritten = errors.New("the answers were not written")

// errNotBegun is why a transaction came to nothing whose time was over before the first call.
var errNotBegun = errors.New("the time of the call was over before it began")

// Runner runs the transactions of a bucket.
type Runner struct {
	*commit.Session
	Clock store.Clock
	Calls context.Context // of the job_execs; ends when nothing of them is wanted any more
}

// Run runs the rows of a call in one transaction, and commits with it what becomes of them. An error means that the transaction came to
// nothing, for the reason it gives.
func (r *Runner) Run(ctx context.Context, c *execute.TxCall) ([]check.Answer, error) {
	rows := c.Rows
	first := rows[0].Row // they are others' to change once the call is abandoned
	answers, err := r.try(ctx, c, first.Kept)
	all := func(a check.Answer) []check.Answer {
		list := make([]check.Answer, len(rows))
		for i := range list {
			list[i] = a
		}
		return list
	}
	wait := execute.TxWait(first.Tries)
	switch {
	case err == nil:
		return answers, nil
	case errors.Is(err, ledger.ErrLost):
		r.Lease.Lose()
		return all(check.Answer{Fate: check.NotStarted}), nil
	case errors.Is(err, errUnwritten) && len(rows) == 1 && errno.Is(err, errno.LockWaitTimeout, errno.NoWait) && r.Calls.Err() == nil:
		return all(check.Answer{Fate: check.Again, Locked: true}), nil // its move meets what somebody else has locked
	case errors.Is(err, errUnwritten) && (errno.Passing(err) || errors.Is(err, errNotBegun)) && r.Calls.Err() == nil &&
		(first.Tries < execute.MaxTxTries || time.Since(first.TriedAt) < r.Send.Patience):
		r.Log.Warn().Err(err).Time("slot", r.Lease.Slot).Int("bucket", r.Lease.Bucket).Str("job_exec", c.Lane.Name).
			Msg("a transaction is tried again")
		return all(check.Answer{Fate: check.Again, Wait: wait}), nil
	case first.Kept == nil && keptAtEnd(c, err):
		return all(check.Answer{Fate: check.Again, Kept: caught.Quoted(err)}), nil
	case len(rows) > 1:
		if ctx.Err() != nil {
			c.TooMany()
		}
		return all(check.Answer{Fate: check.Again}), nil
	case ctx.Err() == nil && errno.Passing(err) && first.Tries < execute.MaxTxTries:
		return all(check.Answer{Fate: check.Again, Wait: wait}), nil
	}
	return nil, caught.Quoted(err)
}

// keptAtEnd says whether what the library's own function writes cannot be committed, since the server refuses to end or to move its row: then it is
// called again, and where it ends the row, that is put off in place of it. A user's function has failed, with what it did.
func keptAtEnd(c *execute.TxCall, err error) bool {
	return len(c.Rows) == 1 && c.Lane.Guards.Endless && errors.Is(err, errUnwritten) && errno.KeepsRow(err)
}

func unwritten(doing string, err error) error {
	return fmt.Errorf("%w: %s: %w", errUnwritten, doing, err)
}
