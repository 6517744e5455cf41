package store

import (
	"context"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/jmoiron/sqlx"

	"prescient/prescient/internal/errno"
)

// Sender sends statements that may be repeated at will, again and again while their error is one that passes by itself.
type Sender struct {
	DB *sqlx.DB
	// Timeout bounds one try, so that a server that hangs does not hang the sender.
	Timeout time.Duration
	// Patience bounds all tries together.
	Patience time.Duration
	// Vital says that the statements are those of a lease: see Vital.
	Vital bool
}

// ForLeases is the sender whose statements are vital.
func (s *Sender) ForLeases() *Sender {
	vital := *s
	vital.Vital = true
	return &vital
}

// Query runs one statement until it goes through, its error does not pass, the context ends, or the patience is over.
func (s *Sender) Query(ctx context.Context, do func(ctx context.Context) error) error {
	if s.Vital {
		ctx = Vital(ctx)
	}
	_, err := backoff.Retry(ctx, func() (struct{}, error) {
		one, cancel := context.WithTimeout(ctx, s.Timeout)
		defer cancel()
		err := do(one)
		if err != nil && !errno.Passing(err) {
			return struct{}{}, backoff.Permanent(err)
		}
		return struct{}{}, err
	}, backoff.WithBackOff(NewBackOff()), backoff.WithMaxElapsedTime(s.Patience))
	return err
}

// Exec is Query for a statement that changes rows, which returns how many it hit. A repetition whose first try went
// through unseen hits what it finds then; the callers' conditions on token and batch_seq make that safe.
func (s *Sender) Exec(ctx context.Context, statement string, args ...any) (n int, err error) {
	n, _, err = s.ExecCounted(ctx, statement, args...)
	return n, err
}

// ExecCounted is Exec that also says how often the statement was tried.
func (s *Sender) ExecCounted(ctx context.Context, statement string, args ...any) (n, tries int, err error) {
	err = s.Query(ctx, func(ctx context.Context) error {
		tries++
		n, err = Affected(ctx, s.DB, statement, args...)
		return err
	})
	return n, tries, err
}

// Limited says whether the pool has a limit of connections, so that one more for one thing is one less for another.
func (s *Sender) Limited() bool { return s.DB.Stats().MaxOpenConnections > 0 }
