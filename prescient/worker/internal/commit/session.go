package commit

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/rs/zerolog"

	"prescient/prescient"
	"prescient/prescient/internal/store"
	"prescient/prescient/worker/books"
	"prescient/prescient/worker/internal/check"
	"prescient/prescient/worker/internal/ledger"
)

// Writer is what all commits of a worker have in common.
type Writer struct {
	Send   *store.Sender
	Tables *store.Tables
	Ledger *ledger.Ledger
	Worker string
	Log    zerolog.Logger
}

// Session is for the commits under one lease.
type Session struct {
	*Writer
	Lease   *ledger.Lease
	Waited  func(time.Duration) // is told for how long a commit waited for its fence and its COMMIT; may be nil
	Commits sync.Mutex          // held from the fence of a commit to its end; guards the lease's batch_seq, and what follows
	byExec  byExec              // books of the bucket
}

// Result says what a commit did with each of its rows.
type Result struct {
	Counts    books.Counts
	Contested map[prescient.Key]bool // not committed: somebody has them locked
	Dropped   map[prescient.Key]bool // answers that were thrown away: the app had changed the rows
	Finished  bool                   // nothing is left in the bucket, and the lease has ended
}

// Try makes one attempt, in one transaction: the fence first, then the moves, then the ends; and where these are the last rows of the bucket, and none
// of them stays, the end of the lease.
func (s *Session) Try(ctx context.Context, batch []*check.Answered, how Lock, last bool) (result Result, err error) {
	var counts books.Counts
	for _, a := range batch {
		counts.Count(a.Verdict, a.Answer.Cause, 1)
	}
	err = s.Behind(ctx, counts, func(ctx context.Context, tx *sql.Tx) (err error) {
		result, err = s.writeRows(ctx, tx, batch, how, counts)
		if result.Finished = last && err == nil && len(result.Contested) == 0; result.Finished {
			if err = s.Ledger.Finish(ctx, tx, s.Lease); err != nil {
				err = fmt.Errorf("%w: %w", errFinishing, err)
			}
		}
		return err
	})
	return result, err
}

// Behind writes something in one transaction behind the fence of the lease, whose books get some counts, and commits it. The
// error wraps ledger.ErrLost where the lease is another's by now.
func (s *Session) Behind(ctx context.Context, counts books.Counts, write func(ctx context.Context, tx *sql.Tx) error) error {
	// The connection first: a TxFunc's transaction has one while it waits for the mutex, so that whoever has the mutex must not
	// wait for a connection, of which there may be few.
	conn, err := s.connection(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	// Until the commit is counted: a TxFunc's transaction may be waiting to commit under the next number.
	s.Commits.Lock()
	defer s.Commits.Unlock()
	ctx, cancel := context.WithTimeout(ctx, s.Send.Timeout)
	defer cancel()
	tx, err := conn.BeginTx(store.MayIdle(ctx, store.IdleInCommit), nil)
	if err != nil {
		return fmt.Errorf("beginning: %w", err)
	}
	before := time.Now()
	err = s.Ledger.Fence(ctx, tx, s.Lease, counts)
	waited := time.Since(before)
	if err == nil {
		if err = write(ctx, tx); err != nil {
			err = fmt.Errorf("%w: %w", errWriting, err)
		}
	}
	if err != nil {
		s.byExec.end(false)
		return errors.Join(err, store.Rollback(tx))
	}
	err = s.Ledger.Commit(ctx, func() error {
		began := time.Now()
		err := tx.Commit()
		waited += time.Since(began)
		_ = conn.Close() // to look takes one, too
		return err
	}, s.Lease, before)
	if errors.Is(err, ledger.ErrUndone) {
		err = fmt.Errorf("%w: %w", errWriting, err)
	}
	s.byExec.end(err == nil)
	if err == nil && s.Waited != nil {
		s.Waited(waited)
	}
	return err
}

// WriteTx writes what becomes of rows that a transaction of functions has locked, and commits it, the fence and the books by job_exec last. A row that came into a
// range since it was locked is an error there, and the rows are called again, by themselves: it can only be one whose insert was under way when
// its slot began. mayWait says whether a move waits for the locks of others.
//
// The caller holds Commits, from the first write on: a move also locks neighbours in UNIQUE (job_key), and a commit that waits there for this
// transaction, which waits here for that commit, is a deadlock that the server cannot see.
func (s *Session) WriteTx(ctx context.Context, tx *sqlx.Tx, locked Locked, moves, ends []*check.Answered, counts books.Counts, mayWait bool) error {
	if err := s.writeLocked(ctx, tx.Tx, locked, moves, ends, movesOf(s.Tables, mayWait)); err != nil {
		return err
	}
	if !s.Lease.Alive(time.Now()) {
		return ledger.ErrLost
	}
	before := time.Now()
	err := s.Ledger.Fence(ctx, tx.Tx, s.Lease, counts)
	if err == nil {
		err = s.byExec.write(ctx, tx.Tx, s.Tables, s.Lease, notedOf(slices.Concat(moves, ends), nil, nil))
	}
	if err == nil {
		err = s.Ledger.Commit(ctx, tx.Commit, s.Lease, before)
	}
	s.byExec.end(err == nil)
	return err
}

// connection takes a connection out of the pool, which may have to wait for one.
func (s *Session) connection(ctx context.Context) (*sql.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, s.Send.Timeout)
	defer cancel()
	conn, err := s.Send.DB.Conn(store.Vital(ctx))
	if err != nil {
		return nil, fmt.Errorf("waiting for a connection: %w", err)
	}
	return conn, nil
}
