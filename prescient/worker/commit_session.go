package worker

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"prescient/prescient"
	"prescient/prescient/internal/store"
)

// writer is what all commits of a worker have in common.
type writer struct {
	send   *store.Sender
	tables *store.Tables
	ledger *ledger
	worker string
	log    zerolog.Logger
	// onePass says that rows that are done are locked and written to history by one statement (see endInOnePass).
	onePass atomic.Bool
}

// session is for the commits under one lease.
type session struct {
	*writer
	lease   *lease
	clock   store.Clock
	calls   context.Context // of the job_execs; ends when nothing of them is wanted any more
	commits sync.Mutex      // held from the fence of a commit to its end; guards the lease's batch_seq
}

// commitResult says what a commit did with each of its rows.
type commitResult struct {
	counts    Counts
	contested map[prescient.Key]bool // not committed: somebody has them locked
	dropped   map[prescient.Key]bool // answers that were thrown away: the app had changed the rows
}

// tryCommit makes one attempt, in one transaction: the fence first, then the moves, then the ends.
func (s *session) tryCommit(ctx context.Context, batch []*answered, spans []span, contested bool) (result commitResult, err error) {
	// The connection first: a TxFunc's transaction has one and waits for the turn to commit, so that whoever has the turn must
	// not wait for a connection, of which there may be few.
	conn, err := s.connection(ctx)
	if err != nil {
		return result, err
	}
	defer conn.Close()
	s.commits.Lock()
	defer s.commits.Unlock()
	ctx, cancel := context.WithTimeout(ctx, s.send.Timeout)
	defer cancel()
	tx, err := conn.BeginTx(store.MayIdle(ctx, store.IdleInCommit), nil)
	if err != nil {
		return result, fmt.Errorf("beginning: %w", err)
	}
	before := time.Now()
	result, err = s.write(ctx, tx, batch, spans, contested)
	if err != nil {
		return result, errors.Join(err, store.Rollback(tx))
	}
	err = s.ledger.commit(ctx, func() error {
		err := tx.Commit()
		_ = conn.Close() // to look takes one, too
		return err
	}, s.lease, before)
	if errors.Is(err, errUndone) {
		err = fmt.Errorf("%w: %w", errWriting, err)
	}
	return result, err
}

// connection takes a connection out of the pool, which may have to wait for one.
func (s *session) connection(ctx context.Context) (*sql.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, s.send.Timeout)
	defer cancel()
	conn, err := s.send.DB.Conn(ctx)
	if err != nil {
		return nil, fmt.Errorf("waiting for a connection: %w", err)
	}
	return conn, nil
}
