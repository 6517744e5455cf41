package worker

import (
	"context"
	"time"

	"github.com/cenkalti/backoff/v5"

	"prescient/prescient/internal/errno"
	"prescient/prescient/internal/store"
)

// statementTimeout bounds every statement, so that a server that hangs does not hang a worker.
func (w *Worker) statementTimeout() time.Duration { return store.StatementTime(w.options.Lease) }

// query runs one statement that may be repeated at will, again and again while its error is a passing one, until the
// context ends or w.options.Patience is over.
func (w *Worker) query(ctx context.Context, do func(ctx context.Context) error) error {
	_, err := backoff.Retry(ctx, func() (struct{}, error) {
		one, cancel := context.WithTimeout(ctx, w.statementTimeout())
		defer cancel()
		err := do(one)
		if err != nil && !errno.Passing(err) {
			return struct{}{}, backoff.Permanent(err)
		}
		return struct{}{}, err
	}, backoff.WithBackOff(store.NewBackOff()), backoff.WithMaxElapsedTime(w.options.Patience))
	return err
}

// exec is query for a statement that changes rows, which returns how many it hit. A repetition whose first try went
// through unseen hits what it finds then; the callers' conditions on token and batch_seq make that safe.
func (w *Worker) exec(ctx context.Context, statement string, args ...any) (n int, err error) {
	n, _, err = w.execCounted(ctx, statement, args...)
	return n, err
}

// execCounted is exec that also says how often the statement was tried.
func (w *Worker) execCounted(ctx context.Context, statement string, args ...any) (n, tries int, err error) {
	err = w.query(ctx, func(ctx context.Context) error {
		tries++
		n, err = store.Affected(ctx, w.db, statement, args...)
		return err
	})
	return n, tries, err
}

// limited says whether the pool has a limit of connections, so that one more for one thing is one less for another.
func (w *Worker) limited() bool { return w.db.Stats().MaxOpenConnections > 0 }
